// The options panel: one control a parameter, drawn from the server's descriptors.

import { request } from "../api.js";
import { el, field, fill, freshId } from "../dom.js";

/**
 * The controls of `parameters` (ParameterDescriptor dictionaries), grouped by section. `values` are the texts that are
 * set; `onChange(name, text)` gets "" for a value that is back at its default.
 */
export function optionFields(parameters, values, onChange) {
  const sections = new Map();
  for (const parameter of parameters) {
    const name = parameter.section || "General";
    sections.set(name, [...(sections.get(name) ?? []), parameter]);
  }
  return [...sections].map(([name, members]) =>
    el(
      "fieldset",
      { class: "option-section" },
      el("legend", { text: name }),
      members.map((parameter) => optionField(parameter, values[parameter.name] ?? "", onChange)),
    ),
  );
}

function optionField(parameter, text, onChange) {
  if (parameter.type === "bool") return checkField(parameter, text, onChange);
  const isSelect = parameter.type === "select" || parameter.type === "dynamic_select";
  const control = isSelect ? selectControl(parameter, text) : inputControl(parameter, text);
  control.name = parameter.name;
  control.addEventListener("change", () => {
    if (control.validity.valid) onChange(parameter.name, unlessDefault(parameter, control.value.trim()));
    else control.reportValidity();
  });
  return field(parameter.label, control, parameter.description);
}

function checkField(parameter, text, onChange) {
  const id = freshId("option");
  const checked = text === "" ? Boolean(parameter.default) : text === "true";
  const control = el("input", { type: "checkbox", id, name: parameter.name, checked, "aria-describedby": `${id}-help` });
  control.addEventListener("change", () => onChange(parameter.name, unlessDefault(parameter, String(control.checked))));
  return el(
    "div",
    { class: "field check" },
    control,
    el("label", { for: id, text: parameter.label }),
    el("small", { id: `${id}-help`, class: "help", text: parameter.description }),
  );
}

function inputControl(parameter, text) {
  if (parameter.type === "int" || parameter.type === "float") {
    return el("input", {
      type: "number",
      min: parameter.min,
      max: parameter.max,
      step: parameter.type === "int" ? (parameter.step ?? 1) : "any",
      placeholder: parameter.placeholder ?? (parameter.default === null ? "automatic" : null),
      value: text || (parameter.default ?? ""),
    });
  }
  // Dates stay text: months, years and spans such as 7d are dates here, which a date picker cannot say.
  const hint = parameter.type === "date" ? "2024-03-05 or 7d" : null;
  return el("input", { type: "text", value: text, placeholder: parameter.placeholder ?? hint, autocomplete: "off" });
}

function selectControl(parameter, text) {
  const any = el("option", { value: "", text: parameter.placeholder ?? "any" });
  const control = el("select", {}, any);
  const choose = (options) => {
    const known = options.some((option) => option.value === text);
    const own = text && !known ? [{ value: text, label: text }] : [];
    fill(control, any, [...own, ...options].map(optionElement));
    control.value = text || (parameter.default ?? "");
  };
  choose(parameter.options ?? []);
  if (parameter.options_endpoint) loadOptions(parameter.options_endpoint, control, choose);
  return control;
}

function optionElement({ value, label, count }) {
  const name = label || value;
  return el("option", { value, text: count === undefined ? name : `${name} (${count})` });
}

async function loadOptions(endpoint, control, choose) {
  try {
    const { options } = await request(endpoint);
    if (document.activeElement !== control) choose(options);
  } catch (error) {
    control.title = `The choices could not be loaded: ${error.message}`;
    control.append(el("option", { disabled: true, text: "(choices could not be loaded)" }));
  }
}

function unlessDefault(parameter, text) {
  return text === String(parameter.default ?? "") ? "" : text;
}
