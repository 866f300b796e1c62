// The files of an entry: pictures that this server keeps as thumbnails, everything else as links.

import { el, joined } from "../dom.js";
import { size } from "../format.js";
import { isStored, linkOrText } from "../links.js";

const PICTURE = /^image\/(png|jpeg|gif|webp|bmp)$/;

/** The files; `stored` are those kept here, `named` all that the entry names. Null when there are none. */
export function files(stored, named) {
  const kept = stored.map(storedFile);
  const known = new Set(stored.map(({ url }) => url));
  const elsewhere = named.filter(({ url }) => !known.has(url)).map(namedFile);
  if (!kept.length && !elsewhere.length) return null;
  return el(
    "section",
    { class: "files-section", "aria-labelledby": "files-title" },
    el("h2", { id: "files-title", text: "Files" }),
    el("ul", { class: "file-list" }, kept, elsewhere),
  );
}

function storedFile({ url, filename, mime_type: type, size_bytes: bytes, inline }) {
  const isPicture = inline && PICTURE.test(type ?? "") && isStored(url);
  const picture = isPicture
    ? el("a", { href: url, target: "_blank", rel: "noopener", class: "thumbnail" }, el("img", { src: url, alt: filename, loading: "lazy" }))
    : null;
  const about = [inline ? linkOrText(url, "open", { target: "_blank" }) : null, linkOrText(`${url}?download=1`, "download", { download: filename })];
  return el(
    "li",
    { class: "file" },
    picture,
    el("div", {}, el("span", { class: "file-name", text: filename }), el("p", { class: "meta" }, joined([type, size(bytes), ...about]))),
  );
}

function namedFile({ url, filename, caption, type, missing }) {
  const place = isStored(url) ? "not kept here any more" : "kept elsewhere";
  const name = filename || caption || url || "file";
  const link = missing || isStored(url) ? el("span", { text: name }) : linkOrText(url, name);
  return el("li", { class: "file" }, el("div", {}, el("span", { class: "file-name" }, link), el("p", { class: "meta" }, joined([type, place]))));
}
