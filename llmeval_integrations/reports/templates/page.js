/* The table of samples: sorted, filtered, in pages, each row with its texts. */
const PAGE = 50, STATES = ["passed", "failed", "unscored", "error", "no verdict"], MARKS = ["✓", "✗", "?", "!", "·"];
const TONES = ["good", "bad", "warn", "bad", "quiet"], CHANGES = ["worse", "better"];
const $ = id => document.getElementById(id), fields = $("filters").elements, body = $("list").querySelector("tbody");

/* The data has lists in the place of objects, so that it is short. A side is what one run has of a sample, or null. A place of a
   difference is a pointer or the offset of a defect, a place in the input is [what, start, end]. */
const textOf = text => Array.isArray(text) ? {begin: text[0], shown: text[1], length: text[2]} : text;
const rowOf = row => row && {state: row[0], score: row[1], label: row[2], reason: row[3]};
const differenceOf = ([evaluator, place, what, output, reference, call]) => ({evaluator, place, what, output, reference, call});
const sideOf = side => side && {rows: side[0].map(rowOf), output: textOf(side[1]), differences: side[2].map(differenceOf), places: side[3]};
const {runs, evaluators, lower, count, samples} = JSON.parse($("data").textContent), many = runs.length > 1;
let every = samples.map(([id, reference, input, sides]) => ({id, reference: textOf(reference), input: textOf(input), sides: sides.map(sideOf)}));
let matching = [], page = 0, order = null;

/* Text from models only becomes text nodes. Characters that hide or turn text become escapes, as in make_printable(). */
const SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"};
function escaped(char) {
  const code = char.codePointAt(0), [letter, digits] = code < 256 ? ["x", 2] : code < 65536 ? ["u", 4] : ["U", 8];
  return SHORT[char] || "\\" + letter + code.toString(16).padStart(digits, "0");
}
const printable = text => text.replace(/(?! )[\p{C}\p{Z}]/gu, escaped);
/* The same, but it keeps line breaks, tabs and spaces of any width. */
const visible = text => text.replace(/(?![\n\t])[\p{C}\p{Zl}\p{Zp}]/gu, escaped);
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) if (value !== null) made.setAttribute(key, value);
  for (const child of children) if (child !== null) made.append(typeof child === "string" ? visible(child) : child);
  return made;
}
/* A name that breaks after / and _ only, but not after the first slash of a path. */
const breakable = text => text.split(/(?<=[^\s/][/_])/).flatMap((part, at) => [...at ? [element("wbr")] : [], printable(part)]);
const figure = number => number.toLocaleString("en"), plural = (number, noun) => number + " " + noun + (number === 1 ? "" : "s");

const rowsOf = (sample, evaluator) => sample.sides.map(side => side && side.rows[evaluator]);
const isShort = score => Number.isInteger(score) || Math.abs(score) >= 10 || Math.abs(score) < .1;
/* A score below 1 is not written as 1. */
const written = score => isShort(score) || score.toFixed(3) === "1.000" ? String(score) : score.toFixed(3);
/* Whether the last run is better or worse than the first at a sample: 1, -1, 0. */
function change(sample, evaluator) {
  const rows = rowsOf(sample, evaluator), [a, b] = [rows[0], rows[rows.length - 1]];
  if (rows.length < 2 || !a || !b) return 0;
  if (a.state !== b.state && a.state < 2 && b.state < 2) return b.state ? -1 : 1;
  return a.score === null || b.score === null ? 0 : Math.sign(b.score - a.score) * (lower[evaluator] ? -1 : 1);
}
const everywhere = evaluators.map((_, number) => number);
const changes = (sample, places) => places.map(number => change(sample, number));

