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
  return document.documentElement.dataset.chosenTheme ?? "system";
}

/** Keep a choice, and let the page's first script see to it. */
function choose(theme) {
  if (theme === "system") delete document.documentElement.dataset.chosenTheme;
  else document.documentElement.dataset.chosenTheme = theme;
  dispatchEvent(new Event(KEY));
  setPreference(KEY, theme === "system" ? null : theme);
}
