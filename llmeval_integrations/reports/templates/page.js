/* The table of samples: sorted, filtered, in pages, each row with its texts. */
const PAGE = 50, STATES = ["passed", "failed", "unscored", "error", "no verdict"], MARKS = ["✓", "✗", "?", "!", "·"], FILTERS = ["run", "evaluator", "outcome", "label", "text"];
const TONES = ["good", "bad", "warn", "bad", "quiet"], CHANGES = ["worse", "better"];
const $ = id => document.getElementById(id);
let data, matching = [], page = 0, order = null, listed = new Map();

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
  for (const [key, value] of Object.entries(attributes || {})) if (value !== null) made.setAttribute(key, value);
  for (const child of children) if (child !== null) made.append(typeof child === "string" ? visible(child) : child);
  return made;
}
/* A name that breaks after / and _ only. */
const breakable = text => text.split(/(?<=[/_])/).flatMap(part => [document.createElement("wbr"), document.createTextNode(printable(part))]).slice(1);

/* A sample: [id, reference, input, one side per run or null]; a side: [one row per evaluator or null, output, differences];
   a row: [state, score, label, reason]; a difference: [evaluator, pointer or a defect's place, what, output, reference, tool call].
   A text: a string, null, or of a long one [where the part that is shown begins, the part, characters in all]. */
const said = (sample, evaluator) => sample[3].map(side => side && side[0][evaluator]);
const score = row => row[1] === null ? "" : Number.isInteger(row[1]) || Math.abs(row[1]) >= 10 || Math.abs(row[1]) < .1 ? String(row[1]) : row[1].toFixed(3);
/* Whether the last run is better or worse than the first at a sample: 1, -1, 0. */
function change(sample, evaluator) {
  const rows = said(sample, evaluator), [a, b] = [rows[0], rows[rows.length - 1]];
  if (rows.length < 2 || !a || !b) return 0;
  if (a[0] !== b[0] && a[0] < 2 && b[0] < 2) return b[0] ? -1 : 1;
  return a[1] === null || b[1] === null ? 0 : Math.sign(b[1] - a[1]) * (data.lower[evaluator] ? -1 : 1);
}
const everywhere = () => data.evaluators.map((_, number) => number);
const changes = (sample, evaluators) => evaluators.map(number => change(sample, number));

function chosen() { return Object.fromEntries(FILTERS.map(name => [name, $("by-" + name) ? $("by-" + name).value : ""])); }
function filter() {
  const by = chosen(), text = by.text.toLowerCase(), run = data.runs.indexOf(by.run), of = data.evaluators.indexOf(by.evaluator);
  const evaluators = of < 0 ? everywhere() : [of], state = STATES.indexOf(by.outcome), label = data.labels.indexOf(by.label), direction = CHANGES.indexOf(by.outcome);
  const fits = row => row && (state < 0 || row[0] === state) && (!by.label || row[2] === label);
  const holds = sample => [sample[0], sample[1], sample[2], ...sample[3].flatMap(side => side ? [side[1], ...side[0].map(row => row && data.reasons[row[3]])] : [])]
    .some(each => each && shownOf(each).toLowerCase().includes(text));
  matching = data.samples.filter(sample => evaluators.some(number => said(sample, number).some((row, at) => (run < 0 || run === at) && fits(row)))
    && (direction < 0 || changes(sample, evaluators).includes(direction ? 1 : -1)) && (!text || holds(sample)));
  if (order) sort();
}
/* Sorts by a column: the id, or an evaluator's outcome and score; twice the same column turns the order. */
function sort() {
  const key = order.column < 0 ? sample => [sample[0]] : sample => { const rows = said(sample, order.column), row = rows[rows.length - 1]; return row ? [row[0] === 0 ? 1 : 0, row[1] === null ? -1 : row[1]] : [-1, -1]; };
  const keyed = matching.map(sample => [key(sample), sample]);
  const compare = (a, b) => typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b;
  keyed.sort(([a], [b]) => { for (let at = 0; at < a.length; at++) { const sign = compare(a[at], b[at]); if (sign) return order.down ? -sign : sign; } return 0; });
  matching = keyed.map(pair => pair[1]);
}
/* Of two runs samples that got worse come first, then those that got better. */
function arrange() {
  if (data.runs.length < 2) return;
  const rank = sample => { const found = changes(sample, everywhere()); return found.includes(-1) ? 0 : found.includes(1) ? 1 : 2; };
  data.samples = data.samples.map(sample => [rank(sample), sample]).sort(([a], [b]) => a - b).map(pair => pair[1]);
}

