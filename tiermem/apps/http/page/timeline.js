// Sessions and their pages, with who said what; and one page with its words, units and what became of them.

import { call, may, pageOf, titlesOf } from "./api.js";
import { personLink } from "./answer.js";
import { field, fill, h, tag } from "./dom.js";
import { erasePage, eraseSession, eraseTurn, withdrawDialog } from "./taking.js";
import { SUPPORT, day, number, recorded, said, several, short, to } from "./format.js";
import { longList, whenStill } from "./list.js";
import { pieces, wordsOf } from "./words.js";

const HEAD = 64;
const ROW = 92;
const SNIPPETS = 3;
const BESIDE = matchMedia("(min-width: 62rem)");

function grouped(pages, filling, titles) {
  const sessions = new Map();
  for (const page of [...pages, ...filling.map((one) => ({ ...one, turns: one.lines.length, seq: one.lines.at(-1)?.seq ?? 0, open: true }))]) {
    const found = sessions.get(page.session) || { name: page.session, title: titles.get(page.session), pages: [], turns: 0, seq: -1 };
    found.pages.push(page);
    found.turns += page.turns;
    found.seq = Math.max(found.seq, page.seq);
    sessions.set(page.session, found);
  }
  return [...sessions.values()].sort((a, b) => b.seq - a.seq);
}

export async function timeline(_of, given) {
  const [pages, filling, titles] = await Promise.all([call("pages"), call("open_pages"), titlesOf()]);
  const sessions = grouped(pages, filling, titles);
  const list = h("div");
  const count = h("p", { class: "quiet", role: "status" });
  const wanted = h("input", { type: "search", autocomplete: "off", value: given.get("session") || "", placeholder: "part of a name" });
  const draw = () => {
    const part = wanted.value.toLowerCase();
    const found = sessions.filter((one) => `${one.name}\n${one.title || ""}`.toLowerCase().includes(part));
    const rows = found.flatMap((one) => [one, ...one.pages]);
    count.textContent = `${several(found.length, "session")}, ${several(rows.length - found.length, "page")}, the newest session first.`;
    fill(list, longList({ count: rows.length, height: (n) => (rows[n].pages ? HEAD : ROW), row: (n) => (rows[n].pages ? sessionRow(rows[n]) : pageRow(rows[n])), label: "Sessions and pages" }));
  };
  wanted.addEventListener("input", draw);
  draw();
  return {
    title: "Timeline",
    node: h("div", { class: "narrow" }, h("h1", {}, "Timeline"), h("div", { class: "head-line" }, count, field("Sessions called", wanted)), list),
  };
}

function sessionRow(session) {
  return h(
    "div",
    { class: "session-row" },
    h("h2", { class: "cut" }, session.title || session.name),
    h("span", { class: "quiet" }, `${session.title ? `${session.name}, ` : ""}${several(session.pages.length, "page")}, ${several(session.turns, "turn")}`),
    may("erase") && h("button", { type: "button", class: "quiet-button", "aria-label": `Erase session ${session.name}`, onclick: () => eraseSession(session) }, "Erase …"),
  );
}

// What is on a page is read when its row is to be seen and the reader does not scroll past it.
function pageRow(info) {
  const words = h("span", { class: "snippet quiet" }, " ");
  const when = h("span", { class: "when" });
  const show = (page) => {
    const lines = page.lines.filter((line) => line.turn);
    when.textContent = lines.length ? said(lines[0].turn.said_at) : "";
    fill(words, lines.length ? lines.slice(0, SNIPPETS).map((line) => [h("b", {}, line.turn.speaker), ` ${wordsOf(page, line)} `]) : h("i", {}, "what was said was erased"));
  };
  if (info.open) show(info);
  else {
    whenStill(words, () => pageOf(info.id).then(show, (error) => { words.textContent = error.message; }));
  }
  return h(
    "a",
    { class: "page-row", href: to("page", info.id) },
    h("span", { class: "page-head" }, h("span", {}, `Page ${info.number}`), when, h("span", { class: "quiet" }, several(info.turns, "turn")), info.open && tag("filling"), info.agent && tag(`of ${info.agent}`), info.taken_back?.length ? tag("taken back", "off") : null),
    words,
  );
}

// One page