const chosen = () => Object.fromEntries(new FormData($("filters")));
function holds(sample, text) {
  const words = sample.sides.flatMap(side => side ? [side.output, ...side.rows.map(row => row && row.reason)] : []);
  return [sample.id, sample.reference, sample.input, ...words].some(each => each && shownOf(each).toLowerCase().includes(text));
}
function filter() {
  const by = chosen(), text = by.text.toLowerCase(), run = runs.indexOf(by.run), evaluator = evaluators.indexOf(by.evaluator);
  const places = evaluator < 0 ? everywhere : [evaluator], state = STATES.indexOf(by.outcome), turn = {better: 1, worse: -1}[by.outcome];
  const fits = (row, at) => (run < 0 || run === at) && row && (state < 0 || row.state === state) && (!by.label || row.label === by.label);
  matching = every.filter(sample => places.some(number => rowsOf(sample, number).some(fits))
    && (!turn || changes(sample, places).includes(turn)) && (!text || holds(sample, text)));
  if (order) sort();
}
/* Sorts by a column: the id, or an evaluator's outcome and score. */
function sort() {
  const compare = new Intl.Collator("en", {numeric: true}).compare, sign = order.down ? -1 : 1;
  const value = sample => {
    const row = rowsOf(sample, order.column).pop();
    return row ? (row.state === 0 ? 1e9 : 0) + (row.score === null ? -1 : row.score) : -1e9;
  };
  const keyed = matching.map(sample => [order.column < 0 ? sample.id : value(sample), sample]);
  keyed.sort(([a], [b]) => sign * (order.column < 0 ? compare(a, b) : a - b));
  matching = keyed.map(pair => pair[1]);
}

