"use strict";
const PAGE = 50, STATES = ["failed", "error", "unscored"], FILTERS = ["run", "evaluator", "outcome", "label", "reason", "text"];
const $ = id => document.getElementById(id);
let data, matching = [], page = 0, listed = new Map();

/* Text from models only ever becomes a text node; what hides or turns text is written out, as Python's printable() does it. */
const SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"};
function escaped(char) {
  const code = char.codePointAt(0), [letter, digits] = code < 256 ? ["x", 2] : code < 65536 ? ["u", 4] : ["U", 8];
  return SHORT[char] || "\\" + letter + code.toString(16).padStart(digits, "0");
}
const printable = text => text.replace(/(?! )[\p{C}\p{Z}]/gu, escaped);
/* The same, but for line breaks, tabs and spaces of any width, which texts have for people. */
const visible = text => text.replace(/(?![\n\t])[\p{C}\p{Zl}\p{Zp}]/gu, escaped);
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  for (const child of children) made.append(typeof child === "string" ? visible(child) : child);
  return made;
}

/* A sample: [run, id, rows, texts or null, differences]; a difference: [evaluator, pointer, or a defect's place, what, output, reference, pointer in the reference or null], and of a call of a tool that call; a row: [evaluator, state, score, kind, reason], the kind as in what went wrong.
   A text: a string, null, or of a long one [where the part that is shown begins, the part, characters in all]. */
const isPart = text => Array.isArray(text), shownOf = text => isPart(text) ? text[1] : text;

function chosen() {
  const found = {};
  for (const name of FILTERS) { const field = $("by-" + name); found[name] = field ? field.value : ""; }
  return found;
}
function rowTest(by) {
  const evaluator = data.evaluators.indexOf(by.evaluator), reason = by.reason.toLowerCase();
  return row => (!by.evaluator || row[0] === evaluator) && (!by.outcome || STATES[row[1]] === by.outcome)
    && (!by.label || row[3] === by.label) && (!reason || row[4].toLowerCase().includes(reason));
}
function holds(sample, text) {
  return sample[1].toLowerCase().includes(text) || (sample[3] || []).some(each => each && shownOf(each).toLowerCase().includes(text));
}
function filter() {
  const by = chosen(), test = rowTest(by), text = by.text.toLowerCase(), run = data.runs.indexOf(by.run);
  matching = data.samples.filter(sample => (!by.run || sample[0] === run) && sample[2].some(test) && (!text || holds(sample, text)));
  if (by.evaluator) {
    const number = data.evaluators.indexOf(by.evaluator), sign = data.lower[number] ? -1 : 1;
    const badness = sample => { const row = sample[2].find(each => each[0] === number); return [row[1], row[2] === null ? 0 : sign * row[2]]; };
    const keyed = matching.map(sample => [badness(sample), sample]);
    keyed.sort(([a], [b]) => a[0] - b[0] || a[1] - b[1]);
    matching = keyed.map(pair => pair[1]);
  }
}

