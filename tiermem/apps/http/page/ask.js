// Ask, and the answers given before.

import { call, following, memory } from "./api.js";
import { personLink, shownAnswer } from "./answer.js";
import { field, fill, h, problem, say, tag } from "./dom.js";
import { recorded, several, to } from "./format.js";
import { longList } from "./list.js";
import { stepsUnderWay } from "./steps.js";

let kept = null;

export function ask(_of, given) {
  const question = h("input", { type: "text", class: "large", maxlength: 4000, required: true, autocomplete: "off", placeholder: "What would you like to know?" });
  const session = h("input", { type: "text", autocomplete: "off", value: given.get("session") || "" });
  const speaker = h("input", { type: "text", autocomplete: "off", value: given.get("speaker") || "" });
  const asOf = h("input", { type: "text", autocomplete: "off", placeholder: "2024-01-31", value: given.get("as_of") || "" });
  const mode = h("select", {}, h("option", { value: "router" }, "as it decides"), h("option", { value: "summary" }, "in summaries"), h("option", { value: "raw" }, "in the pages"));
  const result = h("div", { class: "result" });
  const button = h("button", { class: "first" }, "Ask");
  const confined = ["session", "speaker", "as_of"].some((name) => given.get(name));
  const send = async (event) => {
    event.preventDefault();
    button.disabled = true;
    say("Asking.");
    const steps = stepsUnderWay();
    fill(result, steps.node);
    try {
      const given = { question: question.value, session: session.value, speaker: speaker.value, as_of: asOf.value, mode: mode.value };
      const answer = await following("ask", given, (_name, step) => steps.add(step));
      fill(result, answered(answer), steps.done());
    } catch (error) {
      fill(result, problem(error), steps.done());
    }
    button.disabled = false;
    kept = { space: memory.space, question: question.value, nodes: [...result.childNodes] };
    say(`Answered: ${result.querySelector(".text")?.textContent ?? "see the page"}`);
  };
  if (kept && kept.space === memory.space && !confined) {
    question.value = kept.question;
    fill(result, kept.nodes);
  }
  const form = h(
    "form",
    { class: "ask", onsubmit: send },
    h("div", { class: "line-of" }, h("div", { class: "grow" }, h("label", { class: "unseen", for: "question" }, "Question"), question), button),
    h("details", { class: "more" }, h("summary", {}, "Confine it"), h("div", { class: "fields" }, field("Session", session), field("Said by", speaker), field("As memory stood on", asOf), field("Look", mode))),
  );
  question.id = "question";
  form.querySelector("details").open = confined;
  return { title: "Ask", node: h("div", { class: "narrow" }, h("h1", {}, "Ask memory"), form, result), focus: question };
}

function answered(answer) {
  return [
    shownAnswer(answer),
    answer.recorded ? h("p", { class: "quiet" }, h("a", { href: to("answer", answer.id) }, "Audit this answer"), ": its words are read from their pages again and compared.") : h("p", { class: "quiet" }, "Looking read-only: this answer was given, and not recorded."),
  ];
}

export async function answers() {
  const given = (await call("answers")).reverse();
  const row = (n) => {
    const one = given[n];
    return h(
      "a",
      { class: "two", href: to("answer", one.id) },
      h("span", { class: "cut" }, one.question),
      h("span", { class: "quiet cut" }, one.abstained ? tag("no answer found", "off") : one.route === "ANSWER" ? "recalled" : "looked further", ` · ${several(one.read_tokens, "token")} read · ${recorded(one.at)}`, one.agent ? ` · asked by ${one.agent}` : ""),
    );
  };
  return {
    title: "Answers",
    node: h(
      "div",
      { class: "narrow" },
      h("h1", {}, "Answers"),
      h("p", { class: "quiet" }, given.length ? `${several(given.length, "answer")}, the newest first.` : "Nothing was asked yet, or only by memories that were opened read-only."),
      longList({ count: given.length, height: () => 68, row, label: "Answers" }),
    ),
  };
}

export async function answer(id) {
  const audit = await call("audit", { answer_id: id });
  const { trace } = audit.answer;
  const bad = audit.citations.filter((one) => !one.intact).length + audit.derivations.filter((one) => one.now !== one.derivation.value).length;
  return {
    title: trace.question,
    node: h(
      "div",
      { class: "narrow" },
      h("p", { class: "crumb" }, h("a", { href: to("answers") }, "Answers")),
      h("h1", {}, trace.question),
      h("p", { class: "quiet" }, `Asked ${recorded(trace.asked_at)}`, trace.as_of ? `, of memory as it stood at ${recorded(trace.as_of)}` : "", trace.session ? `, in session ${trace.session}` : "", trace.turns?.speaker ? [", of what was said by ", personLink(trace.turns.speaker)] : "", "."),
      h("p", {}, tag(bad ? `${several(bad, "source")} not as cited` : audit.answer.citations.length ? "Every source is as it was cited" : "No sources", bad ? "bad" : "good")),
      shownAnswer(audit.answer, audit.citations),
    ),
  };
}