function outcome(sample, evaluator) {
  const turn = many ? change(sample, evaluator) : 0, tone = turn < 0 ? " bad" : turn > 0 ? " good" : "";
  const cell = element("td", {class: "outcome" + tone});
  rowsOf(sample, evaluator).forEach((row, at) => {
    if (at) cell.append(" → ");
    if (!row) { cell.append("–"); return; }
    const state = STATES[row.state], said = element("span", {class: "unseen"}, state);
    cell.append(element("span", {class: TONES[row.state], title: state}, MARKS[row.state], said));
    if (row.score !== null && row.state + row.score !== 1) cell.append(" " + written(row.score));
    if (row.state === 4 && row.label) cell.append(" ", element("span", {class: "label"}, row.label));
  });
  return cell;
}
/* The first problem in the last run that has the sample. */
function problem(sample) {
  const side = sample.sides.filter(Boolean).pop(), rows = side.rows.filter(Boolean);
  const row = rows.find(each => each.state && each.state < 4);
  if (!row) return "";
  return row.label && row.reason && row.label !== "failed" ? row.label + ": " + row.reason : row.reason || row.label;
}
function line(sample) {
  const button = element("button", {type: "button", "aria-expanded": false}, ...breakable(sample.id));
  const row = element("tr", {class: "sample"}, element("th", {scope: "row"}, button),
    ...everywhere.map(number => outcome(sample, number)), element("td", {class: "finding"}, problem(sample)));
  row.addEventListener("click", event => { if (event.target === button || !getSelection().toString()) turn(row, sample); });
  return row;
}
/* Opens the texts of a listed sample below its row, or closes them. */
function turn(row, sample) {
  const below = row.nextSibling, isOpen = below !== null && below.className === "detail";
  if (isOpen) below.remove();
  else {
    const content = element("div", {class: "body"}, ...detail(sample));
    row.after(element("tr", {class: "detail"}, element("td", {colspan: evaluators.length + 2}, content)));
  }
  row.querySelector("button").setAttribute("aria-expanded", !isOpen);
}
function rowItem(number, {state, score, label, reason}) {
  return element("li", null, element("span", {class: TONES[state]}, MARKS[state] + " " + STATES[state]), " ",
    element("b", null, evaluators[number]), score === null ? "" : " " + written(score),
    label && label !== STATES[state] ? " · " + label : "", reason ? " · " + reason : "");
}
function differenceTable(differences, areCalls) {
  const found = new Map(), several = evaluators.length > 1;
  for (const each of differences.filter(each => !isDefect(each) && isOfCall(each) === areCalls)) {
    const key = JSON.stringify({...each, evaluator: null}), same = found.get(key), name = evaluators[each.evaluator];
    found.set(key, {...each, name: same ? same.name + ", " + name : name});
  }
  if (!found.size) return null;
  const heads = [...areCalls ? ["call", "argument"] : ["place"], "what", "output", "expected", ...several ? ["evaluator"] : []];
  const rows = [...found.values()].map(({call, place, what, output, reference, name}) => element("tr", null,
    areCalls ? element("th", {scope: "row"}, call) : null,
    element(areCalls ? "td" : "th", {class: "name"}, ...breakable(place || (areCalls ? "(the call)" : "(the whole)"))),
    element("td", null, what), ...[output, reference].map(value => element("td", null, element("code", null, value || ""))),
    several ? element("td", {class: "quiet"}, name) : null));
  const head = element("tr", null, ...heads.map(name => element("th", {scope: "col"}, name)));
  const table = element("table", null, element("thead", null, head), element("tbody", null, ...rows));
  const title = areCalls ? plural(rows.length, "error") + " in the calls" : plural(rows.length, "difference");
  const wide = element("div", {class: "wide places", role: "region", "aria-label": title, tabindex: 0}, table);
  return element("details", rows.length > 8 || many ? null : {open: ""}, element("summary", null, title), wide);
}
function text(name, value, pieces, kind = "output") {
  const pre = element("pre", {tabindex: 0}), holder = element("div", {class: kind}, element("h3", null, name));
  for (const [piece, mark] of pieces) pre.append(mark === null ? visible(piece) : element("mark", {title: mark || null}, piece));
  if (isPart(value)) {
    const last = value.begin + Array.from(value.shown).length;
    holder.append(quiet("Characters " + figure(value.begin + 1) + " to " + figure(last) + " of " + figure(value.length)));
  }
  holder.append(pre);
  return holder;
}
const quiet = text => element("p", {class: "quiet"}, text);
/* The content below an open row: results, differences, the texts side by side, and the input. */
function detail(sample) {
  const {reference, input} = sample, sidesOf = sample.sides.map((side, at) => ({...side, run: runs[at]})).filter(side => side.rows);
  const parts = sidesOf.flatMap(({rows, differences, run}) => [
    element("ul", {class: "rows"}, many ? element("li", null, element("b", {class: "run"}, run)) : null, ...rows.flatMap((row, number) => row ? [rowItem(number, row)] : [])),
    differenceTable(differences, true), differenceTable(differences, false)]);
  const outputs = sidesOf.filter(side => side.output !== null);
  if (!outputs.length) return [...parts, quiet("The texts of this sample are not in this page. A run keeps only the texts of samples that did not pass. Other texts are read from the data, if it is still the same and the page has room.")];
  const marked = outputs.map(side => sides(side.output, reference, side.differences));
  const versus = reference === null && outputs.length > 1 ? sides(outputs[0].output, outputs[1].output, []) : [];
  const texts = outputs.map(({output, run}, at) => text(many ? "Output of " + run : "Output", output, versus[at] || marked[at][0]));
  for (const {run} of sidesOf.filter(side => side.output === null)) texts.push(element("div", null, element("h3", null, "Output of " + run), quiet("The run did not keep this output, because it passed, and the data has moved or changed.")));
  if (reference !== null) texts.push(text("Reference", reference, outputs.length > 1 ? sides(reference, null, [])[0] : marked[0][1], "reference"));
  const both = element("div", {class: "sides of-" + Math.min(texts.length, 3)}, ...texts);
  const areCalls = outputs.some(side => side.differences.some(isOfCall)), places = outputs.flatMap(side => side.places);
  const source = input === null ? null : text("Input", input, piecesOf(input, places), "reference");
  return [...parts,
    areCalls ? element("details", null, element("summary", null, "Original texts"), both) : both,
    source && element("details", {class: "input", ...places.length ? {open: ""} : {}}, element("summary", null, "Input"), source)];
}

