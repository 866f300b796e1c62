// Addresses: of entries, and of what entries name. Only http(s) and this server's own paths ever become links.

import { el } from "./dom.js";

/** The page of an entry; `query` is what it highlights. */
export function entryAddress(id, query = "") {
  return `/entry/${encodeURIComponent(id)}${query ? `?${new URLSearchParams({ q: query })}` : ""}`;
}

/** The id in an entry's address; one that is not encoded properly is taken as it stands. */
export function entryIdOf(pathname) {
  const written = pathname.slice("/entry/".length);
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

/** A url that may be followed, or null: a bare name (nothing here answers it), javascript:, data: and other claims. */
export function safeUrl(url) {
  if (isStored(url)) return url;
  try {
    const parsed = new URL(url);
    return ["http:", "https:"].includes(parsed.protocol) ? parsed.href : null;
  } catch {
    return null;
  }
}

/** True for a file that this server keeps. */
export function isStored(url) {
  return typeof url === "string" && url.startsWith("/api/attachments/");
}

/** A link when the url is safe, else its text. */
export function linkOrText(url, text, attributes = {}) {
  const href = safeUrl(url);
  if (!href) return el("span", { text });
  return el("a", { href, rel: "noopener noreferrer", text, ...attributes });
}