/* The lines of a JSON text with their pointers, from its tokens, so that no number changes; else null. */
function jsonLines(text) {
  const bare = text.trim().replace(/^```\w*\s*\n([^]*)\n\s*```$/, "$1");
  try { if (typeof JSON.parse(bare) !== "object") return null; } catch { return null; }
  const lines = [], stack = [];
  let line = "", pointer = "", key = null;
  const push = () => { if (line.trim()) lines.push([line, pointer]); line = "  ".repeat(stack.length); };
  const named = name => name.replace(/~/g, "~0").replace(/\//g, "~1");
  const place = () => { const top = stack[stack.length - 1];
    if (top) pointer = top.pointer + "/" + (top.array ? top.next++ : named(key)); };
  const tokens = bare.match(/"(?:\\[^]|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at], top = stack[stack.length - 1];
    if (token === "{" || token === "[") {
      place(); line += token;
      const own = stack.length ? pointer : "";
      if (tokens[at + 1] === "}" || tokens[at + 1] === "]") { line += tokens[++at]; continue; }
      lines.push([line, own]); stack.push({array: token === "[", next: 0, pointer: own}); line = "  ".repeat(stack.length);
    } else if (token === "}" || token === "]") {
      push(); stack.pop(); pointer = top.pointer; line = "  ".repeat(stack.length) + token;
    } else if (token === ",") { line += ","; push(); }
    else if (token === ":") line += ": ";
    else if (top && !top.array && tokens[at + 1] === ":") { key = JSON.parse(token); line += token; }
    else { place(); line += token; }
  }
  lines.push([line, pointer]);
  return lines;
}

/* Which tokens of two lists are not in their longest common part; beyond 4 million cells all between the ends. */
function unlike(a, b) {
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const n = a.length - start - end, m = b.length - start - end, left = new Set(), right = new Set();
  const long = n * m > 4e6, width = m + 1, best = new Uint16Array(long ? 0 : (n + 1) * width);
  if (!long) for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--)
    best[i * width + j] = a[start + i] === b[start + j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
  let i = 0, j = 0;
  while (i < n || j < m) {
    if (!long && i < n && j < m && a[start + i] === b[start + j]) { i++; j++; }
    else if (j >= m || (i < n && (long || best[(i + 1) * width + j] >= best[i * width + j + 1]))) left.add(start + i++);
    else right.add(start + j++);
  }
  return [left, right];
}
const under = (pointer, named) => named.some(each => pointer === each || pointer.startsWith(each + "/") || each === "");

/* Pieces with one more mark, at a character; line breaks and the end, which show nothing themselves, get a sign. */
function markedAt(pieces, at) {
  const found = [];
  for (const [text, isMarked] of pieces) {
    const chars = Array.from(text);
    if (at < 0 || at >= chars.length) found.push([text, isMarked]);
    else found.push([chars.slice(0, at).join(""), isMarked], [chars[at] === "\n" ? "⏎\n" : chars[at], true], [chars.slice(at + 1).join(""), isMarked]);
    at -= chars.length;
  }
  return at < 0 ? found : [...found, [" ⟨end⟩", true]];
}

/* Both texts as pieces, each with whether it is marked: by the pointers that evaluators name, else by comparing, and at a defect's place.
   Of a part of a text no difference is known, and words are not compared with JSON, nor calls of tools, which every API writes in a form of its own. */
function sides(output, reference, differences, areCalls) {
  const [left, right] = [output, reference].map(text => text === null || isPart(text) ? null : jsonLines(text));
  const defect = left ? undefined : differences.find(each => typeof each[1] === "number");
  const named = differences.filter(each => typeof each[1] === "string");
  const lines = found => found.map(([line]) => line + "\n"), words = text => text.match(/\s+|[^\s]+/g) || [];
  const pieces = (parts, isMarked) => parts.map((part, at) => [part, isMarked(at)]);
  const shown = (text, found, isMarked) => text === null ? null : pieces(found ? lines(found) : [shownOf(text)], isMarked);
  const namedIn = (found, pointers) => at => found !== null && under(found[at][1], pointers);
  let a = shown(output, left, () => false), b = shown(reference, right, () => false);
  if (named.length && !defect && (left || isPart(output))) {
    a = shown(output, left, namedIn(left, named.filter(each => each[2] !== "missing").map(each => each[1])));
    b = shown(reference, right, namedIn(right, named.filter(each => each[5] !== null).map(each => each[5])));
  } else if (!areCalls && reference !== null && !isPart(output) && !isPart(reference) && !(defect && right)) {
    const [ours, theirs] = left && right ? [lines(left), lines(right)] : [words(output), words(reference)], [onlyA, onlyB] = unlike(ours, theirs);
    a = pieces(ours, at => onlyA.has(at)); b = pieces(theirs, at => onlyB.has(at));
  }
  return [defect ? markedAt(a, defect[1] - (isPart(output) ? output[0] : 0)) : a, b];
}

function rowItem(row) {
  const score = row[2] === null ? "" : " · score " + row[2];
  return element("li", row[1] === 1 ? {class: "alarm"} : null, element("b", null, data.evaluators[row[0]]),
    " " + (row[1] && row[3] !== STATES[row[1]] ? STATES[row[1]] + ": " : "") + row[3] + score + (row[4] ? " · " + row[4] : ""));
}
const isOfCall = difference => difference.length > 6;
function differenceTable(differences, areCalls) {
  const found = new Map();
  for (const each of differences.filter(each => typeof each[1] === "string")) {
    const [number, pointer, what, output, reference, , call] = each, name = data.evaluators[number];
    const told = [pointer, what, output, reference, call], key = JSON.stringify(told);
    if (found.has(key)) found.get(key)[0] += ", " + name; else found.set(key, [name, ...told]);
  }
  const named = [...found.values()];
  if (!named.length) return null;
  const heads = [...areCalls ? ["call", "argument"] : ["JSON pointer"], "what", "output", areCalls ? "expected" : "reference", "evaluator"];
  const head = element("tr", null, ...heads.map(name => element("th", {scope: "col"}, name)));
  const places = each => areCalls ? [element("th", {scope: "row"}, each[5]), element("td", {class: "pointer"}, each[1] || "(the call)")]
    : [element("th", {scope: "row", class: "pointer"}, each[1] || "(the whole)")];
  const rows = named.map(each => element("tr", null, ...places(each), element("td", null, each[2]),
    ...[3, 4].map(at => element("td", null, element("code", null, each[at] === null ? "" : each[at]))), element("td", null, each[0])));
  return element("div", {class: "wide differences", role: "region", "aria-label": areCalls ? "Wrong calls" : "Differences", tabindex: 0},
    element("table", null, element("thead", null, head), element("tbody", null, ...rows)));
}
function pre(text, pieces) {
  const made = element("pre", {tabindex: 0});
  for (const [piece, isMarked] of pieces) made.append(isMarked ? element("mark", null, piece) : visible(piece));
  if (!isPart(text)) return [made];
  const [begin, part, all] = text, [from, to, of] = [begin + 1, begin + Array.from(part).length, all].map(number => number.toLocaleString("en"));
  return [element("p", {class: "quiet"}, "Characters " + from + " to " + to + " of " + of), made];
}
function side(name, text, pieces) {
  return element("div", {class: name}, element("h3", null, name[0].toUpperCase() + name.slice(1)), ...pre(text, pieces));
}
function fill(body, sample) {
  body.append(element("ul", {class: "rows"}, ...sample[2].map(rowItem)));
  const texts = sample[3], ofCalls = sample[4].filter(isOfCall), others = sample[4].filter(each => !isOfCall(each)), areCalls = ofCalls.length > 0;
  for (const table of [differenceTable(ofCalls, true), differenceTable(others, false)]) if (table) body.append(table);
  if (!texts) { body.append(element("p", {class: "quiet"}, "The texts of this sample are not in this report; they may be in samples.jsonl.")); return; }
  const [output, reference, input] = [texts[0] || "", texts[1], texts[2]], [left, right] = sides(output, reference, others, areCalls);
  const both = right ? element("div", {class: "sides"}, side("output", output, left), side("reference", reference, right)) : side("output", output, left);
  body.append(areCalls ? element("details", null, element("summary", null, right ? "Output and reference as they were given" : "Output as it was given"), both) : both);
  if (right && !areCalls && (isPart(output) || isPart(reference))) body.append(element("p", {class: "quiet"}, "Differences are marked in whole texts only."));
  if (input !== null) body.append(element("details", {class: "input"}, element("summary", null, "Input"), ...pre(input, [[shownOf(input), false]])));
}
function card(sample, open) {
  const shown = sample[2].slice(0, 3).map(row => data.evaluators[row[0]] + ": " + row[3]).join(" · ");
  const rest = sample[2].length > 3 ? " · and " + (sample[2].length - 3) + " more" : "";
  const body = element("div", {class: "body"});
  const made = element("details", null, element("summary", null, element("b", null, sample[1]),
    element("span", {class: "quiet"}, (data.runs.length > 1 ? data.runs[sample[0]] + " · " : "") + shown + rest)), body);
  const once = () => { if (!body.firstChild) fill(body, sample); };
  made.addEventListener("toggle", () => { if (made.open) once(); });
  if (open) { once(); made.open = true; }
  return made;
}

/* Shows a page of the samples. Of the cards before, those stay that are as they were, and open what was open; else the first is open. */
function show(before = new Map()) {
  const last = Math.max(0, Math.ceil(matching.length / PAGE) - 1);
  page = Math.min(Math.max(page, 0), last);
  listed = new Map();
  for (const sample of matching.slice(page * PAGE, (page + 1) * PAGE)) {
    let name = JSON.stringify(sample.slice(0, 2));
    while (listed.has(name)) name += " again";
    const old = before.get(name), stays = old && JSON.stringify(old.sample) === JSON.stringify(sample);
    listed.set(name, stays ? old : {sample, card: card(sample, old ? old.card.open : !before.size && !listed.size)});
  }
  arrange($("list"), [...listed.values()].map(each => each.card));
  $("count").textContent = matching.length.toLocaleString("en") + " of " + data.samples.length.toLocaleString("en") + " listed samples, worst first";
  $("pages").hidden = !last;
  const [previous, where, next] = $("pages").children;
  previous.disabled = page === 0; next.disabled = page === last;
  where.textContent = "Page " + (page + 1) + " of " + (last + 1);
}
/* Makes these the children of an element without touching those that are in their place, which would lose focus and scrolling. */
function arrange(parent, wanted) {
  const focused = document.activeElement, stay = new Set(wanted);
  for (const each of [...parent.children]) if (!stay.has(each)) each.remove();
  let next = parent.firstElementChild;
  for (const each of wanted) if (each === next) next = next.nextElementSibling; else parent.insertBefore(each, next);
  if (focused.isConnected && focused !== document.activeElement) focused.focus({preventScroll: true});
}
function step(name, by) {
  const made = element("button", {type: "button"}, name);
  made.addEventListener("click", () => { page += by; show(); remember(); $("samples").scrollIntoView(); const first = $("list").querySelector("summary"); if (first) first.focus(); });
  return made;
}
function remember() {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(chosen())) if (value) kept.set(name, value);
  if (page) kept.set("page", page + 1);
  history.replaceState(null, "", "#" + kept);
}
function update() { page = 0; filter(); show(); remember(); }