function outcome(sample, evaluator) {
  const rows = said(sample, evaluator), turn = data.runs.length > 1 ? change(sample, evaluator) : 0;
  const cell = element("td", {class: "outcome" + (turn < 0 ? " bad" : turn > 0 ? " good" : "")});
  rows.forEach((row, at) => {
    if (at) cell.append(" → ");
    if (!row) { cell.append("–"); return; }
    cell.append(element("span", {class: TONES[row[0]], title: STATES[row[0]]}, MARKS[row[0]], element("span", {class: "unseen"}, STATES[row[0]])));
    if (row[1] !== null && !(row[0] === 0 && row[1] === 1) && !(row[0] === 1 && row[1] === 0)) cell.append(" " + score(row));
  });
  return cell;
}
/* The first thing that is wrong, of the last run that has the sample. */
function finding(sample) {
  const side = [...sample[3]].reverse().find(each => each), row = side && (side[0].find(each => each && each[0] && each[0] < 4) || side[0].find(each => each && data.labels[each[2]]));
  if (!row) return "";
  const label = data.labels[row[2]], reason = data.reasons[row[3]] || "";
  return label && reason && label !== "failed" ? label + ": " + reason : reason || label;
}
function line(name, sample) {
  const button = element("button", {type: "button", "aria-expanded": false}, ...breakable(sample[0]));
  const row = element("tr", {class: "sample"}, element("th", {scope: "row"}, button), ...everywhere().map(number => outcome(sample, number)), element("td", {class: "finding"}, finding(sample)));
  row.addEventListener("click", event => { if (event.target === button || !getSelection().toString()) turn(name); });
  return row;
}
/* Opens the texts of a listed sample below its row, or closes them. */
function turn(name) {
  const entry = listed.get(name);
  if (entry.detail) { entry.detail.remove(); entry.detail = null; } else { entry.detail = detail(entry.sample); entry.row.after(entry.detail); }
  entry.row.querySelector("button").setAttribute("aria-expanded", entry.detail !== null);
}
function detail(sample) {
  const body = element("div", {class: "body"});
  fill(body, sample);
  return element("tr", {class: "detail"}, element("td", {colspan: data.evaluators.length + 2}, body));
}
function rowItem(number, row) {
  const label = data.labels[row[2]], reason = data.reasons[row[3]];
  return element("li", null, element("span", {class: TONES[row[0]]}, MARKS[row[0]] + " " + STATES[row[0]]), " ", element("b", null, data.evaluators[number]), row[1] === null ? "" : " " + score(row),
    label && label !== STATES[row[0]] ? " · " + label : "", reason ? " · " + reason : "");
}
function differenceTable(differences, areCalls) {
  const found = new Map();
  for (const [number, ...told] of differences.filter(each => typeof each[1] === "string" && isOfCall(each) === areCalls)) {
    const key = JSON.stringify(told), name = data.evaluators[number];
    if (found.has(key)) found.get(key)[0] += ", " + name; else found.set(key, [name, ...told]);
  }
  if (!found.size) return null;
  const heads = [...areCalls ? ["call", "argument"] : ["place"], "what", "output", "expected", ...data.evaluators.length > 1 ? ["evaluator"] : []];
  const rows = [...found.values()].map(([name, pointer, what, output, reference, call]) => element("tr", null,
    ...areCalls ? [element("th", {scope: "row"}, call), element("td", {class: "name"}, ...breakable(pointer || "(the call)"))] : [element("th", {scope: "row", class: "name"}, ...breakable(pointer || "(the whole)"))],
    element("td", null, what), element("td", null, element("code", null, output || "")), element("td", null, element("code", null, reference || "")), data.evaluators.length > 1 ? element("td", {class: "quiet"}, name) : null));
  const table = element("div", {class: "wide places", role: "region", "aria-label": areCalls ? "Wrong calls" : "Differences", tabindex: 0},
    element("table", null, element("thead", null, element("tr", null, ...heads.map(name => element("th", {scope: "col"}, name)))), element("tbody", null, ...rows)));
  return element("details", rows.length > 8 ? null : {open: ""}, element("summary", null, rows.length + (areCalls ? " wrong in the calls" : rows.length === 1 ? " difference" : " differences")), table);
}
function text(name, value, pieces) {
  const pre = element("pre", {tabindex: 0}), holder = element("div", {class: name.startsWith("Reference") ? "reference" : "output"}, element("h3", null, name));
  for (const [piece, isMarked] of pieces) pre.append(isMarked ? element("mark", null, piece) : visible(piece));
  if (isPart(value)) {
    const [begin, part, all] = value, figures = [begin + 1, begin + Array.from(part).length, all].map(number => number.toLocaleString("en"));
    holder.append(element("p", {class: "quiet"}, "Characters " + figures[0] + " to " + figures[1] + " of " + figures[2]));
  }
  holder.append(pre);
  return holder;
}
function fill(body, sample) {
  const [, reference, input, several] = sample, shown = several.map((side, at) => [side, data.runs[at]]).filter(([side]) => side), many = data.runs.length > 1;
  for (const [side, run] of shown) {
    body.append(element("ul", {class: "rows"}, many ? element("li", null, element("b", {class: "run"}, run)) : null, ...side[0].flatMap((row, number) => row ? [rowItem(number, row)] : [])));
    for (const table of [differenceTable(side[2], true), differenceTable(side[2], false)]) if (table) { if (many) table.removeAttribute("open"); body.append(table); }
  }
  const outputs = shown.filter(([side]) => side[1] !== null);
  if (!outputs.length) { body.append(element("p", {class: "quiet"}, "The texts of this sample are not in this page: a run keeps those that did not pass, and the file of data has moved or changed, or there is no room.")); return; }
  const marked = outputs.map(([side]) => sides(side[1], reference, side[2])), versus = reference === null && outputs.length > 1 ? sides(outputs[0][0][1], outputs[1][0][1], []) : null;
  const texts = outputs.map(([side, run], at) => text(many ? "Output of " + run : "Output", side[1], versus && at < 2 ? versus[at] : marked[at][0]));
  for (const [, run] of shown.filter(([side]) => side[1] === null)) texts.push(element("div", null, element("h3", null, "Output of " + run), element("p", {class: "quiet"}, "It was not kept, as it passed, and the data has moved or changed.")));
  if (reference !== null) texts.push(text("Reference", reference, outputs.length === 1 ? marked[0][1] : sides(reference, null, [])[0]));
  const both = element("div", {class: "sides of-" + Math.min(texts.length, 3)}, ...texts);
  const areCalls = outputs.some(([side]) => side[2].some(isOfCall));
  body.append(areCalls ? element("details", null, element("summary", null, "The texts as they were given"), both) : both);
  if (input !== null) body.append(element("details", {class: "input"}, element("summary", null, "Input"), text("Input", input, [[shownOf(input), false]])));
}