/* Shows a page of the samples. */
function show() {
  const last = Math.max(0, Math.ceil(matching.length / PAGE) - 1), [previous, where, next] = $("pages").children;
  page = Math.min(Math.max(page, 0), last);
  body.replaceChildren(...matching.slice(page * PAGE, (page + 1) * PAGE).map(line));
  heads.forEach((head, at) => head.setAttribute("aria-sort", !order || order.column !== at - 1 ? "none" : order.down ? "descending" : "ascending"));
  $("list").hidden = !matching.length;
  $("clear").hidden = !Object.values(chosen()).some(Boolean);
  const ordered = order ? "" : many ? ", those that got worse first" : ", worst first";
  const counted = matching.length ? figure(matching.length) + " of " + figure(every.length) + " samples" + ordered : every.length ? "No sample has all of this." : "There are no samples.";
  $("count").textContent = counted + (count > every.length ? ". The run has " + figure(count) + "; the others are in results.jsonl" : "");
  $("pages").hidden = !last; previous.disabled = page === 0; next.disabled = page === last;
  where.textContent = "Page " + (page + 1) + " of " + (last + 1);
}
/* The address keeps filters, order and page. */
function remember() {
  const kept = new URLSearchParams(Object.entries(chosen()).filter(([, value]) => value));
  if (order) kept.set("sort", (order.down ? "-" : "") + (order.column < 0 ? "id" : evaluators[order.column]));
  if (page) kept.set("page", page + 1);
  history.replaceState(null, "", "#" + kept);
}
function recall() {
  const given = new URLSearchParams(location.hash.slice(1)), by = given.get("sort");
  for (const field of fields) put(field, given.get(field.name) || "");
  if (by) { const name = by.replace(/^-/, ""); order = {column: name === "id" ? -1 : evaluators.indexOf(name), down: by !== name}; }
  page = Number(given.get("page") || 1) - 1 || 0;
}
function update() { page = 0; filter(); show(); remember(); }

function offer(name, values) { for (const value of values) fields[name].append(new Option(visible(value), value)); }
/* Offers the values that occur, and of labels the most frequent ones. */
function offerAll() {
  const rows = every.flatMap(sample => sample.sides.flatMap(side => side ? side.rows.filter(Boolean) : [])), labels = new Map();
  for (const {label} of rows) if (label) labels.set(label, (labels.get(label) || 0) + 1);
  if (many) offer("run", runs);
  offer("evaluator", evaluators);
  offer("outcome", [...many ? CHANGES : [], ...STATES.filter((_, state) => rows.some(row => row.state === state))]);
  offer("label", [...labels].sort((a, b) => b[1] - a[1]).slice(0, 200).map(pair => pair[0]));
}
/* Sets a filter. A label that is not offered is added, because otherwise all samples would be shown. */
function put(field, value) {
  field.value = value;
  if (field.name === "label" && field.selectedIndex < 0) { offer("label", [value]); field.value = value; }
  if (field.selectedIndex < 0) field.value = "";
}
/* Turns to a sample and opens it. If it is not listed, its id is searched for. */
function turnTo(id) {
  const at = matching.findIndex(sample => printable(sample.id) === printable(id));
  if (at < 0) { fields.text.value = id; update(); fields.text.focus(); return; }
  page = Math.floor(at / PAGE); show(); remember();
  const row = body.querySelectorAll("tr.sample")[at % PAGE];
  turn(row, matching[at]);
  row.scrollIntoView(); row.querySelector("button").focus();
}
/* With several runs, samples that got worse come first, then samples that got better. */
const rank = sample => { const found = changes(sample, everywhere); return found.includes(-1) ? 0 : found.includes(1) ? 1 : 2; };
if (many) every = every.map(sample => [rank(sample), sample]).sort(([a], [b]) => a - b).map(pair => pair[1]);
/* A click on a head sorts by its column, a second one reverses the order. */
const heads = [...$("list").querySelectorAll("thead th")].slice(0, -1);
heads.forEach((head, at) => head.addEventListener("click", () => {
  order = {column: at - 1, down: order && order.column === at - 1 ? !order.down : false};
  update();
}));
for (const [at, by] of [[0, -1], [2, 1]]) $("pages").children[at].addEventListener("click", () => {
  page += by; show(); remember(); $("samples").scrollIntoView(); body.querySelector("button").focus();
});
addEventListener("hashchange", () => { if (location.hash.includes("=")) { recall(); filter(); show(); } });
$("filters").addEventListener("input", update);
$("filters").addEventListener("submit", event => event.preventDefault());
$("clear").addEventListener("click", () => { $("filters").reset(); update(); fields.text.focus(); });
$("main").addEventListener("click", event => {
  const all = event.target.closest("button.all"), link = event.target.closest("a[href='#samples']");
  if (all) { all.previousElementSibling.querySelector("tbody[hidden]").hidden = false; all.remove(); }
  if (!link) return;
  event.preventDefault();
  for (const field of fields) put(field, link.dataset[field.name] || "");
  update(); $("samples").scrollIntoView();
  if (link.dataset.sample === undefined) fields.evaluator.focus(); else turnTo(link.dataset.sample);
});
offerAll(); recall(); filter(); show();
