"use strict";
const PAGE = 50, STATES = ["failed", "error", "unscored"], FILTERS = ["run", "evaluator", "outcome", "label", "reason", "text"];
const $ = id => document.getElementById(id);
let data, matching = [], page = 0;

/* Text from models only ever becomes a text node; what hides or turns text is written out. */
const visible = text => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]/gu,
  found => "\\u" + found.codePointAt(0).toString(16).padStart(4, "0"));
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  for (const child of children) made.append(typeof child === "string" ? visible(child) : child);
  return made;
}

/* A sample: [run, id, rows, texts or null, differences]; a row: [evaluator, state, score, label, reason]. */
const labelOf = row => row[3] < 0 ? STATES[row[1]] : data.labels[row[3]];
const reasonOf = row => data.reasons[row[4]] || "";

function chosen() {
  const found = {};
  for (const name of FILTERS) { const field = $("by-" + name); found[name] = field ? field.value : ""; }
  return found;
}
function rowTest(by) {
  const evaluator = data.evaluators.indexOf(by.evaluator), reason = by.reason.toLowerCase();
  return row => (!by.evaluator || row[0] === evaluator) && (!by.outcome || STATES[row[1]] === by.outcome)
    && (!by.label || labelOf(row) === by.label) && (!reason || reasonOf(row).toLowerCase().includes(reason));
}
function holds(sample, text) {
  return sample[1].toLowerCase().includes(text) || (sample[3] || []).some(each => each && each.toLowerCase().includes(text));
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
  const escaped = name => name.replace(/~/g, "~0").replace(/\//g, "~1");
  const place = () => { const top = stack[stack.length - 1];
    if (top) pointer = top.pointer + "/" + (top.array ? top.next++ : escaped(key)); };
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

/* Two <pre> with marks: by the pointers that evaluators name, by a defect's place, else by comparing. */
function sides(output, reference, differences) {
  const left = jsonLines(output), right = reference === null ? null : jsonLines(reference);
  const show = (parts, isMarked) => { const pre = element("pre", {tabindex: 0});
    parts.forEach((part, at) => pre.append(isMarked(at) ? element("mark", null, part) : visible(part))); return pre; };
  const lines = found => found.map(([line]) => line + "\n");
  const defect = differences.find(each => typeof each[1] === "number");
  if (!left && defect) {
    const chars = Array.from(output), at = Math.min(defect[1], chars.length);
    const parts = [chars.slice(0, at).join(""), chars[at] === undefined ? " ⟨end⟩" : chars[at] === "\n" ? "⏎\n" : chars[at], chars.slice(at + 1).join("")];
    return [show(parts, place => place === 1), reference === null ? null : show(right ? lines(right) : [reference], () => false)];
  }
  const named = differences.filter(each => typeof each[1] === "string");
  if (left && named.length) {
    const inOutput = named.filter(each => each[2] !== "missing").map(each => each[1]);
    const inReference = named.filter(each => each[4] !== null).map(each => each[1]);
    return [show(lines(left), at => under(left[at][1], inOutput)),
      right ? show(lines(right), at => under(right[at][1], inReference)) : reference === null ? null : show([reference], () => false)];
  }
  const words = text => text.match(/\s+|[^\s]+/g) || [];
  const [a, b] = left && right ? [lines(left), lines(right)] : [words(output), words(reference || "")];
  const [onlyA, onlyB] = reference === null ? [new Set(), new Set()] : unlike(a, b);
  return [show(left && reference === null ? lines(left) : a, at => onlyA.has(at)), reference === null ? null : show(b, at => onlyB.has(at))];
}

function rowItem(row) {
  const score = row[2] === null ? "" : " · score " + row[2];
  return element("li", row[1] === 1 ? {class: "alarm"} : null, element("b", null, data.evaluators[row[0]]),
    " " + (row[3] < 0 ? STATES[row[1]] : (row[1] ? STATES[row[1]] + ": " : "") + labelOf(row)) + score + (reasonOf(row) ? " · " + reasonOf(row) : ""));
}
function differenceTable(differences) {
  const found = new Map();
  for (const each of differences.filter(each => typeof each[1] === "string")) {
    const key = JSON.stringify(each.slice(1)), name = data.evaluators[each[0]];
    if (found.has(key)) found.get(key)[0] += ", " + name; else found.set(key, [name, ...each.slice(1)]);
  }
  const named = [...found.values()];
  if (!named.length) return null;
  const head = element("tr", null, ...["JSON pointer", "what", "output", "reference", "evaluator"].map(name => element("th", {scope: "col"}, name)));
  const rows = named.map(each => element("tr", null, element("th", {scope: "row", class: "pointer"}, each[1] || "(the whole)"), element("td", null, each[2]),
    ...[3, 4].map(at => element("td", null, element("code", null, each[at] === null ? "" : each[at]))), element("td", null, each[0])));
  return element("div", {class: "wide differences", role: "region", "aria-label": "Differences", tabindex: 0},
    element("table", null, element("thead", null, head), element("tbody", null, ...rows)));
}
function side(name, pre) {
  return element("div", {class: name}, element("h3", null, name[0].toUpperCase() + name.slice(1)), pre);
}
function fill(body, sample) {
  body.append(element("ul", {class: "rows"}, ...sample[2].map(rowItem)));
  const texts = sample[3], table = differenceTable(sample[4]);
  if (table) body.append(table);
  if (!texts) { body.append(element("p", {class: "quiet"}, "The texts of this sample are not in this report; they may be in samples.jsonl.")); return; }
  const [output, reference, input] = texts, [left, right] = sides(output || "", reference, sample[4]);
  body.append(right ? element("div", {class: "sides"}, side("output", left), side("reference", right)) : side("output", left));
  if (input !== null) body.append(element("details", {class: "input"}, element("summary", null, "Input"), element("pre", {tabindex: 0}, input)));
}
function card(sample, open) {
  const shown = sample[2].slice(0, 3).map(row => data.evaluators[row[0]] + ": " + labelOf(row)).join(" · ");
  const rest = sample[2].length > 3 ? " · and " + (sample[2].length - 3) + " more" : "";
  const body = element("div", {class: "body"});
  const made = element("details", null, element("summary", null, element("b", null, sample[1]),
    element("span", {class: "quiet"}, (data.runs.length > 1 ? data.runs[sample[0]] + " · " : "") + shown + rest)), body);
  const once = () => { if (!body.firstChild) fill(body, sample); };
  made.addEventListener("toggle", () => { if (made.open) once(); });
  if (open) { once(); made.open = true; }
  return made;
}

function show() {
  const last = Math.max(0, Math.ceil(matching.length / PAGE) - 1);
  page = Math.min(Math.max(page, 0), last);
  const part = matching.slice(page * PAGE, (page + 1) * PAGE);
  $("list").replaceChildren(...part.map((sample, at) => card(sample, at === 0)));
  $("count").textContent = matching.length.toLocaleString("en") + " of " + data.samples.length.toLocaleString("en") + " listed samples, worst first";
  const step = (name, by, off) => { const made = element("button", {type: "button"}, name); made.disabled = off;
    made.addEventListener("click", () => { page += by; show(); remember(); $("samples").scrollIntoView(); const first = $("list").querySelector("summary"); if (first) first.focus(); }); return made; };
  $("pages").hidden = !last;
  $("pages").replaceChildren(step("Previous", -1, page === 0), element("span", null, "Page " + (page + 1) + " of " + (last + 1)), step("Next", 1, page === last));
}
function remember() {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(chosen())) if (value) kept.set(name, value);
  if (page) kept.set("page", page + 1);
  history.replaceState(null, "", "#" + kept);
}
function update() { page = 0; filter(); show(); remember(); }

function control(name, values) {
  const field = values ? element("select", {id: "by-" + name}, element("option", {value: ""}, "all"),
    ...values.map(value => { const made = element("option", null, value); made.value = value; return made; }))
    : element("input", {id: "by-" + name, type: "search", autocomplete: "off"});
  field.addEventListener(values ? "change" : "input", update);
  return element("label", {for: "by-" + name}, name === "text" ? "id, output, reference or input" : name, field);
}
function controls() {
  const labels = new Map();
  for (const sample of data.samples) for (const row of sample[2]) { const label = labelOf(row); labels.set(label, (labels.get(label) || 0) + 1); }
  const often = [...labels].sort((a, b) => b[1] - a[1]).slice(0, 200).map(pair => pair[0]);
  $("filters").replaceChildren(...(data.runs.length > 1 ? [control("run", data.runs)] : []), control("evaluator", data.evaluators),
    control("outcome", STATES), control("label", often), control("reason"), control("text"));
}
function recall() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of FILTERS) { const field = $("by-" + name); if (field) field.value = given.get(name) || ""; if (field && field.selectedIndex < 0) field.value = ""; }
  page = Number(given.get("page") || 1) - 1 || 0;
}
function load(text) { data = JSON.parse(text); controls(); recall(); filter(); show(); }