/* The head of the table, whose names sort it. */
function heads() {
  const made = [["sample", -1], ...data.evaluators.map((name, number) => [name, number])].map(([name, column]) => {
    const button = element("button", {type: "button"}, ...breakable(name)), head = element("th", {scope: "col"}, button);
    button.addEventListener("click", () => { order = {column, down: order && order.column === column ? !order.down : false}; update(); });
    head.dataset.column = column;
    return head;
  });
  return element("thead", null, element("tr", null, ...made, element("th", {scope: "col"}, "what was found")));
}
/* Makes these the children of an element without touching those that are in their place, which would lose focus and scrolling. */
function place(parent, wanted) {
  const focused = document.activeElement, stay = new Set(wanted);
  for (const each of [...parent.children]) if (!stay.has(each)) each.remove();
  let next = parent.firstElementChild;
  for (const each of wanted) if (each === next) next = next.nextElementSibling; else parent.insertBefore(each, next);
  if (focused.isConnected && focused !== document.activeElement) focused.focus({preventScroll: true});
}
/* Shows a page of the samples. Of the rows before, those stay that are as they were, and open what was open. */
function show() {
  const last = Math.max(0, Math.ceil(matching.length / PAGE) - 1), all = data.samples.length, before = listed, rows = [];
  page = Math.min(Math.max(page, 0), last);
  listed = new Map();
  for (const sample of matching.slice(page * PAGE, (page + 1) * PAGE)) {
    let name = sample[0];
    while (listed.has(name)) name += " again";
    const old = before.get(name), stays = old && JSON.stringify(old.sample) === JSON.stringify(sample);
    const entry = stays ? old : {sample, row: line(name, sample), detail: null};
    listed.set(name, entry);
    rows.push(entry.row, ...entry.detail ? [entry.detail] : []);
  }
  place($("list").querySelector("tbody"), rows);
  for (const head of $("list").querySelectorAll("th[data-column]")) {
    const sorted = order && order.column === Number(head.dataset.column) ? order.down ? "descending" : "ascending" : "none";
    head.setAttribute("aria-sort", sorted);
  }
  $("list").hidden = !matching.length;
  const isFiltered = Object.values(chosen()).some(Boolean), clear = element("button", {type: "button"}, "Clear filters");
  clear.addEventListener("click", () => { for (const name of FILTERS) put(name, ""); update(); $("by-text").focus(); });
  const ordered = order ? "" : data.runs.length > 1 ? ", those that got worse first" : ", worst first";
  const counted = matching.length ? matching.length.toLocaleString("en") + " of " + all.toLocaleString("en") + " samples" + ordered : all ? "No sample has all of this. " : "There are no samples. ";
  const unlisted = data.count > all ? ". The run has " + data.count.toLocaleString("en") + "; the others are in results.jsonl" : "";
  $("count").replaceChildren(counted + unlisted + " ", ...isFiltered ? [clear] : []);
  $("pages").hidden = !last;
  const [previous, where, next] = $("pages").children;
  previous.disabled = page === 0; next.disabled = page === last;
  where.textContent = "Page " + (page + 1) + " of " + (last + 1);
}
function step(name, by) {
  const made = element("button", {type: "button"}, name);
  made.addEventListener("click", () => { page += by; show(); remember(); $("samples").scrollIntoView(); const first = $("list").querySelector("tbody button"); if (first) first.focus(); });
  return made;
}
function remember() {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(chosen())) if (value) kept.set(name, value);
  if (order) kept.set("sort", (order.down ? "-" : "") + (order.column < 0 ? "id" : data.evaluators[order.column]));
  if (page) kept.set("page", page + 1);
  history.replaceState(null, "", "#" + kept);
}
function update() { page = 0; filter(); show(); remember(); }

