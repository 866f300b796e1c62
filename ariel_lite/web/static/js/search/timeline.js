// Entries per month (per year when there are too many months for the width); a click narrows the search to it.

import { el } from "../dom.js";
import { counted, number, spanName } from "../format.js";

// Pixels of the narrowest bar that can be hit with a mouse, and with a finger.
const MOUSE_BAR = 4;
const FINGER_BAR = 12;
const LABEL_WIDTH = 56;
const WIDEST_BAR_REM = 3;

/**
 * The timeline of an answer of /api/facets; `narrow(span)` is called with a month or a year. `exact`: the search finds
 * the counted entries and no others.
 */
export function timeline({ timeline: months, scope }, width, narrow, exact) {
  if (!months.length) return null;
  const filled = withGaps(months);
  const narrowest = matchMedia("(pointer: coarse)").matches ? FINGER_BAR : MOUSE_BAR;
  const byYear = filled.length * narrowest > width;
  const spans = byYear ? yearsOf(filled) : filled;
  const most = Math.max(...spans.map(({ count }) => count));
  const bars = el(
    "div",
    { class: "bars", role: "group", "aria-label": `Entries per ${byYear ? "year" : "month"}; arrow keys move, Enter narrows` },
    spans.map((span) => bar(span, most, narrow)),
  );
  bars.addEventListener("keydown", moveBetweenBars);
  bars.querySelector("button").tabIndex = 0;
  const chart = el("div", { class: "chart" }, bars, axis(spans, width));
  chart.style.maxWidth = `${Math.max(5, spans.length * WIDEST_BAR_REM)}rem`;
  return el("figure", { class: "timeline" }, el("figcaption", {}, caption(most, byYear, countedEntries(scope, exact))), chart);
}

function bar({ span, count }, most, narrow) {
  if (!count) return el("span", { class: "bar-gap" });
  const label = `${spanName(span)}: ${counted(count, "entry", "entries")}`;
  const fill = el("span", { class: "bar-fill" });
  fill.style.height = `${Math.max(4, Math.round((100 * count) / most))}%`;
  return el(
    "button",
    { type: "button", class: "bar", tabindex: "-1", "aria-label": label, title: label, on: { click: () => narrow(span) } },
    fill,
  );
}

/** One tab stop for the whole timeline: the arrows move inside it. */
function moveBetweenBars(event) {
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement);
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (next === undefined || !buttons[next]) return;
  event.preventDefault();
  buttons[at].tabIndex = -1;
  buttons[next].tabIndex = 0;
  buttons[next].focus();
}

function countedEntries(scope, exact) {
  if (scope === "filters") return "All entries that the filters allow";
  return exact ? "Entries" : "Entries that match by keyword";
}

function caption(most, byYear, which) {
  return `${which} per ${byYear ? "year" : "month"}, up to ${number(most)}; click to narrow`;
}

/** The first span, the years after it that have room for their number, and the last span where there is room. */
function axis(spans, width) {
  const perBar = Math.min(width / spans.length, WIDEST_BAR_REM * 15);
  const labels = [];
  spans.forEach(({ span }, index) => {
    const isYear = span.length === 4 || span.endsWith("-01");
    const room = index ? Math.min(index - labels.at(-1).index, (spans.length - index) * 1.5) * perBar : LABEL_WIDTH;
    if (room < LABEL_WIDTH || (index && !isYear)) return;
    labels.push({ index, text: index ? span.slice(0, 4) : span });
  });
  const { index } = labels.at(-1);
  const end = spans.length - 1;
  if (index < end && (spans.length - index) * perBar >= 2 * LABEL_WIDTH) labels.push({ index: end, text: spans[end].span, isEnd: true });
  return el("div", { class: "axis", "aria-hidden": "true" }, labels.map((label) => tick(label, spans.length)));
}

function tick({ index, text, isEnd }, count) {
  const element = el("span", { text });
  if (isEnd) element.style.right = "0";
  else element.style.left = `${(100 * index) / count}%`;
  return element;
}

function withGaps(months) {
  const counts = new Map(months.map(({ month, count }) => [month, count]));
  const sorted = [...counts.keys()].sort();
  const spans = [];
  for (let at = indexOf(sorted[0]); at <= indexOf(sorted.at(-1)); at += 1) {
    const span = `${String(Math.floor(at / 12)).padStart(4, "0")}-${String((at % 12) + 1).padStart(2, "0")}`;
    spans.push({ span, count: counts.get(span) ?? 0 });
  }
  return spans;
}

function indexOf(month) {
  const [year, number] = month.split("-").map(Number);
  return year * 12 + number - 1;
}

function yearsOf(spans) {
  const years = new Map();
  for (const { span, count } of spans) years.set(span.slice(0, 4), (years.get(span.slice(0, 4)) ?? 0) + count);
  return [...years].map(([span, count]) => ({ span, count }));
}
