// Counts by author, source, logbook, tag and year; a click adds the value to the text of the query, or takes it out.

import { button, el } from "../dom.js";
import { counted, number } from "../format.js";
import { fieldPiece, fieldPieces, withDate, withPiece, withoutPiece } from "./query_text.js";
import { changed, withValue } from "./address.js";

const GROUPS = [
  ["author", "Author", "author"],
  ["source_system", "Source", "source"],
  ["logbook", "Logbook", "logbook"],
  ["tag", "Tag", "tag"],
  ["year", "Year", "date"],
];
const FILTERABLE = ["author", "source_system"];
const SHOWN = 6;

/** The facet groups of an answer of /api/facets; `exact`: the search finds the counted entries and no others. */
export function facetGroups(document, search, go, exact) {
  const groups = GROUPS.map(([field, title, name]) => group(document.fields[field] ?? [], { field, title, name }, search, go));
  const scope = scopeNote(document, exact);
  return [scope ? el("p", { class: "help", text: scope }) : null, ...groups];
}

function scopeNote({ scope, total }, exact) {
  if (scope === "filters") return "Counts are over all entries that the filters allow.";
  return exact ? null : `Counts are over the ${counted(total, "entry that matches", "entries that match")} by keyword.`;
}

function group(values, { field, title, name }, search, go) {
  if (!values.length) return null;
  const items = values.map((value) => item(value, { field, name }, search, go));
  const rest = items.slice(SHOWN);
  return el(
    "section",
    { class: "facet" },
    el("h3", { text: title }),
    el("ul", {}, items.slice(0, SHOWN)),
    rest.length ? el("details", {}, el("summary", { text: `${rest.length} more` }), el("ul", {}, rest)) : null,
  );
}

function item({ value, count }, { field, name }, search, go) {
  const label = [el("span", { class: "facet-value", text: value }), el("span", { class: "facet-count", text: number(count) })];
  const action = facetAction(String(value), { field, name }, search, go);
  if (!action) {
    const title = "The query language cannot say a value with a quote in it";
    return el("li", {}, el("span", { class: "facet-item", title }, label));
  }
  return el("li", {}, button(label, action.run, { class: "facet-item", "aria-pressed": String(action.pressed) }));
}

/** What a click on a value does; null where neither the query nor a filter can say it. */
function facetAction(value, { field, name }, search, go) {
  const piece = fieldPiece(name, value);
  if (piece) {
    const pressed = fieldPieces(search.query).some(({ text }) => text === piece);
    const narrow = name === "date" ? withDate(search.query, value) : withPiece(search.query, piece);
    const query = pressed ? withoutPiece(search.query, piece) : narrow;
    return { pressed, run: () => go(changed(search, { query })) };
  }
  if (!FILTERABLE.includes(field)) return null;
  const pressed = search.values[field] === value;
  return { pressed, run: () => go(withValue(search, field, pressed ? "" : value)) };
}
