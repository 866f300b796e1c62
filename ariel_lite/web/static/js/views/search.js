// The search view: the form, how the query was read, results, facets, timeline and answer.

import { request, wasAborted } from "../api.js";
import { announce, setTitle } from "../page.js";
import { capabilities } from "../capabilities.js";
import { button, el, fill } from "../dom.js";
import { counted, number } from "../format.js";
import { focusFollowed, moveInList } from "../keyboard.js";
import { Latest } from "../latest.js";
import { empty, emptyLogbook, failed, loading } from "../states.js";
import { asksSomething, changed, pageSize, readSearch, searchAddress, searchBody } from "../search/address.js";
import { answerPanel } from "../search/answer.js";
import { cardLinks, cards } from "../search/cards.js";
import { SearchForm, showsScores } from "../search/form.js";
import { Narrowing } from "../search/narrowing.js";
import { asksNothing, narrowings, reading } from "../search/reading.js";
import { startPanel } from "../search/start.js";

const REMEMBERED = 12;
const DIMMED_MS = 400;
/** Answers of the last searches by address, so that Back shows at once what was there. */
const answers = new Map();

/** Forget the remembered answers: an entry was written. */
export const forgetAnswers = () => answers.clear();

export class SearchView {
  #router;
  #latest = new Latest();
  #search = null;
  #waiting = 0;
  #types = new Map();
  #labels = new Map();

