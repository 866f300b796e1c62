// Files of a new entry: each is uploaded at once, with its progress, and waits at the server for the entry.

import { mayPass, upload, wasAborted } from "../api.js";
import { button, el, fill, freshId } from "../dom.js";
import { size } from "../format.js";

const MOST_BYTES = 10 * 1024 * 1024;

export class Attachments {
  #onChange;
  #files = [];

  /** `onChange()` is called when a file is there or gone. */
  constructor(onChange) {
    this.#onChange = onChange;
    const id = freshId("files");
    this.input = el("input", { type: "file", id, multiple: true, "aria-describedby": `${id}-help` });
    this.input.addEventListener("change", () => {
      this.add([...this.input.files]);
      this.input.value = "";
    });
    this.list = el("ul", { class: "file-list", "aria-label": "Files of this entry" });
    this.root = el(
      "div",
      { class: "field attach" },
      el("label", { for: id, text: "Files" }),
      this.input,
      el("small", { id: `${id}-help`, class: "help", text: "Up to 10 MB each. Files can also be dropped here." }),
      this.list,
    );
    this.root.addEventListener("dragover", (event) => event.preventDefault());
    this.root.addEventListener("drop", (event) => this.#drop(event));
  }

  /** Ids of the files that have arrived. */
  ids() {
    return this.#files.filter(({ id }) => id).map(({ id }) => id);
  }

  /** True while a file is on its way. */
  isBusy() {
    return this.#files.some(({ busy }) => busy);
  }

  /** Files that a draft brought along: [{attachment_id, filename, size_bytes}]. */
  restore(files) {
    for (const { attachment_id: id, filename, size_bytes: bytes } of files) {
      const file = this.#listed(filename || id, bytes);
      file.id = id;
      this.#state(file, "attached");
    }
  }

  add(chosen) {
    for (const one of chosen) {
      const file = this.#listed(one.name, one.size);
      if (!one.size) this.#state(file, "empty: there is nothing to keep", true);
      else if (one.size > MOST_BYTES) this.#state(file, `too large: ${size(one.size)}; at most 10 MB are kept`, true);
      else this.#send(file, one);
    }
  }

  /** Stop what is on its way. */
  stop() {
    this.#files.forEach(({ controller }) => controller.abort());
  }

  #drop(event) {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    this.add([...event.dataTransfer.files]);
  }

  #listed(name, bytes) {
    const file = { id: "", busy: false, controller: new AbortController() };
    file.progress = el("progress", { max: "1", value: "0", "aria-label": `Upload of ${name}` });
    file.note = el("span", { class: "file-state", role: "status" });
    file.retry = el("span");
    const about = bytes === undefined || bytes === null ? "" : ` ${size(bytes)}`;
    file.item = el(
      "li",
      { class: "file" },
      el("span", { class: "file-name", text: name }),
      about,
      file.progress,
      file.note,
      file.retry,
      button("Remove", () => this.#remove(file), { "aria-label": `Remove ${name}` }),
    );
    this.list.append(file.item);
    this.#files.push(file);
    return file;
  }

  async #send(file, data) {
    file.busy = true;
    fill(file.retry);
    this.#state(file, "uploading");
    file.progress.hidden = false;
    try {
      const onProgress = (part) => {
        file.progress.value = part;
      };
      const kept = await upload("/api/attachments", data, { onProgress, signal: file.controller.signal });
      file.id = kept.attachment_id;
      this.#state(file, "attached");
    } catch (error) {
      if (wasAborted(error)) return;
      this.#state(file, `not uploaded: ${[error.message, error.hint].filter(Boolean).join("; ")}`, true);
      if (mayPass(error)) fill(file.retry, button("Try again", () => this.#send(file, data)));
    } finally {
      file.busy = false;
      this.#onChange();
    }
  }

  #state(file, text, isFault = false) {
    file.progress.hidden = true;
    file.note.textContent = text;
    file.note.classList.toggle("error-text", isFault);
  }

  #remove(file) {
    file.controller.abort();
    file.item.remove();
    this.#files = this.#files.filter((one) => one !== file);
    this.input.focus();
    this.#onChange();
  }
}