export async function page(id, given) {
  const [shown, titles] = await Promise.all([found(id), titlesOf()]);
  const name = titles.get(shown.session) || shown.session;
  const [units, beside, lost] = await Promise.all([
    call("units", { session: shown.session }),
    call("pages", { session: shown.session }),
    shown.sealed_at ? call("omissions", { page: shown.id }).catch((error) => ({ error })) : null,
  ]);
  const own = units.map((unit) => ({ unit, spans: unit.spans.filter((span) => onPage(span, shown, id)) })).filter((one) => one.spans.length);
  own.sort((a, b) => a.spans[0].start - b.spans[0].start);
  const cited = given.has("from") ? { start: Number(given.get("from")), end: Number(given.get("to")) } : null;
  const view = h("div", { class: "page-view" }, turns(shown, own, cited), aside(shown, own, lost));
  link(view);
  return {
    title: `${name}, page ${shown.number}`,
    node: h("div", { class: "wide" }, heading(shown, beside, name), view),
    shown: () => (view.querySelector("mark.cited") || null)?.scrollIntoView({ block: "center" }),
  };
}

async function found(id) {
  if (!id.startsWith("o1:")) return call("page", { page_id: id });
  const open = (await call("open_pages")).find((one) => one.id === id);
  return open ? { ...open, taken_back: [] } : call("page", { page_id: id });
}

function onPage(span, shown, asked) {
  return span.page_id === shown.id || span.page_id === asked;
}

function heading(shown, beside, name) {
  const at = beside.findIndex((one) => one.id === shown.id);
  const step = (other, words) => other && h("a", { href: to("page", other.id) }, words);
  const times = shown.lines.filter((line) => line.turn?.said_at).map((line) => line.turn.said_at);
  return h(
    "header",
    { class: "page-title" },
    h("p", { class: "crumb" }, h("a", { href: to("timeline", "", { session: shown.session }) }, name), name === shown.session ? null : h("span", { class: "quiet" }, ` ${shown.session}`)),
    h("h1", {}, `Page ${shown.number}`, times.length ? h("small", {}, day(times[0])) : null),
    h(
      "p",
      { class: "quiet meta" },
      `${several(shown.lines.length, "turn")}, ${several(shown.tokens, "token")}`,
      shown.sealed_at ? `, sealed ${recorded(shown.sealed_at)}` : ", still filling",
      shown.agent && tag(`of ${shown.agent}`),
      h("code", {}, short(shown.id)),
      h("span", { class: "steps" }, step(beside[at - 1], "← before"), at >= 0 && step(beside[at + 1], "after →")),
      may("erase") && h("button", { type: "button", class: "quiet-button", onclick: () => erasePage(shown) }, "Erase page …"),
    ),
  );
}

function turns(shown, own, cited) {
  const ranges = [
    ...own.flatMap(({ spans }, n) => spans.map((span) => ({ start: span.start, end: span.end, unit: n }))),
    ...shown.taken_back.map((one) => ({ ...one.span, back: one })),
    ...(cited ? [{ ...cited, cited: true }] : []),
  ];
  let speaker = null;
  return h(
    "ol",
    { class: "turns", "aria-label": "What was said" },
    shown.lines.map((line) => {
      const same = line.turn !== null && line.turn.speaker === speaker;
      speaker = line.turn?.speaker ?? null;
      return h("li", { class: same ? "turn same" : "turn", id: `turn-${line.seq}` }, line.turn ? turn(shown, line, ranges) : h("p", { class: "quiet" }, h("i", {}, "This turn was erased.")));
    }),
  );
}

function turn(shown, line, ranges) {
  const { speaker, said_at: at, trust, role } = line.turn;
  const end = line.body + Array.from(wordsOf(shown, line)).length;
  return [
    h(
      "p",
      { class: "who" },
      personLink(speaker),
      h("span", { class: "quiet" }, [said(at), role && role !== speaker ? role : "", trust && trust !== "user" ? trust : "", line.parts > 1 ? `part ${line.part} of ${line.parts}` : ""].filter(Boolean).join(" · ")),
      may("erase") && h("button", { type: "button", class: "quiet-button", "aria-label": `Erase this turn of ${speaker}`, onclick: () => eraseTurn(line) }, "Erase …"),
    ),
    h("p", { class: "said" }, pieces(shown, line.body, end, ranges).map(piece)),
  ];
}

