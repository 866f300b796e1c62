// Drafts: what is being written is kept on the server by itself, a moment after each change; what the server could not
// take is kept by this browser until it can.

import { request } from "../api.js";
import { preference, setPreference } from "../preferences.js";

const AFTER_MS = 800;
const UNSAVED = "ariel-unsaved-";

/** Keeps the draft of one form. `onState({kind: "saving"|"saved"|"failed", error})` tells how that goes. */
export class DraftKeeper {
  #id;
  #onState;
  #onCreated;
  #timer = 0;
  #waiting = null;
  #saving = null;
  #ended = false;

  /** `id` of an existing draft or ""; `onCreated(id)` is called when a new one got its id. */
  constructor(id, onState, onCreated) {
    this.#id = id;
    this.#onState = onState;
    this.#onCreated = onCreated;
  }

  /** The form has changed; its content is saved in a moment. */
  changed(content) {
    if (this.#ended) return;
    this.#waiting = content;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), AFTER_MS);
  }

  /** Save now what waits; resolves when it is saved, or could not be. */
  async flush() {
    clearTimeout(this.#timer);
    while (this.#saving || (this.#waiting && !this.#ended)) {
      this.#saving ??= this.#save();
      await this.#saving;
    }
  }

  /** The draft's id; "" while nothing was saved. */
  get id() {
    return this.#id;
  }

  /** The draft has become an entry: no more saving. */
  end() {
    clearTimeout(this.#timer);
    this.#ended = true;
    keepUnsaved(this.#id, null);
  }

  async #save() {
    const content = this.#waiting;
    this.#waiting = null;
    this.#onState({ kind: "saving" });
    const before = this.#id;
    try {
      await this.#send(content);
      keepUnsaved(before, null);
      this.#onState({ kind: "saved" });
    } catch (error) {
      if (!this.#ended) keepUnsaved(before, content);
      this.#onState({ kind: "failed", error });
    } finally {
      this.#saving = null;
    }
  }

  /** A draft that is gone meanwhile (stored or deleted elsewhere) is made anew: what is typed here is not lost with it. */
  async #send(content) {
    if (!this.#id) return this.#create(content);
    try {
      return await request(draftPath(this.#id), { method: "PUT", body: { content } });
    } catch (error) {
      if (error.status !== 404) throw error;
      return this.#create(content);
    }
  }

  async #create(content) {
    const { draft_id: id } = await request("/api/drafts", { method: "POST", body: { content } });
    this.#id = id;
    this.#onCreated(id);
  }
}

/** What was typed into a draft ("" for a new one) and has not reached the server; null when all of it has. */
export function unsavedContent(id) {
  try {
    return JSON.parse(preference(UNSAVED + id) ?? "null");
  } catch {
    return null;
  }
}

function keepUnsaved(id, content) {
  setPreference(UNSAVED + id, content && JSON.stringify(content));
}

/** The drafts that are kept, changed last first. */
export async function listDrafts(signal) {
  const { drafts } = await request("/api/drafts", { signal });
  return drafts;
}

/** One draft. */
export function loadDraft(id, signal) {
  return request(draftPath(id), { signal });
}

/** Forget a draft and its files. */
export function deleteDraft(id) {
  keepUnsaved(id, null);
  return request(draftPath(id), { method: "DELETE" });
}

function draftPath(id) {
  return `/api/drafts/${encodeURIComponent(id)}`;
}
