// Which view an address belongs to; following links without loading the page again.

import { clearNotice, showNotice } from "./page.js";

/**
 * Shows views in `main`. A view is {root, show(url, visit), leave()}: `show` is called for every address of the view,
 * also while it is on screen; `visit` is {restored: came by Back or Forward, from: the address a link was followed on,
 * left: the address that was on screen before, null at the start}.
 */
export class Router {
  #main;
  #routes;
  #view = null;
  #name = "";
  #positions = new Map();
  #key = "";
  #address = null;

  /** Routes: [{name, matches(pathname), create()}]; the first that matches is shown. */
  constructor(main, routes) {
    this.#main = main;
    this.#routes = routes;
  }

  start() {
    history.scrollRestoration = "manual";
    window.addEventListener("popstate", () => this.#arrive({ restored: true }));
    document.addEventListener("click", (event) => this.#follow(event));
    this.#arrive({ restored: Boolean(history.state?.key) });
  }

  /** Go to an address of this page; a notice {text, level} stands above its view until the next one. */
  go(address, { replace = false, notice = null } = {}) {
    const state = { key: replace ? this.#key : newKey(), from: replace ? history.state?.from : location.href };
    this.#remember();
    history[replace ? "replaceState" : "pushState"](state, "", address);
    this.#arrive({ restored: false });
    if (notice) showNotice(notice);
  }

  /** Change the address without showing anything anew. */
  rename(address) {
    history.replaceState(history.state, "", address);
    this.#address = location.href;
  }

  /** Back to where a link was followed, or to an address when the visit began here. */
  leave(otherwise) {
    if (history.state?.from) history.back();
    else this.go(otherwise);
  }

  /** Scroll to where the reader was on this visit; for a view whose content came late. */
  restorePosition() {
    window.scrollTo(0, this.#positions.get(this.#key) ?? 0);
  }

  #arrive(visit) {
    clearNotice();
    if (visit.restored) this.#remember();
    if (!history.state?.key) history.replaceState({ key: newKey(), from: null }, "");
    this.#key = history.state.key;
    const url = new URL(location.href);
    const route = this.#routes.find((one) => one.matches(url.pathname)) ?? this.#routes[0];
    const changed = route.name !== this.#name;
    if (changed) this.#open(route);
    const left = this.#address;
    this.#address = url.href;
    this.#view.show(url, { ...visit, from: history.state.from, left });
    if (visit.restored) this.restorePosition();
    else if (changed) window.scrollTo(0, 0);
  }

  #open(route) {
    this.#view?.leave();
    const first = this.#name === "";
    this.#name = route.name;
    this.#view = route.create();
    this.#main.replaceChildren(this.#view.root);
    for (const link of document.querySelectorAll("nav [data-view]")) {
      if (link.dataset.view === route.name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (!first) this.#main.focus({ preventScroll: true });
  }

  #remember() {
    if (this.#key) this.#positions.set(this.#key, window.scrollY);
  }

  #follow(event) {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link.target || link.hasAttribute("download")) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || !this.#routes.some((route) => route.matches(url.pathname))) return;
    if (url.hash && url.pathname === location.pathname && url.search === location.search) return;
    event.preventDefault();
    this.go(url.href);
  }
}

function newKey() {
  return Math.random().toString(36).slice(2);
}
