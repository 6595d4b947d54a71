/* Marks the differences in the texts of a sample. */
"use strict";
const isPart = text => Array.isArray(text), shownOf = text => isPart(text) ? text[1] : text;

/* The lines of a JSON text, each with its pointer and the token of its leaf, so that no number changes; null for other texts. */
function jsonLines(text) {
  const bare = text.trim().replace(/^```\w*\s*\n([^]*)\n\s*```$/, "$1");
  try { if (typeof JSON.parse(bare) !== "object") return null; } catch { return null; }
  const tokens = bare.match(/"(?:\\[^]|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g), ends = {"{": "}", "[": "]"}, lines = [];
  let at = 0;
  const walk = (pointer, head, indent) => {
    const token = tokens[at++], end = ends[token], isEmpty = end && tokens[at] === end;
    if (!end || isEmpty) {
      const leaf = isEmpty ? token + tokens[at++] : token;
      lines.push([head + leaf, pointer, leaf]);
      return;
    }
    lines.push([head + token, pointer, null]);
    for (let place = 0; tokens[at] !== end; place++) {
      const key = token === "{" ? tokens[at] : null, name = key === null ? place : JSON.parse(key).replace(/~/g, "~0").replace(/\//g, "~1");
      if (key !== null) at += 2;
      walk(pointer + "/" + name, indent + "  " + (key === null ? "" : key + ": "), indent + "  ");
      if (tokens[at] === ",") { lines[lines.length - 1][0] += ","; at++; }
    }
    lines.push([indent + end, pointer, null]);
    at++;
  };
  try { walk("", "", ""); } catch { return null; /* nested too deeply */ }
  return lines;
}

/* The tokens of two lists outside of their longest common subsequence; for very long lists, all between the equal ends. */
function unlike(a, b) {
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const n = a.length - start - end, m = b.length - start - end, isLong = n * m > 4e6;
  const best = Array.from({length: isLong ? 0 : n + 1}, () => new Uint16Array(m + 1));
  const isSame = (i, j) => !isLong && i < n && j < m && a[start + i] === b[start + j];
  for (let i = n - 1; i >= 0 && !isLong; i--) for (let j = m - 1; j >= 0; j--)
    best[i][j] = isSame(i, j) ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  const left = new Set(), right = new Set();
  for (let i = 0, j = 0; i < n || j < m;) {
    if (isSame(i, j)) { i++; j++; }
    else if (j >= m || (i < n && (isLong || best[i + 1][j] >= best[i][j + 1]))) left.add(start + i++);
    else right.add(start + j++);
  }
  return [left, right];
}
function isValue(token, value) {
  if (value.endsWith("...")) return token.startsWith(value.slice(0, -3));
  try { return JSON.stringify(JSON.parse(token)) === JSON.stringify(JSON.parse(value)); } catch { return false; }
}
/* The places in the reference of the values that evaluators expected. Items may have been compared in another order, so the
   value is searched for at the same path. If it is there several times, none is marked, because it may be right. */
function expectedPlaces(lines, named) {
  const pattern = pointer => pointer.replace(/\/\d+(?=\/|$)/g, "/*");
  return named.filter(each => each[4] !== null).flatMap(([, pointer, , , value]) => {
    const isPlace = ([, own, token]) => token !== null && pattern(own) === pattern(pointer) && isValue(token, value);
    const places = lines.filter(isPlace).map(line => line[1]);
    return places.length === 1 ? places : [];
  });
}

/* A text in pieces, each with its mark or null. Spans are [mark, start, end], in characters of the whole text. */
function piecesOf(text, spans) {
  const chars = Array.from(shownOf(text)), begin = isPart(text) ? text[0] : 0, pieces = [];
  let at = 0;
  for (const [mark, from, to] of [...spans].sort((a, b) => a[1] - b[1])) {
    const start = from - begin, end = Math.min(to - begin, chars.length);
    if (start < at || start > chars.length) continue;
    pieces.push([chars.slice(at, start).join(""), null]);
    /* A line break and the end are invisible, so they get a sign. */
    pieces.push([chars.slice(start, end).join("").replace(/^\n$/, "⏎\n") || " ⟨end⟩", mark]);
    at = Math.max(end, start);
  }
  return [...pieces, [chars.slice(at).join(""), null]];
}
/* Output and reference as pieces. The marks are the places that evaluators name, or the defect's place, or else the
   differences of both texts. There are none for a part of a text, for words against JSON, and for tool calls, which every API
   writes in its own form. */
function sides(output, reference, differences) {
  const areCalls = differences.some(isOfCall), others = differences.filter(each => !isOfCall(each));
  const [left, right] = [output, reference].map(text => text === null || isPart(text) ? null : jsonLines(text));
  const named = others.filter(each => typeof each[1] === "string"), defect = others.find(each => typeof each[1] === "number");
  const pieces = (parts, isMarked) => parts.map((part, at) => [part, isMarked(at) ? "" : null]);
  const lines = found => found.map(line => line[0] + "\n"), words = text => text.match(/\s+|[^\s]+/g) || [];
  const plain = (text, found) => text === null ? null : found ? pieces(lines(found), () => false) : piecesOf(text, []);
  const under = (pointer, places) => places.some(each => pointer === each || pointer.startsWith(each + "/") || each === "");
  const both = [plain(output, left), plain(reference, right)];
  if (defect && !left) return [piecesOf(output, [["", defect[1], defect[1] + 1]]), both[1]];
  if (named.length && left) {
    const here = named.filter(each => each[2] !== "missing").map(each => each[1]);
    const there = right ? expectedPlaces(right, named) : [];
    return [pieces(lines(left), at => under(left[at][1], here)), right ? pieces(lines(right), at => there.includes(right[at][1])) : both[1]];
  }
  if (areCalls || named.length || reference === null || isPart(output) || isPart(reference) || !left !== !right) return both;
  const [ours, theirs] = left ? [lines(left), lines(right)] : [words(output), words(reference)];
  const [onlyA, onlyB] = unlike(ours, theirs);
  /* If the texts have few words in common, marks would not help. */
  if (!left && onlyA.size + onlyB.size > (ours.length + theirs.length) / 2) return both;
  return [pieces(ours, at => onlyA.has(at)), pieces(theirs, at => onlyB.has(at))];
}
const isOfCall = difference => difference.length > 5;
