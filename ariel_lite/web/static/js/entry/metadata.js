// What is known about an entry besides its text, as a table.

import { el } from "../dom.js";
import { timeElement } from "../format.js";

/** The table of an entry's fields and metadata. */
export function metadataTable(entry) {
  const fixed = [
    ["Entry", entry.entry_id],
    ["Source", entry.source_system],
    ["Author", entry.author],
    ["Time", timeElement(entry.timestamp, { seconds: true })],
    ["Stored", timeElement(entry.created_at, { seconds: true })],
    ["Changed", entry.updated_at === entry.created_at ? "" : timeElement(entry.updated_at, { seconds: true })],
    ["Summary", entry.summary],
    ["Keywords", (entry.keywords ?? []).join(", ")],
  ];
  const own = Object.entries(entry.metadata ?? {}).filter(([, value]) => value !== entry.title).map(([name, value]) => [name, shown(value)]);
  const rows = [...fixed, ...own].filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el(
    "section",
    { class: "metadata", "aria-labelledby": "metadata-title" },
    el("h2", { id: "metadata-title", text: "About this entry" }),
    el("table", {}, el("tbody", {}, rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row", text: name }), el("td", {}, value))))),
  );
}

function shown(value) {
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.join(", ");
  return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : String(value ?? "");
}
