/* The table of samples: sorted, filtered, in pages, each row with its texts. */
const PAGE = 50, STATES = ["passed", "failed", "unscored", "error", "no verdict"], MARKS = ["✓", "✗", "?", "!", "·"];
const TONES = ["good", "bad", "warn", "bad", "quiet"], CHANGES = ["worse", "better"];
const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent), many = data.runs.length > 1;
const FILTERS = [...many ? ["run"] : [], "evaluator", "outcome", "label", "text"];
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
/* A name that breaks after / and _ only. */
const breakable = text => text.split(/(?<=[/_])/).flatMap((part, at) => [...at ? [element("wbr")] : [], printable(part)]);

/* A sample: [id, reference, input, one side per run or null]; a side: [one row per evaluator or null, output, differences,
   places in the input]; a row: [state, score, label, reason]; a difference: [evaluator, pointer or a defect's place, what,
   output, reference, tool call]; a place: [what, start, end].
   A text: a string or null; for a long text, [the start of the part that is shown, the part, the length of the whole]. */
const said = (sample, evaluator) => sample[3].map(side => side && side[0][evaluator]);
const isUsual = score => Number.isInteger(score) || Math.abs(score) >= 10 || Math.abs(score) < .1;
const score = row => row[1] === null ? "" : isUsual(row[1]) ? String(row[1]) : row[1].toFixed(3);
/* Whether the last run is better or worse than the first at a sample: 1, -1, 0. */
function change(sample, evaluator) {
  const rows = said(sample, evaluator), [a, b] = [rows[0], rows[rows.length - 1]];
  if (rows.length < 2 || !a || !b) return 0;
  if (a[0] !== b[0] && a[0] < 2 && b[0] < 2) return b[0] ? -1 : 1;
  return a[1] === null || b[1] === null ? 0 : Math.sign(b[1] - a[1]) * (data.lower[evaluator] ? -1 : 1);
}
const everywhere = data.evaluators.map((_, number) => number);
const changes = (sample, evaluators) => evaluators.map(number => change(sample, number));

const chosen = () => Object.fromEntries(FILTERS.map(name => [name, $("by-" + name).value]));
function holds(sample, text) {
  const words = sample[3].flatMap(side => side ? [side[1], ...side[0].map(row => row && row[3])] : []);
  return [...sample.slice(0, 3), ...words].some(each => each && shownOf(each).toLowerCase().includes(text));
}
function filter() {
  const by = chosen(), text = by.text.toLowerCase(), run = data.runs.indexOf(by.run), of = data.evaluators.indexOf(by.evaluator);
  const evaluators = of < 0 ? everywhere : [of], state = STATES.indexOf(by.outcome);
  const turn = {better: 1, worse: -1}[by.outcome];
  const fits = (row, at) => (run < 0 || run === at) && row && (state < 0 || row[0] === state) && (!by.label || row[2] === by.label);
  matching = data.samples.filter(sample => evaluators.some(number => said(sample, number).some(fits))
    && (!turn || changes(sample, evaluators).includes(turn)) && (!text || holds(sample, text)));
  if (order) sort();
}
/* Sorts by a column: the id, or an evaluator's outcome and score. The same column again reverses the order. */
function sort() {
  const compare = new Intl.Collator("en", {numeric: true}).compare, sign = order.down ? -1 : 1;
  const value = sample => {
    const row = said(sample, order.column).pop();
    return row ? (row[0] === 0 ? 1e9 : 0) + (row[1] === null ? -1 : row[1]) : -1e9;
  };
  const keyed = matching.map(sample => [order.column < 0 ? sample[0] : value(sample), sample]);
  keyed.sort(([a], [b]) => sign * (order.column < 0 ? compare(a, b) : a - b));
  matching = keyed.map(pair => pair[1]);
}