$("filters").addEventListener("submit", event => event.preventDefault());
$("main").addEventListener("click", event => {
  const link = event.target.closest("a[data-evaluator]");
  if (!link) return;
  event.preventDefault();
  for (const name of FILTERS) { const field = $("by-" + name); if (field) field.value = ""; }
  $("by-evaluator").value = link.dataset.evaluator;
  $("by-label").value = link.dataset.label || "";
  if ($("by-label").selectedIndex < 0) $("by-label").value = "";
  if ($("by-run")) $("by-run").value = link.dataset.run || "";
  update(); $("samples").scrollIntoView();
  if (link.dataset.sample === undefined) $("by-evaluator").focus(); else turnTo(link.dataset.sample);
});
/* Turns to a sample and opens it alone; one that is not listed, as it passed or comes too late, is looked for by its text. */
function turnTo(id) {
  const at = matching.findIndex(sample => visible(sample[1]) === visible(id));
  if (at < 0) { $("by-text").value = id; update(); $("by-text").focus(); return; }
  page = Math.floor(at / PAGE); show(); remember();
  const found = $("list").children[at % PAGE];
  for (const each of $("list").children) each.open = each === found;
  found.scrollIntoView(); found.querySelector("summary").focus();
}
addEventListener("hashchange", () => { if (location.hash.includes("=")) { recall(); filter(); show(); } });
load($("data").textContent);
