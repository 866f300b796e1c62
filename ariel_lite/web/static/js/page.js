// The frame of the page: its title, and what screen readers are told.

const NAME = "ariel-lite";

/** The document's title. */
export function setTitle(text) {
  document.title = `${text} – ${NAME}`;
}

/** A line above the view, visible and read out: {text, level "info" or "warning"}. */
export function showNotice({ text, level }) {
  const place = document.getElementById("notice");
  place.className = `note ${level}`;
  place.textContent = text;
}

/** Take the notice away. */
export function clearNotice() {
  const place = document.getElementById("notice");
  place.className = "";
  place.textContent = "";
}

/** Have a text read out, also when it is the same as the last one. */
export function announce(text) {
  const place = document.getElementById("announcer");
  place.textContent = "";
  requestAnimationFrame(() => {
    place.textContent = text;
  });
}
