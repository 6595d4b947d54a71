/* Marks in the texts of a sample what differs. */
"use strict";
const isPart = text => Array.isArray(text), shownOf = text => isPart(text) ? text[1] : text;

/* The lines of a JSON text, each with its pointer and of a leaf with its token, so that no number changes; else null. */
function jsonLines(text) {
  const bare = text.trim().replace(/^```\w*\s*\n([^]*)\n\s*```$/, "$1");
  try { if (typeof JSON.parse(bare) !== "object") return null; } catch { return null; }
  const lines = [], stack = [];
  let line = "", pointer = "", key = null, leaf = null;
  const push = () => { if (line.trim()) lines.push([line, pointer, leaf]); leaf = null; line = "  ".repeat(stack.length); };
  const named = name => name.replace(/~/g, "~0").replace(/\//g, "~1");
  const place = () => { const top = stack[stack.length - 1];
    if (top) pointer = top.pointer + "/" + (top.array ? top.next++ : named(key)); };
  const tokens = bare.match(/"(?:\\[^]|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at], top = stack[stack.length - 1];
    if (token === "{" || token === "[") {
      place(); line += token;
      const own = stack.length ? pointer : "";
      if (tokens[at + 1] === "}" || tokens[at + 1] === "]") { line += tokens[++at]; leaf = token + tokens[at]; continue; }
      lines.push([line, own, null]); stack.push({array: token === "[", next: 0, pointer: own}); line = "  ".repeat(stack.length);
    } else if (token === "}" || token === "]") {
      push(); stack.pop(); pointer = top.pointer; line = "  ".repeat(stack.length) + token;
    } else if (token === ",") { line += ","; push(); }
    else if (token === ":") line += ": ";
    else if (top && !top.array && tokens[at + 1] === ":") { key = JSON.parse(token); line += token; }
    else { place(); line += token; leaf = token; }
  }
  lines.push([line, pointer, leaf]);
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
const pattern = pointer => pointer.replace(/\/\d+(?=\/|$)/g, "/*");
function isValue(token, value) {
  if (value.endsWith("...")) return token.startsWith(value.slice(0, -3));
  try { return JSON.stringify(JSON.parse(token)) === JSON.stringify(JSON.parse(value)); } catch { return false; }
}

/* Where in the reference stands what evaluators expected. Items may have been compared in another order: then it is
   where the same value stands at the same path, unless there are more of these than are wrong. */
function expectedPlaces(lines, named) {
  const leaves = new Map(), found = new Set();
  for (const [, pointer, token] of lines) if (token !== null) { const path = pattern(pointer); leaves.set(path, [...leaves.get(path) || [], [pointer, token]]); }
  for (const [, pointer, , , value] of named.filter(each => each[4] !== null)) {
    const path = pattern(pointer), places = (leaves.get(path) || []).filter(([, token]) => isValue(token, value)).map(([place]) => place);
    const left = places.filter(place => !found.has(place)), wrong = named.filter(each => pattern(each[1]) === path && each[4] === value).length;
    if (left.includes(pointer) && (path === pointer || places.length <= wrong)) found.add(pointer);
    else if (left.length && places.length <= wrong) found.add(left[0]);
  }
  return [...found];
}

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

/* Output and reference as pieces, each with whether it is marked: by the places that evaluators name, else by comparing, and
   at a defect's place. Of a part of a text no difference is known, and words are not compared with JSON, nor tool calls, which
   every API writes in a form of its own. */
function sides(output, reference, differences) {
  const areCalls = differences.some(isOfCall), others = differences.filter(each => !isOfCall(each));
  const [left, right] = [output, reference].map(text => text === null || isPart(text) ? null : jsonLines(text));
  const defect = left ? undefined : others.find(each => typeof each[1] === "number"), named = others.filter(each => typeof each[1] === "string");
  const lines = found => found.map(([line]) => line + "\n"), words = text => text.match(/\s+|[^\s]+/g) || [];
  const pieces = (parts, isMarked) => parts.map((part, at) => [part, isMarked(at)]);
  const plain = (text, found) => text === null ? null : found ? pieces(lines(found), () => false) : [[shownOf(text), false]];
  let a = plain(output, left), b = plain(reference, right);
  if (named.length && left) {
    const here = named.filter(each => each[2] !== "missing").map(each => each[1]);
    a = pieces(lines(left), at => under(left[at][1], here));
    if (right) { const there = expectedPlaces(right, named); b = pieces(lines(right), at => there.includes(right[at][1])); }
  } else if (!areCalls && !named.length && reference !== null && !isPart(output) && !isPart(reference) && !(defect && right) && !left === !right) {
    const [ours, theirs] = left ? [lines(left), lines(right)] : [words(output), words(reference)], [onlyA, onlyB] = unlike(ours, theirs);
    /* Of two texts that say it in other words marks would tell nothing. */
    if (left || onlyA.size + onlyB.size <= (ours.length + theirs.length) / 2) { a = pieces(ours, at => onlyA.has(at)); b = pieces(theirs, at => onlyB.has(at)); }
  }
  return [defect ? markedAt(a, defect[1] - (isPart(output) ? output[0] : 0)) : a, b];
}
const isOfCall = difference => difference.length > 5;
