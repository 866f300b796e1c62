// Numbers, sizes and times as the page writes them. Times come from the server in the facility's zone, with offset.

const NUMBERS = new Intl.NumberFormat("en");
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const ISO = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2})?(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?$/;

export const number = (value) => NUMBERS.format(value);

/** "1 entry", "1,234 entries". */
export function counted(value, one, many = `${one}s`) {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** A message of the server as a sentence: a plain first word begins with a capital, a name or field stays as it is. */
export const sentence = (text) => text.replace(/^\p{Ll}(?=\p{Ll}* )/u, (letter) => letter.toUpperCase());

/** Bytes as B, kB or MB (powers of 1,000). */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1000).toFixed(0)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A <time> that shows day, minute and offset; `seconds` adds them. */
export function timeElement(iso, { seconds = false, dayless = false } = {}) {
  const element = document.createElement("time");
  const match = ISO.exec(iso ?? "");
  element.dateTime = iso ?? "";
  element.title = iso ?? "";
  if (!match) {
    element.textContent = iso ?? "no time";
    return element;
  }
  const [, day, minute, second = "", offset = ""] = match;
  const clock = `${minute}${seconds ? second : ""} ${offset === "Z" ? "+00:00" : offset}`.trim();
  element.textContent = dayless ? clock : `${day} ${clock}`;
  return element;
}

/** The day of an ISO time: "2025-06-30". */
export const dayOf = (iso) => iso.slice(0, 10);

/** "2025-06-30" with its weekday: "Monday, 30 June 2025". */
export function dayName(day) {
  const [year, month, date] = day.split("-").map(Number);
  return `${WEEKDAYS[new Date(Date.UTC(year, month - 1, date)).getUTCDay()]}, ${date} ${MONTHS[month - 1]} ${year}`;
}

/** "2025-06" as "June 2025"; a year stays. */
export function spanName(span) {
  const [year, month] = span.split("-").map(Number);
  return month ? `${MONTHS[month - 1]} ${year}` : `${year}`;
}