function outcome(sample, evaluator) {
  const turn = many ? change(sample, evaluator) : 0, tone = turn < 0 ? " bad" : turn > 0 ? " good" : "";
  const cell = element("td", {class: "outcome" + tone});
  said(sample, evaluator).forEach((row, at) => {
    if (at) cell.append(" → ");
    if (!row) { cell.append("–"); return; }
    cell.append(element("span", {class: TONES[row[0]], title: STATES[row[0]]}, MARKS[row[0]], element("span", {class: "unseen"}, STATES[row[0]])));
    if (row[1] !== null && row[0] + row[1] !== 1) cell.append(" " + score(row));
  });
  return cell;
}
/* The first problem in the last run that has the sample. */
function finding(sample) {
  const side = sample[3].filter(Boolean).pop(), rows = side[0].filter(Boolean);
  const row = rows.find(each => each[0] && each[0] < 4) || rows.find(each => each[2]);
  if (!row) return "";
  const [, , label, reason] = row;
  return label && reason && label !== "failed" ? label + ": " + reason : reason || label;
}
function line(sample) {
  const button = element("button", {type: "button", "aria-expanded": false}, ...breakable(sample[0]));
  const row = element("tr", {class: "sample"}, element("th", {scope: "row"}, button),
    ...everywhere.map(number => outcome(sample, number)), element("td", {class: "finding"}, finding(sample)));
  row.addEventListener("click", event => { if (event.target === button || !getSelection().toString()) turn(row, sample); });
  return row;
}
/* Opens the texts of a listed sample below its row, or closes them. */
function turn(row, sample) {
  const below = row.nextSibling, isOpen = below !== null && below.className === "detail";
  if (isOpen) below.remove();
  else {
    const body = element("div", {class: "body"}, ...detail(sample));
    row.after(element("tr", {class: "detail"}, element("td", {colspan: data.evaluators.length + 2}, body)));
  }
  row.querySelector("button").setAttribute("aria-expanded", !isOpen);
}
function rowItem(number, row) {
  const [, , label, reason] = row;
  return element("li", null, element("span", {class: TONES[row[0]]}, MARKS[row[0]] + " " + STATES[row[0]]), " ",
    element("b", null, data.evaluators[number]), row[1] === null ? "" : " " + score(row),
    label && label !== STATES[row[0]] ? " · " + label : "", reason ? " · " + reason : "");
}
function differenceTable(differences, areCalls) {
  const found = new Map(), several = data.evaluators.length > 1;
  for (const [number, ...rest] of differences.filter(each => typeof each[1] === "string" && isOfCall(each) === areCalls)) {
    const key = JSON.stringify(rest), before = found.get(key);
    found.set(key, [(before ? before[0] + ", " : "") + data.evaluators[number], ...rest]);
  }
  if (!found.size) return null;
  const heads = [...areCalls ? ["call", "argument"] : ["place"], "what", "output", "expected", ...several ? ["evaluator"] : []];
  const rows = [...found.values()].map(([name, pointer, what, output, reference, call]) => element("tr", null,
    areCalls ? element("th", {scope: "row"}, call) : null,
    element(areCalls ? "td" : "th", {class: "name"}, ...breakable(pointer || (areCalls ? "(the call)" : "(the whole)"))),
    element("td", null, what), ...[output, reference].map(value => element("td", null, element("code", null, value || ""))),
    several ? element("td", {class: "quiet"}, name) : null));
  const head = element("tr", null, ...heads.map(name => element("th", {scope: "col"}, name)));
  const table = element("table", null, element("thead", null, head), element("tbody", null, ...rows));
  const name = rows.length + (areCalls ? (rows.length === 1 ? " error in the calls" : " errors in the calls") : rows.length === 1 ? " difference" : " differences");
  const wide = element("div", {class: "wide places", role: "region", "aria-label": name, tabindex: 0}, table);
  return element("details", rows.length > 8 || many ? null : {open: ""}, element("summary", null, name), wide);
}
function text(name, value, pieces, kind = "output") {
  const pre = element("pre", {tabindex: 0}), holder = element("div", {class: kind}, element("h3", null, name));
  for (const [piece, mark] of pieces) pre.append(mark === null ? visible(piece) : element("mark", {title: mark || null}, piece));
  if (isPart(value)) {
    const [begin, part, all] = value, figures = [begin + 1, begin + Array.from(part).length, all].map(number => number.toLocaleString("en"));
    holder.append(element("p", {class: "quiet"}, "Characters " + figures[0] + " to " + figures[1] + " of " + figures[2]));
  }
  holder.append(pre);
  return holder;
}
/* The content below an open row: results, differences, the texts side by side, and the input. */
function detail(sample) {
  const [, reference, input, several] = sample, shown = several.map((side, at) => [side, data.runs[at]]).filter(([side]) => side);
  const parts = shown.flatMap(([side, run]) => [
    element("ul", {class: "rows"}, many ? element("li", null, element("b", {class: "run"}, run)) : null, ...side[0].flatMap((row, number) => row ? [rowItem(number, row)] : [])),
    differenceTable(side[2], true), differenceTable(side[2], false)]);
  const outputs = shown.filter(([side]) => side[1] !== null);
  if (!outputs.length) return [...parts, element("p", {class: "quiet"}, "The texts of this sample are not in this page. A run keeps only the texts of samples that did not pass. Other texts are read from the data, if it is still the same and the page has room.")];
  const marked = outputs.map(([side]) => sides(side[1], reference, side[2]));
  const versus = reference === null && outputs.length > 1 ? sides(outputs[0][0][1], outputs[1][0][1], []) : [];
  const texts = outputs.map(([side, run], at) => text(many ? "Output of " + run : "Output", side[1], versus[at] || marked[at][0]));
  for (const [, run] of shown.filter(([side]) => side[1] === null)) texts.push(element("div", null, element("h3", null, "Output of " + run), element("p", {class: "quiet"}, "The run did not keep this output, because it passed, and the data has moved or changed.")));
  if (reference !== null) texts.push(text("Reference", reference, outputs.length > 1 ? sides(reference, null, [])[0] : marked[0][1], "reference"));
  const both = element("div", {class: "sides of-" + Math.min(texts.length, 3)}, ...texts);
  const areCalls = outputs.some(([side]) => side[2].some(isOfCall)), places = outputs.flatMap(([side]) => side[3]);
  const source = input === null ? null : text("Input", input, piecesOf(input, places), "reference");
  return [...parts,
    areCalls ? element("details", null, element("summary", null, "Original texts"), both) : both,
    source && element("details", {class: "input", ...places.length ? {open: ""} : {}}, element("summary", null, "Input"), source)];
}

