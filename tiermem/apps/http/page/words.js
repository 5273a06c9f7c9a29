// Pages and their words. Places are counted in characters, as the memory counts them, not in JavaScript's units.

import { h } from "./dom.js";

const letters = new WeakMap();

export function charactersOf(page) {
  let found = letters.get(page);
  if (!found) letters.set(page, (found = Array.from(page.text)));
  return found;
}

export function textAt(page, start, end) {
  return charactersOf(page).slice(start, end).join("");
}

// The words of a line, without who said them and when.
export function wordsOf(page, line) {
  return textAt(page, line.body, line.end).replace(/\n$/, "");
}

// The words from `start` to `end` as pieces, cut where any range begins or ends; each knows the ranges it is in.
export function pieces(page, start, end, ranges) {
  const inside = ranges.filter((one) => one.start < end && one.end > start);
  const cuts = new Set([start, end]);
  for (const one of inside) {
    cuts.add(Math.max(start, one.start));
    cuts.add(Math.min(end, one.end));
  }
  const at = [...cuts].sort((a, b) => a - b);
  return at.slice(1).map((until, n) => ({
    text: textAt(page, at[n], until),
    ranges: inside.filter((one) => one.start < until && one.end > at[n]),
  }));
}

// A line around some words, with the lines beside it, and the words marked.
export function excerpt(page, span) {
  const at = page.lines.findIndex((line) => span.start < line.end && span.end > line.start);
  if (at < 0) return [];
  const last = page.lines.findLastIndex((line) => span.start < line.end && span.end > line.start);
  const shown = page.lines.slice(Math.max(0, at - 1), last + 2);
  return shown.map((line) => {
    const inside = span.start < line.end && span.end > line.start;
    return h("p", { class: inside ? "line" : "line beside" }, h("b", {}, speakerOf(line)), " ", marked(page, line, [span]));
  });
}

export function marked(page, line, ranges) {
  if (!line.turn) return h("i", {}, "erased");
  const end = line.body + Array.from(wordsOf(page, line)).length;
  return pieces(page, line.body, end, ranges).map((piece) => (piece.ranges.length ? h("mark", {}, piece.text) : piece.text));
}

export function speakerOf(line) {
  return line.turn ? line.turn.speaker : "";
}
