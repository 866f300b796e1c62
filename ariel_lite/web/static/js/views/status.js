// The status view: whether all is well, and what is in the logbook.

import { request, wasAborted } from "../api.js";
import { announce, setTitle } from "../page.js";
import { forgetCapabilities } from "../capabilities.js";
import { button, el, fill } from "../dom.js";
import { number, size, timeElement } from "../format.js";
import { Latest } from "../latest.js";
import { failed, loading } from "../states.js";

const DETAILS = {
  indexed: "Indexed for keyword search",
  unindexed: "Not indexed yet",
  cut: "Longer than the index keeps",
  attachments: "Files",
  vectors_current: "Vectors up to date",
  vectors_missing: "Vectors missing",
  vectors_stale: "Vectors stale",
  vectors_blank: "Without text for a vector",
  vectors_failed: "Vectors failed",
  size_bytes: "Size",
  backend: "Backend",
};
const FIXES = {
  unindexed: "ariel-lite reindex",
  vectors_missing: "ariel-lite enhance",
  vectors_stale: "ariel-lite enhance",
  vectors_failed: "ariel-lite enhance",
};
const OF_THE_LOGBOOK = ["size_bytes", "backend"];

export class StatusView {
  #latest = new Latest();

  constructor() {
    this.body = el("div");
    this.root = el("div", { class: "view status-view" }, el("h1", { text: "Status" }), this.body);
  }

  leave() {
    this.#latest.stop();
  }

  async show() {
    setTitle("Status");
    forgetCapabilities();
    fill(this.body, loading("Asking the server"));
    try {
      this.#draw(await request("/api/status", { signal: this.#latest.next() }));
    } catch (error) {
      if (!wasAborted(error)) fill(this.body, failed(error, () => this.show()));
    }
  }

  #draw(status) {
    const verdict = status.healthy ? "All is well." : "Something needs attention.";
    fill(
      this.body,
      el("p", { class: `verdict ${status.healthy ? "good" : "bad"}`, text: verdict }),
      status.errors?.length ? el("ul", { class: "problems" }, status.errors.map((text) => el("li", { text }))) : null,
      table("Logbook", logbookRows(status)),
      table("Entries", entryRows(status)),
      status.embedding_tables?.length ? vectorTable(status.embedding_tables) : noVectors(),
      table("Modules", [
        ["Search modes", (status.enabled_search_modules ?? []).join(", ")],
        ["Enhancers", (status.enabled_enhancement_modules ?? []).join(", ")],
        ...enhancerRows(status),
      ]),
      button("Refresh", () => this.show()),
    );
    announce(verdict);
  }
}

function logbookRows(status) {
  return [
    ["Database", status.database_uri],
    ["Connected", status.database_connected ? "yes" : "no"],
    ["Last ingestion", status.last_ingestion ? timeElement(status.last_ingestion, { seconds: true }) : "none yet"],
    ...detailRows(status, OF_THE_LOGBOOK),
  ];
}

function entryRows(status) {
  const names = Object.keys(DETAILS).filter((name) => !OF_THE_LOGBOOK.includes(name));
  return [["Entries", number(status.entry_count ?? 0)], ...detailRows(status, names)];
}

function detailRows({ details = {} }, names) {
  return names.filter((name) => name in details).map((name) => [DETAILS[name], shown(name, details[name])]);
}

function shown(name, value) {
  if (name === "size_bytes") return size(value);
  if (typeof value !== "number") return String(value);
  return value && FIXES[name] ? [`${number(value)}: run `, el("code", { text: FIXES[name] })] : number(value);
}

/** How far each enhancer has come. */
function enhancerRows({ details = {} }) {
  return Object.entries(details.enhancement ?? {}).map(([name, { complete, failed: faults, pending }]) => [
    name,
    `${number(complete)} done, ${number(pending)} waiting, ${number(faults)} failed`,
  ]);
}

function table(title, rows) {
  return el(
    "section",
    {},
    el("h2", { text: title }),
    el("table", {}, el("tbody", {}, rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row", text: name }), el("td", {}, value))))),
  );
}

function vectorTable(tables) {
  return table(
    "Vectors",
    tables.map((one) => [one.table_name ?? one.table, `${number(one.entry_count ?? one.entries)} entries, ${one.dimension} dimensions${(one.is_active ?? one.active) ? ", in use" : ""}`]),
  );
}

function noVectors() {
  return el("section", {}, el("h2", { text: "Vectors" }), el("p", {}, "None yet; searching by meaning needs them: ", el("code", { text: "ariel-lite enhance" }), "."));
}
