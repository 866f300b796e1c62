// A search and its address are the same thing: what is not in the address is not in the search.

const SHORT = { start_date: "after", end_date: "before", source_system: "source", max_results: "limit" };
const LONG = Object.fromEntries(Object.entries(SHORT).map(([long, short]) => [short, long]));
const FILTERS = ["start_date", "end_date", "author", "source_system"];
export const SHARED = [...FILTERS, "max_results"];
const DEFAULT_RESULTS = 10;

/**
 * A search: `query`, `mode` ("" is the default), `offset`, `cursor` (keeps a later page in place while entries
 * arrive), and `values` of shared and mode parameters as texts; only what differs from a default is in `values`.
 */
export function readSearch(url) {
  const search = { query: "", mode: "", offset: 0, cursor: "", values: {} };
  for (const [name, value] of url.searchParams) {
    if (name === "q") search.query = value;
    else if (name === "mode") search.mode = value;
    else if (name === "offset") search.offset = Math.max(0, Number.parseInt(value, 10) || 0);
    else if (name === "cursor") search.cursor = value;
    else if (value !== "") search.values[LONG[name] ?? name] = value;
  }
  return search;
}

/** The address of a search. */
export function searchAddress({ query, mode, offset, cursor, values }) {
  const parameters = new URLSearchParams();
  if (query) parameters.set("q", query);
  if (mode) parameters.set("mode", mode);
  for (const [name, value] of Object.entries(values)) {
    if (value !== "") parameters.set(SHORT[name] ?? name, value);
  }
  if (offset) parameters.set("offset", String(offset));
  if (offset && cursor) parameters.set("cursor", cursor);
  const text = parameters.toString();
  return text ? `/?${text}` : "/";
}

/** A search with changes; whatever changes but the offset, the first page comes again. */
export function changed(search, changes) {
  return { ...search, offset: 0, cursor: "", ...changes };
}

/** A search with one parameter set; "" removes it. */
export function withValue(search, name, value) {
  const values = { ...search.values, [name]: value };
  if (value === "") delete values[name];
  return changed(search, { values });
}

/** True when there is something to search for: words, or a filter. */
export function asksSomething({ query, values }) {
  return query.trim() !== "" || FILTERS.some((name) => values[name]);
}

/** How many entries a page shows. */
export function pageSize({ values }) {
  const wanted = Number.parseInt(values.max_results, 10);
  return Number.isFinite(wanted) ? Math.min(100, Math.max(1, wanted)) : DEFAULT_RESULTS;
}

/** The body of POST /api/search; `types` maps a parameter's name to its type. */
export function searchBody(search, types) {
  const body = { query: search.query, max_results: pageSize(search), offset: search.offset };
  if (search.mode) body.mode = search.mode;
  if (search.cursor) body.cursor = search.cursor;
  const advanced = {};
  for (const [name, text] of Object.entries(search.values)) {
    if (FILTERS.includes(name)) body[name] = text;
    else if (name !== "max_results") advanced[name] = typed(text, types.get(name));
  }
  return { ...body, advanced_params: advanced };
}

/** The parameters' texts of one mode, without those that only another mode has. */
export function valuesForMode(values, names) {
  return Object.fromEntries(Object.entries(values).filter(([name]) => SHARED.includes(name) || names.has(name)));
}

function typed(text, type) {
  if (type === "bool") return text === "true";
  const value = Number(text);
  return (type === "int" || type === "float") && Number.isFinite(value) ? value : text;
}
