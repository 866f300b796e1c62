// What a view shows instead of its content: loading, empty, failed. Each looks different and says what to do.

import { mayPass, offerToken } from "./api.js";
import { button, el, field, fill } from "./dom.js";
import { sentence } from "./format.js";

const SLOW_AFTER_MS = 4000;

/** Waiting. After some seconds it says so, and offers to stop where `onStop` is given. Returns the element. */
export function loading(label, onStop = null) {
  const text = el("span", { text: `${label}…` });
  const element = el("div", { class: "state loading", role: "status" }, el("span", { class: "spinner", "aria-hidden": "true" }), text);
  const started = performance.now();
  const timer = setInterval(() => {
    if (!element.isConnected) return clearInterval(timer);
    const seconds = Math.round((performance.now() - started) / 1000);
    text.textContent = `${label}… the server is slow: ${seconds} s so far.`;
    if (onStop && !element.querySelector("button")) element.append(button("Stop waiting", onStop));
  }, SLOW_AFTER_MS);
  return element;
}

/** Nothing to show, and that is no fault. */
export function empty(title, ...advice) {
  return el("div", { class: "state empty" }, el("p", { class: "state-title", text: title }), ...advice);
}

/** A logbook without entries. */
export function emptyLogbook() {
  const write = el("a", { href: "/new", text: "write the first entry" });
  return empty("This logbook is empty.", el("p", {}, "Fill it with ", el("code", { text: "ariel-lite ingest" }), ", or ", write, "."));
}

/**
 * A failure, with the server's hint, further `details` and a way to try again where that can help; on a missing token,
 * a form that asks for it.
 */
export function failed(error, retry, details = null) {
  if (error.status === 401 && retry) return tokenForm();
  return el(
    "div",
    { class: "state failed", role: "alert" },
    el("p", { class: "state-title", text: sentence(error.message) }),
    details,
    error.hint ? el("p", { text: sentence(error.hint) }) : null,
    retry && mayPass(error) ? button("Try again", retry) : null,
  );
}

function tokenForm() {
  const input = el("input", { type: "password", autocomplete: "current-password", required: true });
  const note = el("p", { class: "error-text", role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    fill(note);
    try {
      // The frame has missed its part as well: all of it is loaded again.
      if (await offerToken(input.value.trim())) return location.reload();
      fill(note, "The server did not take this token.");
    } catch (failure) {
      fill(note, failure.message);
    }
    return input.focus();
  };
  return el(
    "form",
    { class: "state token", on: { submit } },
    el("h2", { text: "This logbook asks for a token" }),
    el("p", { text: "‘ariel-lite web’ printed it with its address when it was started; ask whoever did that." }),
    field("Token", input),
    el("button", { text: "Continue" }),
    note,
  );
}
