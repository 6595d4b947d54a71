/* Marks the differences in the texts of a sample. A text is a string, null, or the part of a long text that is shown. */
"use strict";
const isPart = text => text !== null && typeof text === "object", shownOf = text => isPart(text) ? text.shown : text;
const isDefect = difference => typeof difference.place === "number", isOfCall = difference => difference.call !== undefined;

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
      lines.push({text: head + leaf, pointer, leaf});
      return;
    }
    lines.push({text: head + token, pointer, leaf: null});
    for (let place = 0; tokens[at] !== end; place++) {
      const key = token === "{" ? tokens[at] : null, name = key === null ? place : JSON.parse(key).replace(/~/g, "~0").replace(/\//g, "~1");
      if (key !== null) at += 2;
      walk(pointer + "/" + name, indent + "  " + (key === null ? "" : key + ": "), indent + "  ");
      if (tokens[at] === ",") { lines[lines.length - 1].text += ","; at++; }
    }
    lines.push({text: indent + end, pointer, leaf: null});
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
  return named.filter(each => each.reference !== null).flatMap(({place, reference}) => {
    const isPlace = line => line.leaf !== null && pattern(line.pointer) === pattern(place) && isValue(line.leaf, reference);
    const places = lines.filter(isPlace).map(line => line.pointer);
    return places.length === 1 ? places : [];
  });
}

/* A text in pieces, each with its mark or null. Spans are [mark, start, end], in characters of the whole text. */
function piecesOf(text, spans) {
  const chars = Array.from(shownOf(text)), begin = isPart(text) ? text.begin : 0, pieces = [];
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
  const others = differences.filter(each => !isOfCall(each)), areCalls = others.length < differences.length;
  const named = others.filter(each => !isDefect(each)), defect = others.find(isDefect);
  const [left, right] = [output, reference].map(text => text === null || isPart(text) ? null : jsonLines(text));
  const pieces = (parts, isMarked) => parts.map((part, at) => [part, isMarked(at) ? "" : null]);
  const lines = found => found.map(line => line.text + "\n"), words = text => text.match(/\s+|[^\s]+/g) || [];
  const plain = (text, found) => text === null ? null : found ? pieces(lines(found), () => false) : piecesOf(text, []);
  const both = [plain(output, left), plain(reference, right)];
  if (defect && !left) return [piecesOf(output, [["", defect.place, defect.place + 1]]), both[1]];
  if (named.length && left) {
    const here = named.filter(each => each.what !== "missing").map(each => each.place);
    const there = right ? expectedPlaces(right, named) : [];
    const isBelow = pointer => here.some(each => pointer === each || pointer.startsWith(each + "/") || each === "");
    return [pieces(lines(left), at => isBelow(left[at].pointer)), right ? pieces(lines(right), at => there.includes(right[at].pointer)) : both[1]];
  }
  if (areCalls || named.length || reference === null || isPart(output) || isPart(reference) || !left !== !right) return both;
  const [ours, theirs] = left ? [lines(left), lines(right)] : [words(output), words(reference)];
  const [onlyA, onlyB] = unlike(ours, theirs);
  /* If the texts have few words in common, marks would not help. */
  if (!left && onlyA.size + onlyB.size > (ours.length + theirs.length) / 2) return both;
  return [pieces(ours, at => onlyA.has(at)), pieces(theirs, at => onlyB.has(at))];
}
