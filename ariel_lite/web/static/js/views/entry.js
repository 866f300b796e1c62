// The entry view: text, files, metadata, and what stands around it.

import { request, wasAborted } from "../api.js";
import { announce, setTitle } from "../page.js";
import { button, el, fill, joined } from "../dom.js";
import { timeElement } from "../format.js";
import { Latest } from "../latest.js";
import { entryIdOf, safeUrl } from "../links.js";
import { failed, loading } from "../states.js";
import { neighbours, related } from "../entry/context.js";
import { files } from "../entry/files.js";
import { metadataTable } from "../entry/metadata.js";
import { entryText, titleAndBody } from "../entry/text.js";

export class EntryView {
  #router;
  #latest = new Latest();
  #query = "";

  constructor(router) {
    this.#router = router;
    this.neighbours = el("div");
    this.body = el("article", { class: "entry" });
    this.related = el("aside", { "aria-label": "Related entries" });
    this.root = el(
      "div",
      { class: "view entry-view" },
      el("div", { class: "entry-bar" }, button("← Back", () => this.#back(), { class: "quiet" }), this.neighbours),
      el("div", { class: "entry-columns" }, this.body, this.related),
    );
    this.onKey = (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) this.#back();
    };
    document.addEventListener("keydown", this.onKey);
  }

  leave() {
    this.#latest.stop();
    document.removeEventListener("keydown", this.onKey);
  }

  async show(url, visit) {
    const id = entryIdOf(url.pathname);
    this.#query = url.searchParams.get("q") ?? "";
    setTitle(id);
    fill(this.body, loading("Loading the entry"));
    fill(this.neighbours);
    fill(this.related);
    const signal = this.#latest.next();
    this.#showContext(id, signal);
    try {
      const asked = this.#query ? `?${new URLSearchParams({ query: this.#query })}` : "";
      this.#draw(await request(`/api/entries/${encodeURIComponent(id)}${asked}`, { signal }));
      if (visit.restored) this.#router.restorePosition();
      else window.scrollTo(0, 0);
    } catch (error) {
      if (!wasAborted(error)) fill(this.body, failed(error, () => this.show(url, visit), error.status === 404 ? searchFor(id) : null));
    }
  }

  #back() {
    this.#router.leave(this.#query ? `/?${new URLSearchParams({ q: this.#query })}` : "/browse");
  }

  #draw(entry) {
    const { title, body } = titleAndBody(entry);
    setTitle(entry.title || entry.entry_id);
    fill(
      this.body,
      el("h1", {}, title),
      el("p", { class: "meta" }, joined([timeElement(entry.timestamp, { seconds: true }), ...names(entry), sourceLink(entry)])),
      body.length ? entryText(body, entry.raw_text) : null,
      files(entry.attachments_files ?? [], entry.attachments ?? []),
      metadataTable(entry),
    );
    announce(entry.title || entry.entry_id);
  }

  async #showContext(id, signal) {
    const draw = async () => {
      try {
        const context = await request(`/api/context/${encodeURIComponent(id)}`, { signal });
        fill(this.neighbours, neighbours(context));
        fill(this.related, related(context, id));
      } catch (error) {
        // An entry that is not there is said by the entry itself.
        if (wasAborted(error) || error.status === 404 || error.status === 401) return;
        fill(this.related, el("p", { class: "note warning" }, `The related entries could not be loaded: ${error.message} `, button("Try again", draw)));
      }
    };
    await draw();
  }
}

function names({ author, source_system: source }) {
  return [author, source].filter(Boolean).map((text) => el("span", { text }));
}

function searchFor(id) {
  return id.trim() ? el("p", {}, el("a", { href: `/?${new URLSearchParams({ q: id })}`, text: `Search for ${id}` })) : null;
}

function sourceLink({ source_url: url }) {
  const href = safeUrl(url);
  return href ? el("a", { href, rel: "noopener noreferrer", target: "_blank", text: "at its source" }) : null;
}
