// Building the page: elements and text nodes only, so that nothing an entry holds can become markup.

/**
 * An element. Attributes: `class`, `text`, `on` ({event: listener}), `data` ({name: value}), any property given as
 * true/false, any other attribute by its name; null and undefined are left out. Children: nodes, texts, arrays, null.
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name === "text") element.textContent = value;
    else if (name === "on") Object.entries(value).forEach(([event, listener]) => element.addEventListener(event, listener));
    else if (name === "data") Object.assign(element.dataset, value);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined));
  return element;
}

/** A button that does not submit. */
export function button(label, onClick, attributes = {}) {
  return el("button", { type: "button", on: { click: onClick }, ...attributes }, label);
}

/** Replace all children. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined));
  return parent;
}

/** Nodes with a separator between them. */
export function joined(nodes, separator = " · ") {
  return nodes.filter(Boolean).flatMap((node, index) => (index ? [separator, node] : [node]));
}

/** A button that shows and hides a panel: {button, panel, close}; `onOpen` fills it when it is needed. */
export function disclosure(label, panel, onOpen) {
  panel.id = panel.id || freshId("panel");
  panel.hidden = true;
  const toggle = (open) => {
    panel.hidden = !open;
    if (open) onOpen();
    control.setAttribute("aria-expanded", String(open));
  };
  const control = button(label, () => toggle(panel.hidden), { class: "quiet disclosure", "aria-expanded": "false", "aria-controls": panel.id });
  return { button: control, panel, close: () => toggle(false) };
}

/** An id for label and control; unique in the page. */
export function freshId(prefix) {
  freshId.count = (freshId.count ?? 0) + 1;
  return `${prefix}-${freshId.count}`;
}

/** A label over a control, with a line of help that screen readers read with it. */
export function field(label, control, help = "") {
  control.id = control.id || freshId("field");
  const note = help ? el("small", { id: `${control.id}-help`, class: "help", text: help }) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return el("div", { class: "field" }, el("label", { for: control.id, text: label }), control, note);
}
