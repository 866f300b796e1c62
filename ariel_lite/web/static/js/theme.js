// The theme button: follows the system, light, dark; the choice is remembered in this browser.

import { setPreference } from "./preferences.js";

const KEY = "ariel-theme";
const CHOICES = ["system", "light", "dark"];

/** Make a button cycle through the themes. */
export function bindThemeButton(button) {
  const render = () => {
    button.textContent = `Theme: ${current()}`;
  };
  button.addEventListener("click", () => {
    choose(CHOICES[(CHOICES.indexOf(current()) + 1) % CHOICES.length]);
    render();
  });
  render();
}

function current() {
  return document.documentElement.dataset.theme ?? "system";
}

function choose(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  setPreference(KEY, theme === "system" ? null : theme);
}
