// What the search view shows before anything is asked.

import { button, el } from "../dom.js";

const EXAMPLES = 8;

/** Examples of the query language to click; `ask(query)` runs one. */
export function startPanel({ syntax, facility }, ask) {
  const place = facility.name ? ` of ${facility.name}` : "";
  return el(
    "div",
    { class: "start" },
    el("h2", { id: "results-title", text: `Search the logbook${place}` }),
    el("p", {}, "Type words, a device name, a number with its unit, or a field. Times are in the zone ", el("strong", { text: facility.timezone ?? "UTC" }), "."),
    el(
      "ul",
      { class: "examples" },
      syntax.slice(0, EXAMPLES).map(({ example, meaning }) =>
        el("li", {}, button(example, () => ask(example), { class: "example" }), " ", el("span", { text: meaning })),
      ),
    ),
  );
}