function piece({ text, ranges }) {
  const units = ranges.filter((one) => one.unit !== undefined).map((one) => one.unit);
  const back = ranges.find((one) => one.back);
  const cited = ranges.some((one) => one.cited);
  if (!ranges.length) return text;
  const kinds = [units.length && "unit", back && "back", cited && "cited"].filter(Boolean).join(" ");
  return h("mark", { class: kinds, "data-units": units.join(" "), title: back ? `Taken back: ${back.back.reason}` : null }, text);
}

function aside(shown, own, lost) {
  const report = lost?.pages?.[0];
  return h(
    "aside",
    { "aria-label": "What memory made of it" },
    h("h2", {}, several(own.length, "unit")),
    own.length ? null : h("p", { class: "quiet" }, shown.sealed_at ? "None holds that rests on this page." : "A page that is still filling has none yet."),
    h("ul", { class: "units" }, own.map(({ unit, spans }, n) => h("li", {}, unitCard(unit, spans, n, shown)))),
    shown.taken_back.length ? [h("h2", {}, "Taken back"), h("ul", { class: "plain-list" }, shown.taken_back.map((one) => h("li", {}, h("a", { href: to("unit", one.unit_id) }, one.reason))))] : null,
    report && report.lost.length ? omissions(report) : null,
    report?.rejected?.length ? [h("h2", {}, "Wordings that were refused"), h("ul", { class: "plain-list" }, report.rejected.map((one) => h("li", {}, one.claim, h("br"), h("span", { class: "quiet" }, one.reason))))] : null,
  );
}

function unitCard(unit, spans, n, shown) {
  const quoted = spans.map((span) => pieces(shown, span.start, span.end, []).map((one) => one.text).join("")).join(" … ");
  return h(
    "article",
    { class: "unit-card", "data-unit": n },
    h("p", {}, h("a", { href: to("unit", unit.id), "data-unit": n }, unit.text)),
    h("p", { class: "unseen" }, `Rests on: ${quoted}`),
    h(
      "p",
      { class: "quiet meta" },
      tag((SUPPORT[unit.support] || [unit.support])[0], unit.support),
      unit.event_at ? `happened ${said(unit.event_at)}` : null,
      unit.supersedes.length ? `took the place of ${several(unit.supersedes.length, "unit")}` : null,
      may("write") && h("button", { type: "button", class: "quiet-button", onclick: () => withdrawDialog(unit) }, "Withdraw …"),
    ),
  );
}

function omissions(report) {
  const whole = report.lost.filter((one) => one.startsWith("negation: "));
  const single = report.lost.filter((one) => !one.startsWith("negation: "));
  return [
    h("h2", {}, "What no unit keeps"),
    h("p", { class: "quiet" }, `${number(report.lost.length)} of ${number(report.literals)} numbers, dates, names, negations and rare words`),
    h("p", { class: "chips" }, single.map((one) => tag(one.replace(/^\w+: /, "")))),
    h("ul", { class: "plain-list" }, whole.map((one) => h("li", {}, `“${one.replace("negation: ", "")}”`))),
  ];
}

// Hover or focus on a unit shows its words, and on words the units that rest on them.
function link(view) {
  const light = (units) => {
    for (const node of view.querySelectorAll("mark.unit")) node.classList.toggle("on", node.dataset.units.split(" ").some((one) => units.has(one)));
    for (const node of view.querySelectorAll(".unit-card")) node.classList.toggle("on", units.has(node.dataset.unit));
  };
  const of = (event) => {
    const card = event.target.closest?.(".unit-card");
    const words = event.target.closest?.("mark.unit");
    light(new Set(card ? [card.dataset.unit] : words ? words.dataset.units.split(" ") : []));
  };
  view.addEventListener("pointerover", of);
  view.addEventListener("focusin", (event) => {
    of(event);
    if (event.target.matches(".unit-card a:focus-visible") && BESIDE.matches) view.querySelector("mark.on")?.scrollIntoView({ block: "nearest" });
  });
  view.addEventListener("click", (event) => {
    const words = event.target.closest?.("mark.unit");
    const card = words && view.querySelector(`.unit-card[data-unit="${words.dataset.units.split(" ")[0]}"]`);
    card?.scrollIntoView({ block: "nearest" });
    card?.querySelector("a").focus({ preventScroll: true });
  });
}