function control(name) {
  const isText = name === "reason" || name === "text";
  const field = isText ? element("input", {id: "by-" + name, type: "search", autocomplete: "off"})
    : element("select", {id: "by-" + name}, element("option", {value: ""}, "all"));
  field.addEventListener(isText ? "input" : "change", update);
  return element("label", {for: "by-" + name}, name === "text" ? "id, output, reference or input" : name, field);
}
/* Adds the choices that a field lacks; what it has stays in its place, for it may be in use. */
function offer(name, values) {
  const field = $("by-" + name), known = new Set(Array.from(field.options, each => each.value));
  for (const value of values) if (!known.has(value)) { const made = element("option", null, value); made.value = value; field.append(made); }
}
function controls() {
  const labels = new Map();
  for (const sample of data.samples) for (const row of sample[2]) labels.set(row[3], (labels.get(row[3]) || 0) + 1);
  const often = [...labels].sort((a, b) => b[1] - a[1]).slice(0, 200).map(pair => pair[0]);
  if (data.runs.length > 1) offer("run", data.runs);
  offer("evaluator", data.evaluators); offer("outcome", STATES); offer("label", often);
}
/* Sets a filter. A label that is not among the choices becomes one, for without it all samples would be shown. */
function put(name, value) {
  const field = $("by-" + name);
  if (!field) return;
  if (name === "label" && value) offer(name, [value]);
  field.value = value;
  if (field.selectedIndex < 0) field.value = "";
}
function recall() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of FILTERS) put(name, given.get(name) || "");
  page = Number(given.get("page") || 1) - 1 || 0;
}
function load(text) {
  data = JSON.parse(text);
  for (const sample of data.samples) for (const row of sample[2]) { row[3] = data.labels[row[3]]; row[4] = data.reasons[row[4]] || ""; }
}

