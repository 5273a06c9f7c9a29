// Search with filters, and what was said by somebody or of something over time.

import { call } from "./api.js";
import { passage } from "./answer.js";
import { coming, field, fill, h, say } from "./dom.js";
import { month, several, to, toPerson } from "./format.js";

const MOST = 50;
const MOST_OVER_TIME = 200;

export function search(_of, given) {
  const value = (name) => given.get(name) || "";
  const query = h("input", { type: "search", class: "large", name: "query", value: value("q"), autocomplete: "off", required: true, id: "query" });
  const kind = h("select", { name: "kind" }, ["units", "turns", "pages"].map((one) => h("option", { value: one, selected: one === value("kind") }, one)));
  const speaker = h("input", { type: "text", value: value("speaker"), autocomplete: "off" });
  const session = h("input", { type: "text", value: value("session"), autocomplete: "off" });
  const after = h("input", { type: "date", value: value("after") });
  const before = h("input", { type: "date", value: value("before") });
  const result = h("div", { class: "result" });
  const send = (event) => {
    event.preventDefault();
    location.hash = to("search", "", { q: query.value, kind: kind.value, speaker: speaker.value, session: session.value, after: after.value, before: before.value });
  };
  if (value("q")) coming(result, () => found(given));
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

async function found(given) {
  const items = await call("search", {
    query: given.get("q"),
    kind: given.get("kind") || "units",
    limit: MOST,
    speaker: given.get("speaker"),
    session: given.get("session"),
    said_after: given.get("after"),
    said_before: given.get("before"),
  });
  say(`${several(items.length, "result")}.`);
  return [
    h("p", { class: "quiet" }, items.length === MOST ? `The ${MOST} that fit best.` : `${several(items.length, "result")}, best first.`, " ", h("a", { href: toPerson(given.get("q")) }, "The same over time")),
    h("ul", { class: "plain-list" }, items.map((one) => h("li", {}, passage(one), one.unit_id && h("a", { class: "beside-link", href: to("unit", one.unit_id) }, "history")))),
  ];
}

// Everything by or about somebody or something, by when it was said.
export function about(name) {
  const result = h("div", { class: "result" });
  const by = h("button", { type: "button", "aria-pressed": "true", onclick: () => show(by) }, `Said by ${name}`);
  const of = h("button", { type: "button", "aria-pressed": "false", onclick: () => show(of) }, `About ${name}`);
  const show = async (chosen) => {
    for (const one of [by, of]) one.setAttribute("aria-pressed", String(one === chosen));
    await coming(result, () => overTime(name, chosen === by));
    if (chosen === by && !result.querySelector("li") && !result.querySelector(".problem")) await show(of);
  };
  show(by);
  return { title: name, node: h("div", { class: "narrow" }, h("h1", {}, name), h("div", { class: "choice", role: "group", "aria-label": "Which" }, by, of), result) };
}

async function overTime(name, by) {
  const told = await call("recall", { topic: name, kind: "turns", limit: MOST_OVER_TIME, speaker: by ? name : null });
  const items = told.items.toSorted((a, b) => (a.said_at || "").localeCompare(b.said_at || ""));
  const months = Map.groupBy(items, (one) => month(one.said_at));
  say(`${several(items.length, "turn")}.`);
  return [
    h("p", { class: "quiet" }, items.length === MOST_OVER_TIME ? `The ${MOST_OVER_TIME} turns that fit best, in the order in which they were said.` : `${several(items.length, "turn")}, in the order in which they were said.`),
    [...months].map(([name_, some]) => h("section", { class: "month" }, h("h2", {}, name_), h("ul", { class: "plain-list" }, some.map((one) => h("li", {}, passage(one)))))),
  ];
}
