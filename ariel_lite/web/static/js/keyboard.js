// The keys of the page. Single characters only act where nothing is being typed.

/**
 * `/` goes to the search box. A view adds its own by `onEscape` on its root; lists of cards use `moveInList`.
 */
export function bindKeys(focusSearch) {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    focusSearch();
  });
}

/** True where a key press writes text. */
export function isTyping(target) {
  return Boolean(target.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]"));
}

/** After Back: the link that was followed gets the focus again, where nothing else has it by now. */
export function focusFollowed(links, { restored, left }) {
  const isFree = ["BODY", "main"].includes(document.activeElement.id || document.activeElement.tagName);
  if (restored && left && isFree) links.find((link) => link.href === left)?.focus({ preventScroll: true });
}

/**
 * Up, Down, Home and End move between the links of a list; above the first one the focus goes to `before`.
 * Returns true when the key was used.
 */
export function moveInList(event, links, before = null) {
  const at = links.indexOf(document.activeElement);
  const targets = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 };
  if (!(event.key in targets) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false;
  const next = targets[event.key];
  const target = next < 0 ? before : links[next];
  if (!target) return false;
  event.preventDefault();
  target.focus();
  target.closest("li")?.scrollIntoView({ block: "nearest" });
  return true;
}