/* The head of the table; a click on a name sorts by it. */
function heads() {
  const made = [["sample", -1], ...data.evaluators.map((name, number) => [name, number])].map(([name, column]) => {
    const button = element("button", {type: "button"}, ...breakable(name)), head = element("th", {scope: "col", "data-column": column}, button);
    button.addEventListener("click", () => { order = {column, down: order && order.column === column ? !order.down : false}; update(); });
    return head;
  });
  return element("thead", null, element("tr", null, ...made, element("th", {scope: "col"}, "problem")));
}
/* Shows a page of the samples. */
function show() {
  const last = Math.max(0, Math.ceil(matching.length / PAGE) - 1), all = data.samples.length;
  page = Math.min(Math.max(page, 0), last);
  $("list").querySelector("tbody").replaceChildren(...matching.slice(page * PAGE, (page + 1) * PAGE).map(line));
  for (const head of $("list").querySelectorAll("th[data-column]")) {
    const isSorted = order && order.column === Number(head.dataset.column);
    head.setAttribute("aria-sort", !isSorted ? "none" : order.down ? "descending" : "ascending");
  }
  $("list").hidden = !matching.length;
  const clear = element("button", {type: "button"}, "Clear filters");
  clear.addEventListener("click", () => { for (const name of FILTERS) put(name, ""); update(); $("by-text").focus(); });
  const ordered = order ? "" : many ? ", those that got worse first" : ", worst first", count = number => number.toLocaleString("en");
  const counted = matching.length ? count(matching.length) + " of " + count(all) + " samples" + ordered : all ? "No sample has all of this. " : "There are no samples. ";
  const unlisted = data.count > all ? ". The run has " + count(data.count) + "; the others are in results.jsonl" : "";
  $("count").replaceChildren(counted + unlisted + " ", ...Object.values(chosen()).some(Boolean) ? [clear] : []);
  const [previous, where, next] = $("pages").children;
  $("pages").hidden = !last; previous.disabled = page === 0; next.disabled = page === last;
  where.textContent = "Page " + (page + 1) + " of " + (last + 1);
}
function step(name, by) {
  const made = element("button", {type: "button"}, name);
  made.addEventListener("click", () => { page += by; show(); remember(); $("samples").scrollIntoView(); $("list").querySelector("tbody button").focus(); });
  return made;
}
/* The address keeps filters, order and page. */
function remember() {
  const kept = new URLSearchParams(Object.entries(chosen()).filter(([, value]) => value));
  if (order) kept.set("sort", (order.down ? "-" : "") + (order.column < 0 ? "id" : data.evaluators[order.column]));
  if (page) kept.set("page", page + 1);
  history.replaceState(null, "", "#" + kept);
}
function recall() {
  const given = new URLSearchParams(location.hash.slice(1)), by = given.get("sort");
  for (const name of FILTERS) put(name, given.get(name) || "");
  if (by) { const name = by.replace(/^-/, ""); order = {column: name === "id" ? -1 : data.evaluators.indexOf(name), down: by !== name}; }
  page = Number(given.get("page") || 1) - 1 || 0;
}
function update() { page = 0; filter(); show(); remember(); }

