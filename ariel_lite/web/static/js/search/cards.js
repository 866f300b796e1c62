// The result list: one card an entry.

import { el, joined } from "../dom.js";
import { fragmentNodes, titleAndRest } from "../fragments.js";
import { timeElement } from "../format.js";
import { entryAddress, linkOrText } from "../links.js";

const SNIPPET_CHARACTERS = 280;
const MOST_FILES = 4;

/** The cards of an answer, numbered from its offset; `query` is highlighted when an entry is opened. */
export function cards(answer, query) {
  const items = answer.entries.map((entry, index) => card(entry, answer.offset + index + 1, query));
  return el("ol", { class: "cards", start: String(answer.offset + 1), "aria-label": "Entries found" }, items);
}

/** The links of the cards in a list, in order: what the arrow keys move between. */
export function cardLinks(root) {
  return [...root.querySelectorAll(".card h3 a")];
}

function card(entry, position, query) {
  const { title, body } = shownText(entry);
  return el(
    "li",
    { class: "card", data: { entry: entry.entry_id, position: String(position) } },
    el("h3", {}, el("a", { href: entryAddress(entry.entry_id, query) }, title)),
    meta(entry),
    el("div", { class: "fragments" }, body),
    files(entry.attachments ?? []),
    score(entry),
  );
}

function meta(entry) {
  const parts = [
    timeElement(entry.timestamp),
    entry.author ? el("span", { class: "author", text: entry.author }) : null,
    el("span", { text: entry.source_system }),
    el("span", { class: "entry-id", text: entry.entry_id }),
    entry.match === "fuzzy" ? el("span", { class: "badge", text: "approximate" }) : null,
  ];
  return el("p", { class: "meta" }, joined(parts));
}

/** The title and the fragments below it; a first fragment that begins with the title lends it its marks. */
function shownText(entry) {
  const name = entry.title || entry.entry_id;
  const found = (entry.highlights ?? []).filter((fragment) => fragment !== "");
  if (!found.length) return { title: name, body: snippet(entry) };
  const split = titleAndRest(found[0], entry.title);
  const first = split ? split.rest : fragmentNodes(found[0]);
  const shown = [first, ...found.slice(1).map(fragmentNodes)].filter((nodes) => nodes.length);
  return { title: split ? split.title : name, body: shown.map((nodes) => el("p", {}, nodes)) };
}

function snippet(entry) {
  const text = withoutTitle(entry).slice(0, SNIPPET_CHARACTERS);
  return text ? el("p", { text: text.length === SNIPPET_CHARACTERS ? `${text}…` : text }) : null;
}

function withoutTitle({ raw_text: text = "", title }) {
  const body = title && text.startsWith(title) ? text.slice(title.length) : text;
  return body.trim().replace(/\s+/g, " ");
}

function files(attachments) {
  if (!attachments.length) return null;
  const links = attachments.slice(0, MOST_FILES).map(({ url, filename, caption }) => linkOrText(url, filename || caption || url));
  const more = attachments.length - MOST_FILES;
  return el("p", { class: "files" }, "Files: ", joined(links, ", "), more > 0 ? ` and ${more} more` : null);
}

function score(entry) {
  const ranks = Object.entries(entry.ranks ?? {}).map(([leg, rank]) => `${leg.replace(/_/g, " ")} ${shown(rank)}`);
  const text = [`score ${shown(entry.score)}`, ...ranks].join(", ");
  return el("p", { class: "score", text });
}

function shown(value) {
  if (value === null) return "–";
  if (typeof value !== "number") return typeof value === "object" ? JSON.stringify(value) : String(value);
  return Number.isInteger(value) ? String(value) : value.toFixed(4);
}