$("filters").addEventListener("submit", event => event.preventDefault());
$("main").addEventListener("click", event => {
  const link = event.target.closest("a[data-evaluator]");
  if (!link) return;
  event.preventDefault();
  for (const name of FILTERS) put(name, link.dataset[name] || "");
  update(); $("samples").scrollIntoView();
  if (link.dataset.sample === undefined) $("by-evaluator").focus(); else turnTo(link.dataset.sample);
});
/* Turns to a sample and opens it alone; one that is not listed, as it passed or comes too late, is looked for by its text. */
function turnTo(id) {
  const at = matching.findIndex(sample => printable(sample[1]) === printable(id));
  if (at < 0) { $("by-text").value = id; update(); $("by-text").focus(); return; }
  page = Math.floor(at / PAGE); show(); remember();
  const found = $("list").children[at % PAGE];
  for (const each of $("list").children) each.open = each === found;
  found.scrollIntoView(); found.querySelector("summary").focus();
}
addEventListener("hashchange", () => { if (location.hash.includes("=")) { recall(); filter(); show(); } });
load($("data").textContent);
$("filters").append(...FILTERS.filter(name => name !== "run" || data.runs.length > 1).map(control));
$("pages").append(step("Previous", -1), element("span"), step("Next", 1));
controls(); recall(); filter(); show();
