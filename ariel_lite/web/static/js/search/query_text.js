// Adding a facet to the text of a query, and taking it out again, without changing what the rest means.
// Follows the query language's lexer (README, "The query language"): quotes, brackets, fields, operators in capitals.

const QUOTES = '"“”„‟«»‹›〝〞＂「」『』';
const FIELD = /^-?(author|date|source|logbook|tag|category|id|has):/;
const OPERATORS = ["AND", "OR", "NOT"];

/** `author:"K. Ferreira"`, or null where the language cannot say the value (it holds a quote or a line break). */
export function fieldPiece(name, value) {
  if ([...value].some((character) => QUOTES.includes(character) || character < " ")) return null;
  return name === "date" ? `date:${value}` : `${name}:"${value}"`;
}

/** The query narrowed by a piece. */
export function withPiece(query, piece) {
  const base = mended(query);
  if (!base) return piece;
  return holdsOr(base) ? `(${base}) ${piece}` : `${base} ${piece}`;
}

/** The query without a piece; brackets that only that piece needed go too. */
export function withoutPiece(query, piece) {
  const tokens = tokensOf(query);
  const at = tokens.findIndex((token, index) => token.text === piece && narrows(tokens, index));
  if (at === -1) return query;
  const start = tokens[at - 1]?.text === "AND" ? tokens[at - 1].start : tokens[at].start;
  const rest = `${query.slice(0, start).trimEnd()} ${query.slice(tokens[at].end).trimStart()}`.trim();
  return withoutDanglingOperators(unwrapped(rest.replace(/^AND\s+/, "")));
}

/** The query with a month or year of the timeline; a wider date that holds it is replaced. */
export function withDate(query, span) {
  const wider = fieldPieces(query).find(({ text }) => /^date:\d{4}(-\d{2})?$/.test(text) && span.startsWith(text.slice(5)));
  return withPiece(wider ? withoutPiece(query, wider.text) : query, `date:${span}`);
}

/** The fields that narrow the whole query: [{text, label}]; none where an OR stands beside them. */
export function fieldPieces(query) {
  const tokens = tokensOf(query);
  if (holdsOr(query)) return [];
  return tokens
    .filter((token, index) => FIELD.test(token.text) && narrows(tokens, index))
    .map(({ text }) => ({ text, label: text.replace(/:"(.*)"$/, ": $1").replace(/:(?=\S)/, ": ") }));
}

/** The query with one word replaced, wherever it stands as a word of its own. */
export function withWord(query, typed, right) {
  const letters = typed.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return query.replace(new RegExp(`(?<![\\p{L}\\p{N}_])${letters}(?![\\p{L}\\p{N}_])`, "giu"), () => right);
}

/** True for an OR outside of brackets. */
function holdsOr(query) {
  return tokensOf(query).some((token) => token.depth === 0 && token.text === "OR");
}

/** True for a token that stands in no bracket and after no NOT. */
function narrows(tokens, index) {
  return tokens[index].depth === 0 && tokens[index - 1]?.text !== "NOT";
}

function tokensOf(query) {
  const tokens = [];
  let at = 0;
  let depth = 0;
  while (at < query.length) {
    if (/\s/.test(query[at])) at += 1;
    else if (query[at] === "(") {
      depth += 1;
      at += 1;
    } else if (query[at] === ")") {
      depth = Math.max(0, depth - 1);
      at += 1;
    } else {
      const end = endOfToken(query, at);
      tokens.push({ text: query.slice(at, end), start: at, end, depth });
      at = end;
    }
  }
  return tokens;
}

/** The end of a word, of a quoted text, or of a field with its (quoted) value. */
function endOfToken(query, start) {
  const name = FIELD.exec(query.slice(start))?.[0] ?? (query[start] === "-" && isQuote(query[start + 1]) ? "-" : "");
  const at = start + name.length;
  if (isQuote(query[at])) {
    const closing = closingQuote(query, at + 1);
    if (closing !== -1) return closing + 1;
  }
  let end = Math.max(at, start + 1);
  while (end < query.length && !/[\s()]/.test(query[end]) && !isQuote(query[end])) end += 1;
  return end;
}

/**
 * The query as the server reads it: without an unmatched last quote, with open brackets closed. A closing bracket that
 * closes nothing ends a part; the parts are joined by AND, so each that holds an OR gets brackets.
 */
function mended(query) {
  const parts = [""];
  let depth = 0;
  for (let at = 0; at < query.length; at += 1) {
    const character = query[at];
    const closing = isQuote(character) ? closingQuote(query, at + 1) : at;
    if (character === ")" && depth === 0) parts.push("");
    else if (closing !== -1) parts.push(parts.pop() + query.slice(at, closing + 1));
    else parts.push(`${parts.pop()} `);
    depth = Math.max(0, depth + (character === "(" ? 1 : character === ")" ? -1 : 0));
    at = Math.max(at, closing);
  }
  parts.push(parts.pop().trim() + ")".repeat(depth));
  const clean = parts.map((part) => withoutDanglingOperators(part.trim().replace(/^((AND|OR)\s+)+/, ""))).filter(Boolean);
  return clean.length > 1 ? clean.map((part) => (holdsOr(part) ? `(${part})` : part)).join(" ") : clean.join("");
}

function withoutDanglingOperators(query) {
  const last = tokensOf(query).at(-1);
  if (!last || !OPERATORS.includes(last.text) || last.end !== query.length) return query;
  return withoutDanglingOperators(query.slice(0, last.start).trim());
}

/** `(a OR b)` as `a OR b`, when the first bracket closes at the very end. */
function unwrapped(query) {
  if (!query.startsWith("(") || !query.endsWith(")")) return query;
  const inner = query.slice(1, -1);
  return mended(inner) === inner.trim() ? inner.trim() : query;
}

const isQuote = (character) => character !== undefined && character !== "" && QUOTES.includes(character);

function closingQuote(query, from) {
  for (let at = from; at < query.length; at += 1) if (isQuote(query[at])) return at;
  return -1;
}
