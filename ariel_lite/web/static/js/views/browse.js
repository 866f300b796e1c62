// The browse view: entries by time under day headings, with filters, a jump to a date, and pages that stay in place.

import { request, wasAborted } from "../api.js";
import { announce, setTitle } from "../page.js";
import { capabilities } from "../capabilities.js";
import { disclosure, el, field, fill, joined } from "../dom.js";
import { counted, dayName, dayOf, number, timeElement } from "../format.js";
import { focusFollowed, moveInList } from "../keyboard.js";
import { Latest } from "../latest.js";
import { entryAddress } from "../links.js";
import { empty, emptyLogbook, failed, loading } from "../states.js";
import { optionFields } from "../search/options.js";

const FILTERS = { author: "author", source_system: "source", start_date: "after", end_date: "before" };
const SHOWN = { author: "author", source: "source", after: "from", before: "until" };
const PAGE_SIZE = 25;

export class BrowseView {
  #router;
  #latest = new Latest();
  #address = new URLSearchParams();
  #drawn = "";
  #shared = [];

  constructor(router) {
    this.#router = router;
    // Text, as dates are written here: a month or a year is a place to jump to as well.
    this.jump = el("input", { type: "text", name: "jump", required: true, placeholder: "2024-03-05 or 2024", autocomplete: "off" });
    this.filters = el("div", { class: "panel" });
    this.results = el("section", { class: "results", "aria-label": "Entries" });
    this.order = el("select", {}, el("option", { value: "desc", text: "Newest first" }), el("option", { value: "asc", text: "Oldest first" }));
    this.order.addEventListener("change", () => this.#go({ order: this.order.value === "asc" ? "asc" : "" }));
    const jumpForm = el(
      "form",
      { class: "inline", on: { submit: (event) => this.#jump(event) } },
      field("Jump to a date", this.jump),
      el("button", { text: "Jump" }),
    );
    this.root = el(
      "div",
      { class: "view browse-view" },
      el("h1", { text: "Browse" }),
      el("div", { class: "browse-tools" }, jumpForm, field("Order", this.order), disclosure("Filters", this.filters, () => this.#drawFilters()).button),
      this.filters,
      this.results,
    );
    this.results.addEventListener("keydown", (event) => moveInList(event, this.#links()));
  }

  leave() {
    this.#latest.stop();
  }

  #links() {
    return [...this.results.querySelectorAll(".row a")];
  }

  async show(url, visit) {
    this.#address = url.searchParams;
    setTitle("Browse");
    this.order.value = this.#address.get("order") === "asc" ? "asc" : "desc";
    const signal = this.#latest.next();
    fill(this.results, loading("Loading entries"));
    try {
      this.#shared = (await capabilities()).shared;
      this.#drawFilters();
      const page = await request(`/api/entries?${this.#asked()}`, { signal });
      this.#draw(page);
      focusFollowed(this.#links(), visit);
      if (visit.restored) this.#router.restorePosition();
    } catch (error) {
      const first = this.#address.get("cursor") && error.status === 400 ? this.#firstPage() : null;
      if (!wasAborted(error)) fill(this.results, failed(error, () => this.show(url, visit), first));
    }
  }

  #asked() {
    const asked = new URLSearchParams({ page_size: PAGE_SIZE });
    for (const [name, short] of Object.entries(FILTERS)) {
      if (this.#address.get(short)) asked.set(name, this.#address.get(short));
    }
    if (this.#address.get("order") === "asc") asked.set("sort_order", "asc");
    if (this.#address.get("cursor")) asked.set("cursor", this.#address.get("cursor"));
    else if (this.#address.get("page")) asked.set("page", this.#address.get("page"));
    return asked;
  }

  /** Another list: changed filters begin at its first page. */
  #go(changes) {
    this.#router.go(this.#addressWith({ page: "", cursor: "", ...changes }));
  }

  #addressWith(changes) {
    const address = new URLSearchParams(this.#address);
    for (const [name, value] of Object.entries(changes)) {
      if (value === "") address.delete(name);
      else address.set(name, value);
    }
    return address.size ? `/browse?${address}` : "/browse";
  }

  #jump(event) {
    event.preventDefault();
    // A list that begins at a day: newest first it ends there, oldest first it starts there.
    const date = this.jump.value.trim();
    if (this.order.value === "asc") this.#go({ after: date, before: "" });
    else this.#go({ before: date, after: "" });
  }

  #drawFilters() {
    if (this.filters.hidden) return;
    const values = {};
    for (const [name, short] of Object.entries(FILTERS)) values[name] = this.#address.get(short) ?? "";
    const drawn = JSON.stringify(values);
    if (drawn === this.#drawn || this.filters.contains(document.activeElement)) return;
    this.#drawn = drawn;
    const parameters = this.#shared.filter(({ name }) => name in FILTERS);
    fill(this.filters, optionFields(parameters, values, (name, text) => this.#go({ [FILTERS[name]]: text })));
  }

  #draw(page) {
    const filters = Object.values(FILTERS).filter((short) => this.#address.get(short));
    const count = `${counted(page.total, "entry", "entries")}${filters.length ? " with these filters" : ""}`;
    fill(
      this.results,
      el("div", { class: "results-head" }, el("h2", { id: "browse-count", text: count }), this.#narrowedBy(filters)),
      page.entries.length ? days(page.entries) : this.#nothing(page, filters),
      this.#paging(page),
    );
    announce(`${count}, page ${this.#pageNumber(page)}`);
  }

  #narrowedBy(filters) {
    if (!filters.length) return null;
    const shown = filters.map((short) => `${SHOWN[short]} ${this.#address.get(short)}`).join(", ");
    return el("p", { class: "narrowed" }, shown, " ", el("a", { href: "/browse", text: "Show all" }));
  }

  #nothing({ total, total_pages: pages }, filters) {
    const past = `There are no entries on this page; the list has ${counted(pages, "page")}.`;
    if (total) return empty(past, this.#firstPage());
    if (filters.length) return empty("No entry passes these filters.", el("p", {}, el("a", { href: "/browse", text: "Show all entries" })));
    return emptyLogbook();
  }

  #firstPage() {
    return el("p", {}, el("a", { href: this.#addressWith({ page: "", cursor: "" }), text: "First page" }));
  }

  #pageNumber(page) {
    return Number(this.#address.get("page")) || page.page;
  }

  #paging(page) {
    const current = this.#pageNumber(page);
    const link = (text, rel, changes) => el("a", { class: "page-link", rel, href: this.#addressWith(changes), text });
    const links = [];
    if (current > 1) links.push(link("First page", "first", { page: "", cursor: "" }));
    if (current > 1) links.push(link("Previous", "prev", { page: current > 2 ? String(current - 1) : "", cursor: "" }));
    links.push(el("span", { text: `Page ${number(current)} of ${number(Math.max(page.total_pages, current))}` }));
    if (page.next_cursor) links.push(link("Next", "next", { page: String(current + 1), cursor: page.next_cursor }));
    return page.entries.length ? el("nav", { class: "paging", "aria-label": "Pages" }, links) : null;
  }
}

function days(entries) {
  const sections = new Map();
  for (const entry of entries) {
    const day = dayOf(entry.timestamp);
    sections.set(day, [...(sections.get(day) ?? []), entry]);
  }
  return [...sections].map(([day, members]) =>
    el("section", { class: "day" }, el("h3", { text: dayName(day) }), el("ol", { class: "rows" }, members.map(row))),
  );
}

function row(entry) {
  const files = entry.attachments?.length ?? 0;
  const about = [
    entry.author ? el("span", { class: "author", text: entry.author }) : null,
    el("span", { text: entry.source_system }),
    files ? el("span", { text: counted(files, "file") }) : null,
  ];
  return el(
    "li",
    { class: "row" },
    timeElement(entry.timestamp, { dayless: true }),
    el("div", {}, el("a", { href: entryAddress(entry.entry_id), text: entry.title || entry.entry_id }), el("p", { class: "meta" }, joined(about))),
  );
}