function control(name) {
  const isText = name === "text", id = "by-" + name;
  const field = isText ? element("input", {id, type: "search", autocomplete: "off", placeholder: "id, reason or text"}) : element("select", {id}, element("option", {value: ""}, "all"));
  field.addEventListener(isText ? "input" : "change", update);
  return element("label", {for: id}, isText ? "search" : name, field);
}
function offer(name, values) {
  for (const value of values) { const made = element("option", null, value); made.value = value; $("by-" + name).append(made); }
}
/* Offers the values that occur, and of labels the most frequent ones. */
function offerAll() {
  const rows = data.samples.flatMap(sample => sample[3].flatMap(side => side ? side[0].filter(Boolean) : [])), labels = new Map();
  for (const row of rows) labels.set(row[2], (labels.get(row[2]) || 0) + 1);
  const often = [...labels].sort((a, b) => b[1] - a[1]).map(pair => pair[0]).filter(Boolean).slice(0, 200);
  if (many) offer("run", data.runs);
  offer("evaluator", data.evaluators);
  offer("outcome", [...many ? CHANGES : [], ...STATES.filter((_, state) => rows.some(row => row[0] === state))]);
  offer("label", often);
}
/* Sets a filter. A label that is not offered is added, because otherwise all samples would be shown. */
function put(name, value) {
  const field = $("by-" + name);
  field.value = value;
  if (name === "label" && field.selectedIndex < 0) { offer(name, [value]); field.value = value; }
  if (field.selectedIndex < 0) field.value = "";
}
/* Turns to a sample and opens it. If it is not listed, its id is searched for. */
function turnTo(id) {
  const at = matching.findIndex(sample => printable(sample[0]) === printable(id));
  if (at < 0) { $("by-text").value = id; update(); $("by-text").focus(); return; }
  page = Math.floor(at / PAGE); show(); remember();
  const row = $("list").querySelectorAll("tr.sample")[at % PAGE];
  turn(row, matching[at]);
  row.scrollIntoView(); row.querySelector("button").focus();
}
$("filters").append(...FILTERS.map(control));
$("list").append(element("table", {class: "samples"}, heads(), element("tbody")));
$("pages").append(step("Previous", -1), element("span"), step("Next", 1));
/* With several runs, samples that got worse come first, then samples that got better. */
const rank = sample => { const found = changes(sample, everywhere); return found.includes(-1) ? 0 : found.includes(1) ? 1 : 2; };
if (many) data.samples = data.samples.map(sample => [rank(sample), sample]).sort(([a], [b]) => a - b).map(pair => pair[1]);
addEventListener("hashchange", () => { if (location.hash.includes("=")) { recall(); filter(); show(); } });
$("filters").addEventListener("submit", event => event.preventDefault());
$("main").addEventListener("click", event => {
  const all = event.target.closest("button.all"), link = event.target.closest("a[href='#samples']");
  if (all) { all.previousElementSibling.querySelector("tbody[hidden]").hidden = false; all.remove(); }
  if (!link) return;
  event.preventDefault();
  for (const name of FILTERS) put(name, link.dataset[name] || "");
  update(); $("samples").scrollIntoView();
  if (link.dataset.sample === undefined) $("by-evaluator").focus(); else turnTo(link.dataset.sample);
});
offerAll(); recall(); filter(); show();
