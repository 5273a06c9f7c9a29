// Search with filters, and what was said by somebody or of something over time.

import { call, pageOf } from "./api.js";
import { passage } from "./answer.js";
import { coming, field, fill, h, say } from "./dom.js";
import { month, number, several, to, toPerson } from "./format.js";
import { wordsOf } from "./words.js";

const MOST = 50;
const MOST_OVER_TIME = 200;
const PAGES_AT_ONCE = 40;
const PROFILE_TOKENS = 4000;

export function search(_of, given) {
  const value = (name) => given.get(name) || "";
  const query = h("input", { type: "search", class: "large", name: "query", value: value("q"), autocomplete: "off", required: true, id: "query" });
  const kind = h("select", { name: "kind" }, [["any", "units and turns"], ["units", "units"], ["turns", "turns"], ["pages", "pages"]].map(([one, name]) => h("option", { value: one, selected: one === value("kind") }, name)));
  const speaker = h("input", { type: "text", value: value("speaker"), autocomplete: "off" });
  const session = h("input", { type: "text", value: value("session"), autocomplete: "off" });
  const after = h("input", { type: "date", value: value("after") });
  const before = h("input", { type: "date", value: value("before") });
  const result = h("div", { class: "result" });
  const send = (event) => {
    event.preventDefault();
    location.hash = to("search", "", { q: query.value, kind: kind.value, speaker: speaker.value, session: session.value, after: after.value, before: before.value });
  };
  coming(result, () => (value("q") ? found(given) : profile()));
  return {
    title: "Search",
    focus: query,
    node: h(
      "div",
      { class: "narrow" },
      h("h1", {}, "Search"),
      h(
        "form",
        { class: "search", role: "search", onsubmit: send },
        h("div", { class: "line-of" }, h("div", { class: "grow" }, h("label", { class: "unseen", for: "query" }, "Words or meaning to look for"), query), h("button", { class: "first" }, "Search")),
        h("div", { class: "fields" }, field("Among", kind), field("Said by", speaker), field("Session", session), field("From", after), field("To", before)),
      ),
      result,
    ),
  };
}

// What is known without a question, before anything is looked for.
async function profile() {
  const { sources } = await call("profile", { max_tokens: PROFILE_TOKENS });
  if (!sources.length) return null;
  return [
    h("h2", {}, "Known without a question"),
    h("p", { class: "quiet" }, "Statements that hold, what people corrected or decided, and what they said last, as said."),
    passages(sources),
  ];
}

function passages(items) {
  return h("ul", { class: "plain-list" }, items.map((one) => h("li", { class: one.unit_id ? "with-link" : null }, passage(one), one.unit_id && h("a", { class: "beside-link", href: to("unit", one.unit_id) }, "history"))));
}

async function found(given) {
  const items = await call("search", {
    query: given.get("q"),
    kind: given.get("kind") || "any",
    limit: MOST,
    speaker: given.get("speaker"),
    session: given.get("session"),
    said_after: given.get("after"),
    said_before: given.get("before"),
  });
  say(`${several(items.length, "result")}.`);
  return [
    h("p", { class: "quiet" }, items.length === MOST ? `The ${MOST} that fit best.` : `${several(items.length, "result")}, best first.`, " ", h("a", { href: toPerson(given.get("q")) }, "The same over time")),
    passages(items),
  ];
}

// What somebody said, page by page, and what is said of them or of anything, by when it was said.
export function about(name) {
  const result = h("div", { class: "result" });
  const by = h("button", { type: "button", "aria-pressed": "true", onclick: () => show(by) }, `Said by ${name}`);
  const of = h("button", { type: "button", "aria-pressed": "false", onclick: () => show(of) }, `About ${name}`);
  const show = (chosen) => {
    for (const one of [by, of]) one.setAttribute("aria-pressed", String(one === chosen));
    return coming(result, () => (chosen === by ? saidBy(name) : saidOf(name)));
  };
  show(by);
  return { title: name, node: h("div", { class: "narrow" }, h("h1", {}, name), h("div", { class: "choice", role: "group", "aria-label": "Which" }, by, of), result) };
}

async function saidOf(name) {
  const { items } = await call("recall", { topic: name, kind: "turns", limit: MOST_OVER_TIME });
  const sorted = items.toSorted((a, b) => (a.said_at || "").localeCompare(b.said_at || ""));
  say(`${several(items.length, "turn")}.`);
  const words = items.length === MOST_OVER_TIME ? `The ${MOST_OVER_TIME} turns that come nearest to it` : `${several(items.length, "turn")} that come near it`;
  return [h("p", { class: "quiet" }, `${words}, in the order in which they were said.`), byMonth(sorted)];
}

function byMonth(items) {
  return [...Map.groupBy(items, (one) => month(one.said_at))].map(([title, some]) => h("section", { class: "month" }, h("h2", {}, title), h("ul", { class: "plain-list" }, some.map((one) => h("li", {}, passage(one))))));
}

// Every turn of a speaker: the pages are read, the newest first, some at a time.
async function saidBy(name) {
  const [filling, sealed] = await Promise.all([call("open_pages"), call("pages")]);
  const left = [...filling, ...sealed.toReversed()];
  const known = left.length;
  const found = h("div");
  const count = h("p", { class: "quiet", role: "status" });
  const more = h("button", { type: "button", onclick: () => read() }, "Read more pages");
  const turns = [];
  const read = async () => {
    more.disabled = true;
    const some = await Promise.all(left.splice(0, PAGES_AT_ONCE).map((one) => (one.lines ? one : pageOf(one.id))));
    turns.push(...some.flatMap((page) => page.lines.filter((line) => line.turn && folded(line.turn.speaker) === folded(name)).map((line) => asFound(page, line))));
    const sorted = turns.toSorted((a, b) => (b.said_at || "").localeCompare(a.said_at || ""));
    const whole = left.length ? `the newest ${number(known - left.length)} of ${several(known, "page")}` : "all pages";
    count.textContent = `${several(turns.length, "turn")} on ${whole}, the newest first.`;
    fill(found, byMonth(sorted));
    more.disabled = false;
    more.hidden = !left.length;
  };
  await read();
  return [count, found, more];
}

function folded(name) {
  return name.normalize("NFKC").toLowerCase();
}

function asFound(page, line) {
  return { text: wordsOf(page, line), quote: "", source: page.session, said_at: line.turn.said_at, trust: line.turn.trust, spans: [{ page_id: page.id, start: line.body, end: line.end }] };
}
