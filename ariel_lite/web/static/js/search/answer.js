// The answer of the answering modes: its sentences with [n] citations that lead to their source.

import { button, el } from "../dom.js";
import { entryAddress } from "../links.js";

const CITATION = /\[(\d+(?:\s*,\s*\d+)*)\]/g;

/** The answer's text and sources. `focusSource(id)` shows a source among the cards; false when it is not there. */
export function answerPanel(answer, query, focusSource) {
  if (!answer.answer) return null;
  const titles = new Map(answer.entries.map((entry) => [entry.entry_id, entry.title]));
  const cite = (number) => citation(number, answer.sources, query, focusSource);
  return el(
    "section",
    { class: "answer", "aria-labelledby": "answer-title" },
    el("h2", { id: "answer-title", text: "Answer" }),
    answer.answer.split(/\n{2,}/).map((paragraph) => el("p", {}, withCitations(paragraph, cite))),
    sources(answer.sources, titles, query, focusSource),
  );
}

function withCitations(text, cite) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(CITATION)) {
    nodes.push(text.slice(end, match.index), match[1].split(",").map((one) => cite(Number(one))));
    end = match.index + match[0].length;
  }
  return [...nodes, text.slice(end)];
}

function citation(number, sources, query, focusSource) {
  const id = sources[number - 1];
  if (id === undefined) return `[${number}]`;
  return button(`[${number}]`, () => focusSource(id) || window.open(entryAddress(id, query), "_self"), {
    class: "citation",
    "aria-label": `Source ${number}: ${id}`,
  });
}

function sources(ids, titles, query, focusSource) {
  if (!ids.length) return null;
  const item = (id) => el("li", {}, button(titles.get(id) || id, () => focusSource(id), { class: "link" }), ` ${id}`);
  return el("ol", { class: "sources", "aria-label": "Sources" }, ids.map(item));
}
