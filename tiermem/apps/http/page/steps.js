// The steps of a question as they are reported: what was done, what came of it, and what it took by then.

import { h } from "./dom.js";
import { ROUTES, WAYS, number, seconds, several } from "./format.js";

const NAMES = { recall: "Recalled", route: "Decided", widen: "Widened", read: "Read", integrate: "Took in", compose: "Worded", fallback: "Went another way" };

// A list that grows; `add` takes a step as the server tells it, `done` gives the list folded, for below the answer.
export function stepsUnderWay() {
  const began = performance.now();
  const list = h("ol", { class: "steps", "aria-live": "polite", "aria-label": "Steps" });
  const clock = h("p", { class: "quiet under-way" }, "Looking through memory …");
  let count = 0;
  let tokens = 0;
  const add = (step) => {
    count += 1;
    tokens = step.usage.reduce((sum, one) => sum + one.usage.input_tokens + one.usage.output_tokens, 0);
    const spent = [seconds((performance.now() - began) / 1000), tokens ? several(tokens, "token") : ""].filter(Boolean).join(", ");
    list.append(h("li", {}, h("b", {}, NAMES[step.name] || step.name), h("span", { class: "came" }, whatCame(step)), h("span", { class: "quiet spent" }, spent)));
  };
  const done = () => {
    if (!count) return null;
    const took = seconds((performance.now() - began) / 1000);
    return h("details", { class: "course" }, h("summary", {}, `${several(count, "step")} in ${took}${tokens ? `, ${several(tokens, "token")}` : ""}`), list);
  };
  return { node: h("div", {}, clock, list), add, done };
}

function whatCame(step) {
  const found = [];
  if (step.name === "recall" || step.name === "widen") found.push(`${several(step.candidates.length, "piece")} of evidence`);
  if (step.decision) found.push(`${ROUTES[step.decision.action] || step.decision.action}: ${step.decision.reason} (${step.decision.router})`);
  for (const one of step.rounds) found.push(...round(step, one));
  if (step.name === "compose") found.push(WAYS[step.way] || step.way, step.checks.length ? `${step.checks.at(-1).support ?? "not borne out"}` : "no answer");
  for (const one of step.degradations) found.push(`${one.stage}: ${one.reason}; instead: ${one.fallback}`);
  return found.join(", ");
}

function round(step, one) {
  if (step.name === "integrate") return [`round ${one.number}`, several(one.facts, "fact"), `${number(one.rejected)} rejected`];
  const searched = new Set(one.searches.map((search) => `“${search.query}”`));
  return [`round ${one.number}`, several(one.pages.length, "page"), ...searched, one.stop].filter(Boolean);
}
