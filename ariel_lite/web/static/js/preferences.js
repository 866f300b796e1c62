// Choices remembered in this browser; where storage is blocked they last until the page is left.

const unsaved = new Map();

/** A stored choice, or null. */
export function preference(name) {
  try {
    return localStorage.getItem(name) ?? unsaved.get(name) ?? null;
  } catch {
    return unsaved.get(name) ?? null;
  }
}

/** Store a choice; null forgets it. */
export function setPreference(name, value) {
  try {
    unsaved.delete(name);
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    unsaved.set(name, value);
  }
}