function control(name) {
  const isText = name === "text";
  const field = isText ? element("input", {id: "by-text", type: "search", autocomplete: "off", placeholder: "id, reason or text"}) : element("select", {id: "by-" + name}, element("option", {value: ""}, "all"));
  field.addEventListener(isText ? "input" : "change", update);
  return element("label", {for: "by-" + name}, isText ? "search" : name, field);
}
/* Adds the choices that a field lacks; what it has stays in its place, for it may be in use. */
function offer(name, values) {
  const field = $("by-" + name), known = new Set(Array.from(field.options, each => each.value));
  for (const value of values) if (!known.has(value)) { const made = element("option", null, value); made.value = value; field.append(made); }
}
function controls() {
  const labels = new Map(), states = new Set();
  for (const sample of data.samples) for (const side of sample[3]) for (const row of side ? side[0] : []) if (row) { states.add(row[0]); labels.set(row[2], (labels.get(row[2]) || 0) + 1); }
  const often = [...labels].sort((a, b) => b[1] - a[1]).map(pair => data.labels[pair[0]]).filter(Boolean).slice(0, 200);
  if (data.runs.length > 1) offer("run", data.runs);
  offer("evaluator", data.evaluators);
  offer("outcome", [...data.runs.length > 1 ? CHANGES : [], ...STATES.filter((_, state) => states.has(state))]);
  offer("label", often);
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
  const given = new URLSearchParams(location.hash.slice(1)), by = given.get("sort");
  for (const name of FILTERS) put(name, given.get(name) || "");
  if (by) { const name = by.replace(/^-/, ""); order = {column: name === "id" ? -1 : data.evaluators.indexOf(name), down: by !== name}; }
  page = Number(given.get("page") || 1) - 1 || 0;
}
function load(text) { data = JSON.parse(text); arrange(); }
/* Turns to a sample and opens it; one that is not listed is looked for by its text. */
function turnTo(id) {
  const at = matching.findIndex(sample => printable(sample[0]) === printable(id));
  if (at < 0) { $("by-text").value = id; update(); $("by-text").focus(); return; }
  page = Math.floor(at / PAGE); show(); remember();
  const [name, entry] = [...listed][at % PAGE];
  if (!entry.detail) turn(name);
  entry.row.scrollIntoView(); entry.row.querySelector("button").focus();
}
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
load($("data").textContent);
$("filters").append(...FILTERS.filter(name => name !== "run" || data.runs.length > 1).map(control));
$("list").append(element("table", {class: "samples"}, heads(), element("tbody")));
$("pages").append(step("Previous", -1), element("span"), step("Next", 1));
controls(); recall(); filter(); show();
