// What the server can do: its modes with their parameters, the syntax table, the facility. Asked once.

import { request } from "./api.js";

let asked = null;

/**
 * The capabilities: `modes` [{name, label, description, parameters}], `defaultMode`, `shared` (parameters of every mode),
 * `syntax` [{example, meaning}], `facility` {name, timezone}, `version`. A failure is not remembered.
 */
export function capabilities() {
  asked ??= request("/api/capabilities").then(shaped);
  asked.catch(() => {
    asked = null;
  });
  return asked;
}

/** Ask again at the next use: the default mode changes when vectors appear. */
export function forgetCapabilities() {
  asked = null;
}

function shaped(document) {
  const modes = Object.values(document.categories).flatMap((category) => category.modes);
  return {
    modes,
    defaultMode: document.default_mode,
    shared: document.shared_parameters,
    syntax: document.syntax ?? [],
    facility: document.facility ?? {},
    version: document.version ?? "",
  };
}
