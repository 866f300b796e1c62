// The server's highlights: escaped text in which only <b> is markup. They are read, never inserted as HTML.

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'", "#34": '"' };
const ADDRESS = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]}]/g;

/** Text and <mark> nodes of a highlight. Anything else that looks like markup stays text. */
export function fragmentNodes(html) {
  return nodesOf(segments(html));
}

/** A text without highlights, as the server would send it. */
export function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** A highlight that begins with the entry's title, as {title, rest} of nodes; null when it begins otherwise. */
export function titleAndRest(html, title) {
  const whole = segments(html);
  const text = whole.map((segment) => segment.text).join("");
  if (!title || !text.startsWith(title) || /\S/.test(text[title.length] ?? " ")) return null;
  const head = [];
  const rest = [];
  let left = title.length;
  for (const { text: part, marked } of whole) {
    head.push({ text: part.slice(0, left), marked });
    rest.push({ text: part.slice(left), marked });
    left = Math.max(0, left - part.length);
  }
  if (rest.some(({ text }) => text.trim())) return { title: nodesOf(head), rest: nodesOf(rest) };
  return { title: nodesOf(head), rest: [] };
}

/** The same nodes with web addresses in their text as links. */
export function linkedNodes(nodes) {
  return nodes.flatMap((node) => (node.nodeType === Node.TEXT_NODE ? withLinks(node.data) : [node]));
}

function segments(html) {
  const found = [];
  let marked = false;
  for (const part of html.split(/(<b>|<\/b>)/)) {
    if (part === "<b>" || part === "</b>") marked = part === "<b>";
    else found.push({ text: unescaped(part), marked });
  }
  return found;
}

function nodesOf(found) {
  return found.filter(({ text }) => text).map(({ text, marked }) => (marked ? mark(text) : document.createTextNode(text)));
}

function unescaped(text) {
  return text.replace(/&(#?\w+);/g, (whole, name) => ENTITIES[name] ?? whole);
}

function mark(text) {
  const element = document.createElement("mark");
  element.textContent = text;
  return element;
}

function withLinks(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const link = document.createElement("a");
    link.href = match[0];
    link.rel = "noopener noreferrer";
    link.textContent = match[0];
    nodes.push(document.createTextNode(text.slice(end, match.index)), link);
    end = match.index + match[0].length;
  }
  return [...nodes, document.createTextNode(text.slice(end))];
}
