// Talking to the server: JSON in, JSON out, and one kind of error.

/** What went wrong, as the server's envelope says it. Status 0: the server was not reached. */
export class ApiError extends Error {
  constructor(status, { code = "", message = "", hint = "", position = null } = {}) {
    super(message || `The server answered with status ${status}.`);
    Object.assign(this, { status, code, hint, position });
  }
}

/** True for a request that was overtaken or stopped; nothing is shown for it. */
export const wasAborted = (error) => error.name === "AbortError";

/** True when the same request may well succeed later. */
export const mayPass = ({ status }) => status === 0 || status === 408 || status === 429 || status >= 500;

/**
 * A request; resolves to the parsed answer (null when it has no body).
 * Throws ApiError, or AbortError when `signal` fires.
 */
export async function request(path, { method = "GET", body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const text = body === undefined ? undefined : JSON.stringify(body);
  const response = await reached(fetch(path, { method, headers, body: text, signal, credentials: "same-origin" }));
  return parsed(response.status, await reached(response.text()));
}

/** A file sent as `file`, with progress (0 to 1). `signal` stops it. */
export function upload(path, file, { onProgress, signal }) {
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    const form = new FormData();
    form.append("file", file);
    call.open("POST", path);
    call.setRequestHeader("Accept", "application/json");
    call.upload.addEventListener("progress", (event) => onProgress(event.total ? event.loaded / event.total : 0));
    call.addEventListener("load", () => {
      try {
        resolve(parsed(call.status, call.responseText));
      } catch (error) {
        reject(error);
      }
    });
    call.addEventListener("error", () => reject(unreachable()));
    call.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
    signal.addEventListener("abort", () => call.abort());
    call.send(form);
  });
}

/** Answers 401 until the browser holds the right token; true when the server took it. */
export async function offerToken(token) {
  await reached(fetch(`/?${new URLSearchParams({ token })}`, { credentials: "same-origin" }));
  const check = await reached(fetch("/api/capabilities", { credentials: "same-origin" }));
  return check.status !== 401;
}

async function reached(promise) {
  try {
    return await promise;
  } catch (error) {
    throw wasAborted(error) ? error : unreachable();
  }
}

function unreachable() {
  return new ApiError(0, {
    code: "unreachable",
    message: "The server does not answer.",
    hint: "Is ‘ariel-lite web’ still running, and the network up? Nothing you typed is lost.",
  });
}

function parsed(status, text) {
  let document = null;
  try {
    document = text ? JSON.parse(text) : null;
  } catch {
    throw new ApiError(status, { message: `The server answered something else than JSON (status ${status}).` });
  }
  if (status >= 200 && status < 300) return document;
  throw new ApiError(status, document?.error);
}
