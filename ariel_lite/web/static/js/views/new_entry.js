// The new entry view: fields, files, the draft that saves itself, and publishing where the source takes entries.

import { request, wasAborted } from "../api.js";
import { setTitle, showNotice } from "../page.js";
import { button, el, field, fill } from "../dom.js";
import { timeElement } from "../format.js";
import { Latest } from "../latest.js";
import { entryAddress } from "../links.js";
import { failed, loading } from "../states.js";
import { Attachments } from "../compose/attach.js";
import { DraftKeeper, deleteDraft, listDrafts, loadDraft, unsavedContent } from "../compose/drafts.js";
import { EntryFields } from "../compose/fields.js";
import { forgetAnswers } from "./search.js";

export class NewEntryView {
  #router;
  #latest = new Latest();
  #keeper = null;
  #shown = null;

  constructor(router) {
    this.#router = router;
    this.body = el("div");
    this.drafts = el("section", { class: "drafts", "aria-label": "Drafts" });
    this.root = el("div", { class: "view new-view" }, el("h1", { text: "New entry" }), this.body, this.drafts);
    this.onHide = () => this.#keeper?.flush();
    document.addEventListener("visibilitychange", this.onHide);
  }

  leave() {
    this.#latest.stop();
    this.attachments?.stop();
    this.#keeper?.flush();
    document.removeEventListener("visibilitychange", this.onHide);
  }

  async show(url) {
    const id = url.searchParams.get("draft") ?? "";
    if (id === this.#shown) return;
    await this.#keeper?.flush();
    this.#shown = id;
    setTitle("New entry");
    const signal = this.#latest.next();
    fill(this.body, loading("Loading"));
    try {
      const [draft, publishing] = await Promise.all([id ? loadDraft(id, signal) : null, request("/api/publish-info", { signal })]);
      this.#draw(id, draft, publishing);
      await this.#showDrafts(signal);
    } catch (error) {
      if (wasAborted(error)) return;
      this.#shown = null;
      const fresh = error.status === 404 && id ? el("p", {}, el("a", { href: "/new", text: "Write a new entry" })) : null;
      fill(this.body, failed(error, () => this.show(url)), fresh);
    }
  }

  #draw(id, draft, publishing) {
    this.fields = new EntryFields();
    this.attachments = new Attachments(() => this.#changed());
    this.state = el("p", { class: "draft-state", role: "status" });
    this.publish = publishing.writable ? publishControls(publishing) : null;
    this.failure = el("div");
    this.store = el("button", { class: "primary", text: "Store the entry" });
    const unsaved = unsavedContent(id);
    if (draft || unsaved) this.#restore(unsaved ?? draft.content, draft?.files ?? []);
    this.#keeper = new DraftKeeper(id, (state) => this.#draftState(state), (made) => this.#created(made));
    fill(
      this.body,
      el(
        "form",
        { class: "entry-form", novalidate: true, on: { submit: (event) => this.#submit(event), input: () => this.#changed() } },
        this.fields.root,
        this.attachments.root,
        this.publish?.root ?? el("p", { class: "help", text: notPublished(publishing) }),
        this.failure,
        el("div", { class: "form-foot" }, this.store, this.state),
      ),
    );
    if (!unsaved) return;
    this.#keeper.changed(unsaved);
    showNotice({ text: "This text had not reached the server; this browser had kept it.", level: "info" });
  }

  #restore(content, files) {
    this.fields.restore(content);
    const known = new Map(files.map((file) => [file.attachment_id, file]));
    this.attachments.restore((content.attachment_ids ?? []).map((id) => known.get(id) ?? { attachment_id: id }));
  }

  #content() {
    return { ...this.fields.content(), attachment_ids: this.attachments.ids() };
  }

  #changed() {
    if (this.fields.isStarted() || this.attachments.ids().length) this.#keeper.changed(this.#content());
  }

  #created(id) {
    this.#shown = id;
    if (location.pathname === "/new") this.#router.rename(`/new?${new URLSearchParams({ draft: id })}`);
  }

  #draftState({ kind, error }) {
    const now = new Date().toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    const text = { saving: "Saving the draft…", saved: `Draft saved ${now}`, failed: `The draft is not saved: ${error?.message} ` }[kind];
    fill(this.state, text, kind === "failed" ? button("Try again", () => this.#changed()) : null);
    this.state.classList.toggle("error-text", kind === "failed");
  }

  async #submit(event) {
    event.preventDefault();
    fill(this.failure);
    if (!this.fields.check()) return;
    if (this.attachments.isBusy()) {
      fill(this.failure, el("p", { class: "error-text", role: "alert", text: "A file is still on its way; wait for it, or remove it." }));
      return;
    }
    this.store.disabled = true;
    try {
      await this.#keeper.flush();
      const body = { ...this.#content(), draft_id: this.#keeper.id || null, ...(this.publish?.values() ?? {}) };
      this.#done(await request("/api/entries", { method: "POST", body }));
    } catch (error) {
      this.store.disabled = false;
      if (!wasAborted(error)) fill(this.failure, failed(error, null));
    }
  }

  #done(made) {
    this.fields.rememberAuthor();
    forgetAnswers();
    this.#keeper.end();
    const level = made.sync_status === "failed" ? "warning" : "info";
    this.#router.go(entryAddress(made.entry_id), { notice: { text: `Stored: ${made.message}.`, level } });
  }

  async #showDrafts(signal) {
    const drafts = (await listDrafts(signal)).filter(({ draft_id: id }) => id !== this.#shown);
    fill(this.drafts, drafts.length ? [el("h2", { text: "Drafts" }), el("ul", { class: "briefs" }, drafts.map((draft) => this.#draftItem(draft)))] : null);
  }

  #draftItem({ draft_id: id, content, updated_at: updated }) {
    const title = content.subject || (content.details ?? "").slice(0, 80) || "Without a subject";
    const remove = async () => {
      try {
        await deleteDraft(id);
      } catch (error) {
        if (error.status !== 404) return fill(item, `${title} could not be deleted: ${error.message}`);
      }
      return item.remove();
    };
    const item = el(
      "li",
      {},
      el("a", { href: `/new?${new URLSearchParams({ draft: id })}`, text: title }),
      el("span", { class: "meta" }, " ", timeElement(updated), " "),
      button("Delete", remove, { "aria-label": `Delete the draft ${title}` }),
    );
    return item;
  }
}

function publishControls({ adapter, source_system: source, requires_auth: asksUser }) {
  const check = el("input", { type: "checkbox", id: "publish", name: "publish" });
  const user = el("input", { type: "text", name: "auth_user", autocomplete: "username" });
  const password = el("input", { type: "password", name: "auth_password", autocomplete: "current-password" });
  const account = el("div", { class: "field-row", hidden: true }, field("User at the source", user), field("Password", password));
  check.addEventListener("change", () => {
    account.hidden = !check.checked || !asksUser;
  });
  const values = () => {
    if (!check.checked) return {};
    return asksUser ? { publish: true, auth_user: user.value, auth_password: password.value } : { publish: true };
  };
  const label = `Publish to ${source || adapter} too`;
  return { root: el("div", {}, el("div", { class: "field check" }, check, el("label", { for: "publish", text: label })), account), values };
}

function notPublished({ reason }) {
  return `The entry is kept in this logbook only${reason ? ` (${reason})` : ""}.`;
}
