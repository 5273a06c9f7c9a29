// Memory as it stood at a moment of the past: what held then, and what has become of it.

import { call, titlesOf } from "./api.js";
import { field, fill, h, problem, tag, waiting } from "./dom.js";
import { day, recorded, several, to } from "./format.js";
import { longList } from "./list.js";

const MOST_UNITS = 5000;
const MOST_STOPS = 400;
const DAY = 24 * 60 * 60 * 1000;
const SHORT = 30 * DAY;

// When anything became known: pages sealed, questions asked. Of a long life its days, of much in few days a sample.
function stopsOf(pages, answers) {
  const times = [...new Set([...pages.map((one) => one.sealed_at), ...answers.map((one) => one.at)].map((one) => Date.parse(one)))].sort((a, b) => a - b);
  if (!times.length) return [];
  const every = times.length <= MOST_STOPS ? times : times.at(-1) - times[0] > SHORT ? days(times[0], times.at(-1)) : sampled(times);
  return [...every.map((one) => new Date(one + 1).toISOString()), null];
}

function sampled(times) {
  return Array.from({ length: MOST_STOPS }, (_, n) => times[Math.round((n * (times.length - 1)) / (MOST_STOPS - 1))]);
}

function days(first, last) {
  const step = Math.max(1, Math.ceil((last - first) / DAY / MOST_STOPS)) * DAY;
  return Array.from({ length: Math.ceil((last - first) / step) + 1 }, (_, n) => Math.min(last, first + n * step));
}

export async function past() {
  const [pages, answers, known, titles] = await Promise.all([call("pages"), call("answers"), call("stats"), titlesOf()]);
  const stops = stopsOf(pages, answers);
  if (!stops.length) return { title: "Past", node: h("div", { class: "narrow" }, h("h1", {}, "Memory as it stood"), h("p", {}, "No page was sealed yet, so there is no past to look at.")) };
  const sessions = [...new Set(pages.map((one) => one.session))];
  const all = known.units <= MOST_UNITS;
  const session = h("select", {}, all && h("option", { value: "" }, "every session"), sessions.toReversed().slice(0, 500).map((one) => h("option", { value: one }, titles.has(one) ? `${titles.get(one)} (${one})` : one)));
  const slider = h("input", { type: "range", min: 0, max: stops.length - 1, step: 1, value: stops.length - 1 });
  const moment = h("output", { class: "moment" });
  const result = h("div", { class: "result" });
  const now = new Map();
  let stale = new AbortController();
  let timer = 0;

  const words = () => (stops[slider.value] ? recorded(stops[slider.value]) : "now");
  const draw = async () => {
    stale.abort();
    stale = new AbortController();
    const { signal } = stale;
    const asOf = stops[slider.value];
    try {
      if (!now.has(session.value)) now.set(session.value, await call("units", { session: session.value }, { signal }));
      const current = now.get(session.value);
      const then = asOf ? await call("units", { session: session.value, as_of: asOf }, { signal }) : current;
      fill(result, compared(then, current, asOf));
    } catch (error) {
      if (error.name === "AbortError") return; // a later moment is on its way
      fill(result, problem(error));
    }
    result.ariaBusy = "false";
  };
  const moved = () => {
    moment.textContent = words();
    slider.setAttribute("aria-valuetext", words());
    result.ariaBusy = "true";
    clearTimeout(timer);
    timer = setTimeout(draw, 120);
  };
  slider.addEventListener("input", moved);
  session.addEventListener("change", draw);
  fill(result, waiting());
  moved();
  return {
    title: "Past",
    node: h(
      "div",
      { class: "narrow" },
      h("h1", {}, "Memory as it stood"),
      h("div", { class: "slider" }, moment, field("Moment", slider), h("div", { class: "ends quiet", "aria-hidden": "true" }, h("span", {}, day(stops[0])), h("span", {}, "now"))),
      h("div", { class: "fields" }, field("Session", session, all ? null : "This memory is large: it is looked at by session.")),
      result,
    ),
  };
}

function compared(then, current, asOf) {
  const holds = new Set(current.map((one) => one.id));
  const before = new Set(then.map((one) => one.id));
  const left = then.filter((one) => !holds.has(one.id)).length;
  const since = current.filter((one) => !before.has(one.id)).length;
  const row = (n) => {
    const one = then[n];
    return h(
      "a",
      { class: "two", href: to("unit", one.id) },
      h("span", { class: "cut" }, one.text),
      h("span", { class: "quiet cut" }, holds.has(one.id) ? null : tag("holds no more", "off"), `${one.session}${one.said_at ? `, said ${day(one.said_at)}` : ""}`),
    );
  };
  return [
    h("p", { role: "status" }, h("b", {}, several(then.length, "unit")), asOf ? ` held. Since then ${several(since, "unit")} came to hold, and ${several(left, "unit")} no longer do. ` : " hold now. ", asOf && h("a", { href: to("ask", "", { as_of: asOf }) }, "Ask memory as it was then")),
    longList({ count: then.length, height: () => 68, row, label: "Units that held" }),
  ];
}
