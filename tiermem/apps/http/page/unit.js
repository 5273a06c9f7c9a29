// A unit's history: what it took the place of, what took its place, by what words.

import { call, may } from "./api.js";
import { fillPlaces } from "./answer.js";
import { h, tag } from "./dom.js";
import { SUPPORT, recorded, said, several, short, to } from "./format.js";
import { reinstateDialog, withdrawDialog } from "./taking.js";

const STATES = { holds: "good", superseded: "off", merged: "off", in_parts: "off", withdrawn: "bad" };
const KINDS = { summary: "summarised", finding: "found for a question", quote: "the words themselves", stated: "stated to be remembered" };

export async function unit(id) {
  const [trail, signals] = await Promise.all([call("trail", { unit_id: id }), call("signals", { unit_id: id })]);
  const own = trail.find((one) => one.unit.id === id);
  return {
    title: own.unit.text,
    node: h(
      "div",
      { class: "narrow" },
      h("p", { class: "crumb" }, "Unit ", h("code", {}, short(id))),
      h("h1", { class: "statement" }, own.unit.text),
      h(
        "p",
        { class: "quiet meta" },
        tag(own.state, STATES[own.state]),
        `importance ${signals.importance.toFixed(2)}, weight ${signals.weight.toFixed(2)}, cited ${several(signals.uses, "time")}`,
        may("write") && own.state === "holds" && h("button", { type: "button", class: "quiet-button", onclick: () => withdrawDialog(own.unit) }, "Withdraw …"),
        may("write") && own.state === "withdrawn" && h("button", { type: "button", class: "quiet-button", onclick: () => reinstateDialog(own.unit) }, "Reinstate …"),
      ),
      h("h2", {}, "History"),
      h("ol", { class: "history" }, trail.map((one) => h("li", { class: one.unit.id === id ? "own" : "" }, step(one, id)))),
    ),
  };
}

function step(one, id) {
  const { unit: it } = one;
  return [
    h(
      "p",
      { class: "meta" },
      tag(one.state, STATES[one.state]),
      tag((SUPPORT[it.support] || [it.support])[0], it.support),
      h("span", { class: "quiet" }, [KINDS[it.kind] || it.kind, it.made_by && `by ${it.made_by}`, it.event_at && `happened ${said(it.event_at)}`].filter(Boolean).join(" · ")),
    ),
    h("p", { class: "statement" }, it.id === id ? it.text : h("a", { href: to("unit", it.id) }, it.text)),
    it.derivations.length ? h("p", { class: "quiet" }, `Computed: ${it.derivations.map((one) => `${one.value} (${one.kind})`).join(", ")}`) : null,
    one.because ? h("p", { class: "note" }, h("b", {}, `${one.state.charAt(0).toUpperCase()}${one.state.slice(1)}: `), one.because) : null,
    one.superseded_by.length ? h("p", { class: "quiet" }, "In its place: ", one.superseded_by.map((other, n) => [n ? ", " : "", h("a", { href: to("unit", other) }, short(other))])) : null,
    one.promoted ? h("p", { class: "quiet" }, one.promoted) : null,
    h("h3", { class: "unseen" }, "The words it rests on"),
    wordsOf(one),
    one.outcomes.length ? h("ul", { class: "quiet" }, one.outcomes.map((outcome) => h("li", {}, `${outcome.outcome}, judged by ${outcome.by} ${recorded(outcome.at)}`))) : null,
  ];
}

function wordsOf(one) {
  const node = h("div");
  if (!one.words_on_page.length) return h("p", { class: "quiet" }, "Its words cannot be read any more.");
  fillPlaces(node, one.words_on_page);
  return node;
}
