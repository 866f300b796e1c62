// An entry's text: white space kept, columns aligned, matches marked, web addresses as links.

import { button, el } from "../dom.js";
import { escaped, fragmentNodes, linkedNodes, titleAndRest } from "../fragments.js";

const COLUMNS = /\S(?: {3,}|\t+)\S/g;
const TABULAR_FROM = 3;

/** An entry's {title, body} as nodes, with the query's matches marked; a body that begins with the title goes on without it. */
export function titleAndBody(entry) {
  const html = entry.highlighted_text ?? escaped(entry.raw_text);
  const name = entry.title || entry.entry_id;
  // Only a title of its own: where it was made from the text's first line, that line stays in the text.
  const own = entry.metadata?.title ?? entry.metadata?.subject;
  const split = own === entry.title && /^\s*(\n|$)/.test(entry.raw_text.slice(name.length)) ? titleAndRest(html, name) : null;
  return split ? { title: split.title, body: withoutLeadingBlank(split.rest) } : { title: [name], body: fragmentNodes(html) };
}

/** The text with a switch between proportional and fixed-width letters; text in columns begins as the latter. */
export function entryText(nodes, raw) {
  const body = el("div", { class: "entry-text" }, linkedNodes(nodes));
  const isTabular = (raw.match(COLUMNS) ?? []).length >= TABULAR_FROM;
  body.classList.toggle("fixed", isTabular);
  const control = button("Fixed width", () => control.setAttribute("aria-pressed", String(body.classList.toggle("fixed"))), {
    class: "quiet",
    "aria-pressed": String(isTabular),
  });
  return el("section", { "aria-label": "Text" }, body, el("div", { class: "text-tools" }, control));
}

function withoutLeadingBlank(nodes) {
  if (nodes[0]?.nodeType === Node.TEXT_NODE) nodes[0].data = nodes[0].data.replace(/^\s*\n/, "");
  return nodes;
}
