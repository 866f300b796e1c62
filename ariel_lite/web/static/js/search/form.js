// The search box with its modes, options and syntax help. It stays on screen while results change.

import { button, disclosure, el, fill } from "../dom.js";
import { number } from "../format.js";
import { preference, setPreference } from "../preferences.js";
import { changed, valuesForMode, withValue } from "./address.js";
import { optionFields } from "./options.js";

const SCORES = "ariel-scores";

/** Whether scores and ranks are shown. */
export const showsScores = () => preference(SCORES) === "yes";

export class SearchForm {
  #onSearch;
  #onScores;
  #search = null;
  #capabilities = null;
  #drawn = "";

  /** `onSearch(search)` is called for every new search, `onScores()` when scores are switched. */
  constructor(onSearch, onScores) {
    this.#onSearch = onSearch;
    this.#onScores = onScores;
    this.#build();
  }

  /** Show a search. */
  update(search) {
    this.#search = search;
    if (this.box.value !== search.query) this.box.value = search.query;
    if (this.#capabilities) this.learn(this.#capabilities);
  }

  /** Show what can be chosen. It may come late: what was typed in the meantime stays. */
  learn(capabilities) {
    this.#capabilities = capabilities;
    this.#drawModes();
    this.#drawOptions();
  }

  /** Where the query is at fault: the caret goes there. */
  pointAt(position) {
    this.box.focus();
    this.box.setSelectionRange(position, position);
  }

  #build() {
    this.box = el("input", {
      type: "search",
      id: "query",
      name: "q",
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      enterkeyhint: "search",
      maxlength: "4000",
      placeholder: "words, \"phrases\", device names, author:, date:",
    });
    this.modes = el("div", { class: "modes", role: "group", "aria-label": "Search mode" });
    this.options = el("div", { class: "panel" });
    this.optionsCount = el("span");
    this.optionsSwitch = disclosure(["Options", this.optionsCount], this.options, () => this.#drawOptions());
    this.syntax = el("div", { class: "panel" });
    this.syntaxSwitch = disclosure("Syntax", this.syntax, () => this.#drawSyntax());
    this.root = el(
      "form",
      { class: "search-form", role: "search", on: { submit: (event) => this.#submit(event) } },
      el("label", { for: "query", class: "hidden-visually", text: "Search the logbook" }),
      el("div", { class: "search-row" }, this.box, el("button", { class: "primary", text: "Search" })),
      el("div", { class: "search-tools" }, this.modes, this.optionsSwitch.button, this.syntaxSwitch.button),
      this.options,
      this.syntax,
    );
    this.root.addEventListener("keydown", (event) => this.#escape(event));
  }

  #submit(event) {
    event.preventDefault();
    performance.mark("ariel:asked");
    this.#onSearch(changed(this.#search, { query: this.box.value.trim() }));
  }

  #escape(event) {
    if (event.key !== "Escape") return;
    const inside = [this.optionsSwitch, this.syntaxSwitch].find(({ panel }) => panel.contains(event.target));
    if (inside) {
      inside.close();
      inside.button.focus();
    } else {
      event.target.blur();
    }
    event.preventDefault();
  }

  #drawModes() {
    const { modes, defaultMode } = this.#capabilities;
    const current = this.#search.mode || defaultMode;
    const focused = this.modes.contains(document.activeElement) ? document.activeElement.value : null;
    fill(
      this.modes,
      modes.map((mode) =>
        button(mode.label, () => this.#chooseMode(mode), {
          class: "mode",
          value: mode.name,
          title: mode.description,
          "aria-pressed": String(mode.name === current),
        }),
      ),
    );
    if (focused) this.modes.querySelector(`[value="${CSS.escape(focused)}"]`)?.focus();
  }

  #chooseMode(mode) {
    const names = new Set(mode.parameters.map((parameter) => parameter.name));
    const values = valuesForMode(this.#search.values, names);
    const name = mode.name === this.#capabilities.defaultMode ? "" : mode.name;
    this.#onSearch(changed(this.#search, { query: this.box.value.trim(), mode: name, values }));
  }

  #drawOptions() {
    const set = Object.keys(this.#search.values).length;
    this.optionsCount.textContent = set ? ` (${number(set)} set)` : "";
    if (this.options.hidden || !this.#capabilities) return;
    const drawn = JSON.stringify([this.#search.mode, this.#search.values]);
    // What is being edited is left alone; a redraw would take the focus away.
    if (drawn === this.#drawn || this.options.contains(document.activeElement)) return;
    this.#drawn = drawn;
    fill(this.options, this.#sections(), el("div", { class: "option-foot" }, this.#scoresSwitch(), this.#clearButton(set)));
  }

  #sections() {
    const { modes, defaultMode, shared } = this.#capabilities;
    const mode = modes.find(({ name }) => name === (this.#search.mode || defaultMode));
    const names = new Set(shared.map(({ name }) => name));
    const own = (mode?.parameters ?? []).filter(({ name }) => !names.has(name));
    const change = (name, text) => this.#onSearch(withValue({ ...this.#search, query: this.box.value.trim() }, name, text));
    return optionFields([...shared, ...own], this.#search.values, change);
  }

  #scoresSwitch() {
    const box = el("input", { type: "checkbox", id: "scores", checked: showsScores() });
    box.addEventListener("change", () => {
      setPreference(SCORES, box.checked ? "yes" : null);
      this.#onScores();
    });
    return el("div", { class: "field check" }, box, el("label", { for: "scores", text: "Expert: scores and ranks" }));
  }

  #clearButton(set) {
    return set ? button("Clear the options", () => this.#clear()) : null;
  }

  #clear() {
    this.optionsSwitch.button.focus();
    this.#onSearch(changed(this.#search, { values: {} }));
  }

  #drawSyntax() {
    if (this.syntax.childElementCount || !this.#capabilities) return;
    const row = ({ example, examples, meaning }) =>
      el("tr", {}, el("td", {}, this.#examples(examples ?? [example])), el("td", { text: meaning }));
    fill(
      this.syntax,
      el("p", { text: "A click on an example puts it into the box." }),
      el("table", { class: "syntax-table" }, el("tbody", {}, this.#capabilities.syntax.map(row))),
    );
  }

  #examples(texts) {
    return texts.map((text) => button(text, () => this.#tryExample(text), { class: "example" }));
  }

  #tryExample(text) {
    this.box.value = text;
    this.box.focus();
  }
}
