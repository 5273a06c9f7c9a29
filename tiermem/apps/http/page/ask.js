// Ask, and the answers given before.

import { call, following, memory, pageOf } from "./api.js";
import { personLink, shownAnswer } from "./answer.js";
import { coming, field, fill, h, problem, say, tag } from "./dom.js";
import { recorded, several, to } from "./format.js";
import { longList } from "./list.js";
import { stepsUnderWay } from "./steps.js";
import { figures } from "./store.js";

const NEWEST = 5;
const TRIES = 3;

let kept = null;

export function ask(_of, given) {
  const question = h("input", { type: "text", class: "large", maxlength: 4000, required: true, autocomplete: "off", placeholder: "What would you like to know?" });
  const session = h("input", { type: "text", autocomplete: "off", value: given.get("session") || "" });
  const speaker = h("input", { type: "text", autocomplete: "off", value: given.get("speaker") || "" });
  const asOf = h("input", { type: "text", autocomplete: "off", placeholder: "2024-01-31", value: given.get("as_of") || "" });
  const mode = h("select", {}, h("option", { value: "router" }, "as it decides"), h("option", { value: "summary" }, "in summaries"), h("option", { value: "raw" }, "in the pages"));
  const result = h("div", { class: "result" });
  const begin = h("div");
  const button = h("button", { class: "first" }, "Ask");
  const confined = ["session", "speaker", "as_of"].some((name) => given.get(name));
  const send = async (event) => {
    event.preventDefault();
    button.disabled = true;
    say("Asking.");
    begin.remove();
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
  } else if (!confined) coming(begin, () => start((words) => { question.value = words; form.requestSubmit(); }));
  const form = h(
    "form",
    { class: "ask", onsubmit: send },
    h("div", { class: "line-of" }, h("div", { class: "grow" }, h("label", { class: "unseen", for: "question" }, "Question"), question), button),
    h("details", { class: "more" }, h("summary", {}, "Confine it"), h("div", { class: "fields" }, field("Session", session), field("Said by", speaker), field("As memory stood on", asOf), memory.engine === "local" ? null : field("Look", mode))),
  );
  question.id = "question";
  form.querySelector("details").open = confined;
  return { title: "Ask", node: h("div", { class: "narrow" }, h("h1", {}, "Ask memory"), form, result, begin), focus: question };
}

// Before the first question: what there is, the newest sessions and questions, and questions to try.
async function start(put) {
  const [known, sessions, given, tries] = await Promise.all([call("stats"), call("sessions"), call("answers"), questionsToTry()]);
  const list = (title, items) => items.length ? [h("h2", {}, title), h("ul", {}, items.map((one) => h("li", {}, one)))] : null;
  return [
    figures(known),
    list("Questions to try", tries.map((one) => h("button", { type: "button", class: "plain", onclick: () => put(one) }, one))),
    list("Newest sessions", sessions.slice(-NEWEST).toReversed().map((one) => h("a", { href: to("timeline", "", { session: one.session }) }, one.title || one.session))),
    list("Newest questions", given.slice(-NEWEST).toReversed().map((one) => h("a", { href: to("answer", one.id) }, one.question))),
  ];
}

// Questions about names, or else long words, of the newest turns.
async function questionsToTry() {
  const [filling, sealed] = await Promise.all([call("open_pages"), call("pages")]);
  const newest = filling.at(-1) || (sealed.length ? await pageOf(sealed.at(-1).id) : { lines: [] });
  const found = new Map();
  for (const { speaker, text } of newest.lines.flatMap((line) => line.turn || []).toReversed()) {
    const words = [...text.matchAll(/(?<=[\p{Ll},;] )\p{Lu}[\p{L}-]{2,24}(?!\p{L})/gu), ...text.matchAll(/(?<!\p{L})\p{L}{7,24}(?!\p{L})/gu)].map(([word]) => word);
    const word = words.find((one) => !found.has(one) && one !== speaker);
    if (word && found.size < TRIES) found.set(word, `What did ${speaker} say about ${word}?`);
  }
  return [...found.values()];
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
      h("span", { class: "cut" }, one.text),
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
      longList({ count: given.length, height: () => 92, row, label: "Answers" }),
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
