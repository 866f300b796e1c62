// The fields of a new entry, and what is wrong with them.

import { request } from "../api.js";
import { el, field, fill, freshId } from "../dom.js";
import { preference, setPreference } from "../preferences.js";

const AUTHOR = "ariel-author";

export class EntryFields {
  constructor() {
    this.subject = el("input", { type: "text", name: "subject", maxlength: "300", autocomplete: "off" });
    this.details = el("textarea", { name: "details", rows: "9" });
    this.author = el("input", { type: "text", name: "author", autocomplete: "name", value: preference(AUTHOR) ?? "" });
    this.logbook = el("input", { type: "text", name: "logbook", autocomplete: "off" });
    this.shift = el("input", { type: "text", name: "shift", autocomplete: "off" });
    this.tags = el("input", { type: "text", name: "tags", autocomplete: "off" });
    this.fault = el("p", { class: "error-text", id: freshId("fault"), role: "alert" });
    this.root = el(
      "div",
      { class: "entry-fields" },
      field("Subject", this.subject),
      field("Details", this.details, "White space and line breaks are kept as typed."),
      this.fault,
      el("div", { class: "field-row" }, field("Author", this.author), field("Logbook", this.logbook), field("Shift", this.shift), field("Tags", this.tags, "Separated by commas.")),
    );
    this.#suggest(this.logbook, "logbooks");
    this.#suggest(this.author, "authors");
  }

  /** The content, as POST /api/entries takes it. */
  content() {
    const text = (input) => input.value.trim();
    return {
      subject: text(this.subject),
      details: this.details.value.trimEnd(),
      author: text(this.author),
      logbook: text(this.logbook) || null,
      shift: text(this.shift) || null,
      tags: this.tags.value.split(",").map((tag) => tag.trim()).filter(Boolean),
    };
  }

  /** Show a draft's content. */
  restore(content) {
    for (const name of ["subject", "details", "author", "logbook", "shift"]) this[name].value = content[name] ?? "";
    this.tags.value = (content.tags ?? []).join(", ");
  }

  /** True when the author has written anything. */
  isStarted() {
    const { subject, details } = this.content();
    return Boolean(subject || details.trim());
  }

  /** True when the entry can be stored; else says why, and moves the focus there. */
  check() {
    const isComplete = this.isStarted();
    for (const control of [this.subject, this.details]) {
      control.toggleAttribute("aria-invalid", false);
      if (!isComplete) control.setAttribute("aria-invalid", "true");
    }
    fill(this.fault, isComplete ? "" : "An entry needs a subject or details: say what happened.");
    if (!isComplete) this.subject.focus();
    return isComplete;
  }

  /** Remember who writes here. */
  rememberAuthor() {
    setPreference(AUTHOR, this.author.value.trim() || null);
  }

  /** Known values to choose from; without them the field is simply typed. */
  async #suggest(input, name) {
    try {
      const { options } = await request(`/api/filter-options/${name}`);
      const list = el("datalist", { id: freshId("list") }, options.slice(0, 100).map(({ value }) => el("option", { value })));
      input.after(list);
      input.setAttribute("list", list.id);
    } catch (error) {
      input.title = `Known ${name} could not be loaded: ${error.message}`;
    }
  }
}
