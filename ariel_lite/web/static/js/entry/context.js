// What stands around an entry: its thread, its neighbours in time, and entries that are about the same.

import { el, joined } from "../dom.js";
import { sentence, timeElement } from "../format.js";
import { entryAddress } from "../links.js";

/** Links to the entries before and after, for the top of the view. */
export function neighbours({ previous, next }) {
  const link = (brief, rel, word) =>
    brief ? el("a", { href: entryAddress(brief.entry_id), rel, class: `neighbour ${rel}` }, el("small", { text: word }), brief.title || brief.entry_id) : null;
  const links = [link(previous, "prev", "Earlier"), link(next, "next", "Later")].filter(Boolean);
  return links.length ? el("nav", { class: "neighbours", "aria-label": "Neighbours in time" }, links) : null;
}

/** The thread and the similar entries; `id` is the entry they belong to. */
export function related({ thread, similar, note }, id) {
  const answers = thread.length > 1 || (thread.length === 1 && thread[0].entry_id !== id);
  return el(
    "div",
    { class: "related" },
    answers ? list("Thread", thread, id) : null,
    similar.length ? list("Similar entries", similar, id) : el("section", {}, el("h2", { text: "Similar entries" }), el("p", { class: "help", text: note ? sentence(note) : "None." })),
  );
}

function list(title, briefs, id) {
  return el("section", {}, el("h2", { text: title }), el("ul", { class: "briefs" }, briefs.map((brief) => item(brief, id))));
}

function item(brief, id) {
  const title = brief.title || brief.entry_id;
  const isThis = brief.entry_id === id;
  const name = isThis ? el("strong", { "aria-current": "true", text: title }) : el("a", { href: entryAddress(brief.entry_id), text: title });
  const score = typeof brief.score === "number" ? `similarity ${brief.score.toFixed(2)}` : null;
  return el("li", {}, name, el("p", { class: "meta" }, joined([timeElement(brief.timestamp), brief.author ? el("span", { text: brief.author }) : null, score])));
}
