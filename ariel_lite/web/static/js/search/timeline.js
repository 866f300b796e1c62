// Entries per month (per year when there are too many months for the width); a click narrows the search to it.

import { el } from "../dom.js";
import { counted, number, spanName } from "../format.js";

const BAR_WIDTH = 7;
const WIDEST_BAR_REM = 3;

/** The timeline of an answer of /api/facets; `narrow(span)` is called with a month or a year. */
export function timeline({ timeline: months, scope }, width, narrow) {
  if (!months.length) return null;
  const filled = withGaps(months);
  const byYear = filled.length * BAR_WIDTH > width;
  const spans = byYear ? yearsOf(filled) : filled;
  const most = Math.max(...spans.map(({ count }) => count));
  const bars = el(
    "div",
    { class: "bars", role: "group", "aria-label": `Entries per ${byYear ? "year" : "month"}; arrow keys move, Enter narrows` },
    spans.map((span) => bar(span, most, narrow)),
  );
  bars.addEventListener("keydown", moveBetweenBars);
  bars.querySelector("button").tabIndex = 0;
  const chart = el("div", { class: "chart" }, bars, axis(spans));
  chart.style.maxWidth = `${Math.max(5, spans.length * WIDEST_BAR_REM)}rem`;
  return el("figure", { class: "timeline" }, el("figcaption", {}, caption(most, byYear, scope)), chart);
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

function caption(most, byYear, scope) {
  const which = scope === "filters" ? "All entries that the filters allow" : "Entries";
  return `${which} per ${byYear ? "year" : "month"}, up to ${number(most)}; click to narrow`;
}

/** The first and last span, and the years between where they have room. */
function axis(spans) {
  const ends = [spans[0], spans.at(-1)].map(({ span }) => span);
  return el("div", { class: "axis", "aria-hidden": "true" }, [...new Set(ends)].map((span) => el("span", { text: span })));
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
