// The start of the page: its views, keys and theme.

import { capabilities } from "./capabilities.js";
import { bindKeys } from "./keyboard.js";
import { Router } from "./router.js";
import { bindThemeButton } from "./theme.js";
import { BrowseView } from "./views/browse.js";
import { EntryView } from "./views/entry.js";
import { NewEntryView } from "./views/new_entry.js";
import { SearchView } from "./views/search.js";
import { StatusView } from "./views/status.js";

let searchView = null;

const router = new Router(document.getElementById("main"), [
  { name: "search", matches: (path) => path === "/", create: () => (searchView = new SearchView(router)) },
  { name: "browse", matches: (path) => path === "/browse", create: () => new BrowseView(router) },
  { name: "entry", matches: (path) => path.startsWith("/entry/"), create: () => new EntryView(router) },
  { name: "new", matches: (path) => path === "/new", create: () => new NewEntryView(router) },
  { name: "status", matches: (path) => path === "/status", create: () => new StatusView() },
]);

function focusSearch() {
  if (location.pathname !== "/") router.go("/");
  searchView.focusBox();
}

async function showFacility() {
  try {
    const { facility, version } = await capabilities();
    document.getElementById("facility").textContent = [facility.name, `times in ${facility.timezone}`].filter(Boolean).join(", ");
    document.getElementById("version").textContent = version ? `ariel-lite ${version}` : "";
  } catch {
    // The view says what is wrong; the frame does without.
  }
}

bindThemeButton(document.getElementById("theme"));
bindKeys(focusSearch);
router.start();
showFacility();