  constructor(router) {
    this.#router = router;
    this.form = new SearchForm((search) => this.#go(search), () => this.#switchScores());
    this.narrowing = new Narrowing((search) => this.#go(search));
    this.chips = el("div");
    this.reading = el("div");
    this.results = el("section", { class: "results", "aria-label": "Results" });
    this.columns = el("div", { class: "columns" }, this.narrowing.root, this.results);
    this.root = el(
      "div",
      { class: "view search-view" },
      el("h1", { class: "hidden-visually", text: "Search the logbook" }),
      this.form.root,
      this.chips,
      this.reading,
      this.narrowing.timeline,
      this.columns,
    );
    this.root.addEventListener("keydown", (event) => this.#keys(event));
    this.root.classList.toggle("with-scores", showsScores());
  }

  /** The search box, for the `/` key. */
  focusBox() {
    this.form.box.focus();
    this.form.box.select();
  }

  leave() {
    this.#endWait();
    this.#latest.stop();
    this.narrowing.stop();
  }

  async show(url, visit) {
    this.#search = readSearch(url);
    this.form.update(this.#search);
    setTitle(this.#search.query || "Search");
    fill(this.chips, narrowings(this.#search, (search) => this.#go(search)));
    const remembered = visit.restored ? answers.get(url.search) : null;
    if (remembered) this.#showAnswer(remembered, visit);
    else if (asksSomething(this.#search)) this.#wait();
    const signal = this.#latest.next();
    try {
      await this.#run(signal, remembered, visit);
    } catch (error) {
      if (!wasAborted(error)) this.#fail(error, url);
    }
  }

  async #run(signal, remembered, visit) {
    const search = this.#search;
    const known = await capabilities();
    if (signal.aborted) return;
    this.form.learn(known);
    this.#labels = new Map(known.modes.map(({ name, label }) => [name, label]));
    this.#types = new Map([...known.shared, ...known.modes.flatMap((mode) => mode.parameters)].map((one) => [one.name, one.type]));
    if (!asksSomething(search)) {
      this.#start(known);
      return;
    }
    const body = searchBody(search, this.#types);
    // Both at once, the search first; the cards never wait for the counts.
    const asked = remembered ? null : request("/api/search", { method: "POST", body: explained(body), signal });
    this.narrowing.show(body, search, (search.mode || known.defaultMode) === "keyword");
    if (remembered) {
      this.narrowing.setVisible(remembered.entries.length > 0);
      return;
    }
    const answer = await asked;
    this.#remember(answer);
    this.#showAnswer(answer, visit);
    if (!answer.entries.length) await this.#tellEmptyLogbook(signal);
    if (visit.restored) this.#router.restorePosition();
    performance.mark("ariel:results");
  }

  #go(search) {
    this.#router.go(searchAddress(search));
  }

  #remember(answer) {
    answers.delete(location.search);
    answers.set(location.search, answer);
    if (answers.size > REMEMBERED) answers.delete(answers.keys().next().value);
  }

  /** What was there is dimmed for a moment, so that quick answers do not flicker; then it makes place. */
  #wait() {
    this.#endWait();
    this.root.setAttribute("aria-busy", "true");
    this.#waiting = setTimeout(() => this.#showWaiting(), this.results.childElementCount ? DIMMED_MS : 0);
  }

  #showWaiting() {
    const stop = () => {
      this.leave();
      fill(this.results, empty("Stopped.", button("Search again", () => this.#again())));
    };
    fill(this.reading);
    fill(this.results, loading("Searching", stop));
  }

  #endWait() {
    clearTimeout(this.#waiting);
    this.root.removeAttribute("aria-busy");
  }

  #again() {
    this.show(new URL(location.href), { restored: false });
  }

  #start(known) {
    this.#endWait();
    this.narrowing.clear();
    fill(this.reading);
    fill(this.results, startPanel(known, (query) => this.#go(changed(this.#search, { query }))));
  }

  #fail(error, url) {
    this.#endWait();
    this.narrowing.clear();
    const place = error.position === null || error.position === undefined ? this.#firstPage(error) : this.#fault(error.position);
    fill(this.reading);
    fill(this.results, failed(error, () => this.show(url, { restored: false }), place));
    announce(`Failed: ${error.message}`);
  }

  /** A way out of an address whose cursor cannot be read. */
  #firstPage(error) {
    if (!this.#search.cursor || error.status !== 400) return null;
    return el("p", {}, el("a", { href: searchAddress(changed(this.#search, {})), text: "First page" }));
  }

  /** The query with the word at fault marked. */
  #fault(position) {
    const { query } = this.#search;
    this.form.pointAt(position);
    const word = /^\S*/.exec(query.slice(position))[0] || " ";
    return el("p", { class: "fault" }, query.slice(0, position), el("mark", { text: word }), query.slice(position + word.length));
  }

  /** Where the logbook itself is empty, that is what there is to say. */
  async #tellEmptyLogbook(signal) {
    try {
      const { total } = await request("/api/entries?page_size=1", { signal });
      if (!total) this.results.querySelector(".state.empty")?.replaceWith(emptyLogbook());
    } catch {
      // The answer stands as it is.
    }
  }

  #showAnswer(answer, visit) {
    const go = (search) => this.#go(search);
    this.#endWait();
    this.narrowing.setVisible(answer.entries.length > 0);
    fill(this.reading, reading(answer, this.#search, go));
    const count = countLine(answer);
    fill(
      this.results,
      answerPanel(answer, this.#search.query, (id) => this.#focusEntry(id)),
      el("div", { class: "results-head" }, el("h2", { id: "results-title", text: count }), timing(answer, this.#labels)),
      answer.entries.length ? cards(answer, this.#search.query) : this.#nothing(answer),
      this.#paging(answer),
      explanation(answer),
    );
    focusFollowed(cardLinks(this.results), visit);
    announce(answer.entries.length ? count : "No entry found");
  }

  #nothing(answer) {
    if (asksNothing(answer)) return empty("Nothing was searched.", el("p", { text: "The notes above say what the query is missing." }));
    const advice = answer.degraded
      ? "A part of the search could not run (see above), so this does not mean that there is none."
      : "Try fewer words, another spelling, or another mode; take out a filter where one is set.";
    const nothing = answer.degraded ? "Nothing found, but not everything was searched." : "No entry matches.";
    return empty(answer.offset ? "There are no more entries." : nothing, el("p", { text: advice }));
  }

  #paging(answer) {
    const size = pageSize(this.#search);
    const link = (text, rel, search) => el("a", { class: "page-link", rel, href: searchAddress(search), text });
    const links = [];
    if (answer.offset > 0) {
      const before = Math.max(0, answer.offset - size);
      links.push(link(`Previous ${size}`, "prev", { ...this.#search, offset: before, cursor: "" }));
    }
    if (hasMore(answer, size)) {
      links.push(link(`Next ${size}`, "next", { ...this.#search, offset: answer.offset + answer.entries.length, cursor: answer.next_cursor ?? "" }));
    }
    return links.length ? el("nav", { class: "paging", "aria-label": "Pages of results" }, links) : null;
  }

  /** Focus the card of a source; false when it is not on this page. */
  #focusEntry(id) {
    const found = this.results.querySelector(`.card[data-entry="${CSS.escape(id)}"]`);
    if (!found) return false;
    found.querySelector("h3 a").focus();
    found.scrollIntoView({ block: "center" });
    found.classList.remove("pointed");
    requestAnimationFrame(() => found.classList.add("pointed"));
    return true;
  }

  #keys(event) {
    const links = cardLinks(this.results);
    const inBox = event.target === this.form.box;
    const inCards = links.includes(event.target);
    if (inBox && event.key === "ArrowDown" && links.length) {
      event.preventDefault();
      links[0].focus();
    } else if (inCards && event.key === "Escape") {
      event.preventDefault();
      this.form.box.focus();
    } else if (inCards) {
      moveInList(event, links, this.form.box);
    }
  }

  /** Ranks are only told on request, so the search runs again. */
  #switchScores() {
    this.root.classList.toggle("with-scores", showsScores());
    if (showsScores()) this.#again();
  }
}

function explained(body) {
  return showsScores() ? { ...body, advanced_params: { ...body.advanced_params, explain: true } } : body;
}

function explanation(answer) {
  if (!answer.explanation) return null;
  const text = JSON.stringify(answer.explanation, null, 2);
  return el("details", { class: "explanation" }, el("summary", { text: "How the search was run" }), el("pre", { text, tabindex: "0" }));
}

function hasMore(answer, size) {
  if (answer.next_cursor !== undefined) return answer.next_cursor !== null;
  if (typeof answer.total_results === "number") return answer.offset + answer.entries.length < answer.total_results;
  return answer.entries.length === size;
}

function countLine({ entries, total_results: total, offset }) {
  const shown = entries.length ? `${number(offset + 1)}–${number(offset + entries.length)}` : "0";
  if (typeof total !== "number") return entries.length ? `Entries ${shown}` : "No entries";
  if (total <= entries.length) return counted(total, "entry", "entries");
  return `Entries ${shown} of ${number(total)}`;
}

function timing({ execution_time_ms: ms, mode }, labels) {
  return el("span", { class: "timing", text: `${labels.get(mode) ?? mode}, ${Math.round(ms)} ms` });
}
