// Facets and timeline beside the results; asked for at the same time as they, and never in their way.

import { request, wasAborted } from "../api.js";
import { button, el, fill } from "../dom.js";
import { Latest } from "../latest.js";
import { changed } from "./address.js";
import { facetGroups } from "./facets.js";
import { withDate } from "./query_text.js";
import { timeline } from "./timeline.js";

const WIDE = "(min-width: 56rem)";

export class Narrowing {
  #go;
  #latest = new Latest();
  #shown = "";
  #counts = null;
  #exact = true;

  /** `go(search)` runs a narrowed search. */
  constructor(go) {
    this.#go = go;
    this.timeline = el("section", { class: "timeline-place", "aria-label": "Timeline" });
    this.groups = el("div", { class: "facets" });
    const open = matchMedia(WIDE).matches;
    this.details = el("details", { class: "narrow-panel", open }, el("summary", {}, el("h2", { text: "Narrow the results" })), this.groups);
    this.root = el("aside", { class: "narrowing", "aria-label": "Narrow the results" }, this.details);
  }

  stop() {
    this.#latest.stop();
  }

  /** Nothing to narrow. */
  clear() {
    this.stop();
    this.#shown = "";
    fill(this.timeline);
    fill(this.groups);
    this.setVisible(false);
  }

  setVisible(visible) {
    this.timeline.hidden = !visible;
    this.root.hidden = !visible;
  }

  #setBusy(busy) {
    for (const part of [this.timeline, this.root]) part.setAttribute("aria-busy", String(busy));
  }

  /**
   * Ask for the counts of a search's body and show them; another page of the same search keeps what is there. `exact`:
   * its mode finds what is counted here, the entries that match by keyword, and no others.
   */
  async show(body, search, exact) {
    this.#exact = exact;
    const { offset, cursor, max_results: size, ...asked } = body;
    const key = JSON.stringify(asked);
    if (key === this.#shown) {
      this.#draw(this.#counts, search);
      return;
    }
    const signal = this.#latest.next();
    this.#shown = "";
    this.#setBusy(true);
    this.setVisible(true);
    try {
      const counts = await request("/api/facets", { method: "POST", body: asked, signal });
      this.#shown = key;
      this.#counts = counts;
      this.#draw(counts, search);
      performance.mark("ariel:facets");
    } catch (error) {
      if (!wasAborted(error)) this.#fail(error, () => this.show(body, search, exact));
    }
  }

  #draw(counts, search) {
    this.#setBusy(false);
    const narrow = (span) => this.#go(changed(search, { query: withDate(search.query, span) }));
    fill(this.timeline, timeline(counts, this.timeline.clientWidth || 320, narrow, this.#exact));
    fill(this.groups, facetGroups(counts, search, this.#go, this.#exact));
  }

  #fail(error, again) {
    this.#setBusy(false);
    fill(this.timeline);
    fill(
      this.groups,
      el("p", { class: "note warning" }, `The counts could not be made: ${error.message} `, button("Try again", again)),
    );
  }
}
