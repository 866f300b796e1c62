// What stands above the results: how the query was read, what the server noted, and what narrows it.

import { button, el } from "../dom.js";
import { sentence } from "../format.js";
import { fieldPieces, withWord, withoutPiece } from "./query_text.js";
import { changed, withValue } from "./address.js";

const FILTER_NAMES = { start_date: "from", end_date: "until", author: "author", source_system: "source" };
const SUGGESTION = /^(.*?)Did you mean (.+)\?$/su;
const CORRECTION = /(\S+) \(for (.+?)\)(?:, |$)/gu;

/** True for a query in which nothing was left to search for; its notes say why. */
export const asksNothing = ({ reasoning }) => reasoning.startsWith("nothing (");

/** The sentence, and every diagnostic by its level; `go(search)` runs another search. */
export function reading(answer, search, go) {
  return el(
    "div",
    { class: "reading" },
    answer.reasoning && !asksNothing(answer) ? el("p", { class: "sentence" }, "Read as: ", el("q", { text: answer.reasoning })) : null,
    answer.degraded ? degradedNote(answer, search, go) : null,
    answer.diagnostics.map((diagnostic) => note(diagnostic, search, go)),
  );
}

/** What narrows the query, each with a button that takes it out. */
export function narrowings(search, go) {
  const pieces = fieldPieces(search.query).map(({ text, label }) =>
    chip(label, () => go(changed(search, { query: withoutPiece(search.query, text) }))),
  );
  const filters = Object.entries(FILTER_NAMES)
    .filter(([name]) => search.values[name])
    .map(([name, shown]) => chip(`${shown}: ${search.values[name]}`, () => go(withValue(search, name, ""))));
  const all = [...pieces, ...filters];
  return all.length ? el("ul", { class: "chips", "aria-label": "Narrowed by" }, all) : null;
}

function chip(label, onRemove) {
  return el("li", {}, button(label, onRemove, { class: "chip", "aria-label": `Remove ${label}` }));
}

function degradedNote(answer, search, go) {
  const canChange = answer.mode !== "keyword";
  return el(
    "div",
    { class: "note warning degraded" },
    el("strong", { text: "Degraded: " }),
    "a part of this search could not run, so entries may be missing. The notes below say what to do. ",
    canChange ? button("Search by keyword", () => go(changed(search, { mode: "keyword", values: sharedOnly(search) }))) : null,
  );
}

function sharedOnly(search) {
  return Object.fromEntries(Object.entries(search.values).filter(([name]) => name in FILTER_NAMES || name === "max_results"));
}

function note(diagnostic, search, go) {
  const words = { error: "Failed: ", warning: "Note: ", info: "" };
  return el(
    "p",
    { class: `note ${diagnostic.level}` },
    words[diagnostic.level] ? el("strong", { text: words[diagnostic.level] }) : null,
    suggestion(diagnostic, search, go) ?? sentence(diagnostic.message),
  );
}

/** "Did you mean thyratron (for thyrtron)?" with the corrected query to click. */
function suggestion({ message, category }, search, go) {
  const match = category === "fuzzy" ? SUGGESTION.exec(message) : null;
  const corrections = match ? [...match[2].matchAll(CORRECTION)] : [];
  if (!corrections.length) return null;
  const query = corrections.reduce((text, [, right, typed]) => withWord(text, typed, right), search.query);
  if (query === search.query) return null;
  return [sentence(match[1]), "Did you mean ", button(query, () => go(changed(search, { query })), { class: "link" }), "?"];
}
