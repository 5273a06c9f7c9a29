// An answer: its words, how far they are borne out, what it cost, and the way from each part of it to the words.

import { pageOf, titlesOf } from "./api.js";
import { fill, h, problem, tag, waiting } from "./dom.js";
import { CAUTIONS, ROUTES, SUPPORT, WAYS, day, number, said, seconds, several, short, to, toPerson, toWords } from "./format.js";
import { excerpt } from "./words.js";

const OPENED = 3;

// `audited` are the citations as they stand now, where the answer was audited.
export function shownAnswer(answer, audited) {
  return h(
    "article",
    { class: "answer" },
    h("p", { class: `text${answer.abstained ? " none" : ""}` }, (answer.said || []).length ? answer.text.split("\n")[0] : withNumbers(answer)),
    saidLines(answer),
    facts(answer),
    sentences(answer),
    unsupported(answer),
    ...cautions(answer),
    answer.complete !== false || (answer.abstained && !answer.missing) ? null : h("p", { class: "note" }, h("b", {}, "Missing: "), answer.missing || "a part of what was asked"),
    answer.explanation ? h("p", { class: "note" }, h("b", {}, "What the model said: "), `“${answer.explanation}”, which was not checked`) : null,
    answer.abstained || (answer.said || []).length ? null : citations(answer, audited),
    degradations(answer.trace),
    course(answer),
  );
}

function facts(answer) {
  const { trace } = answer;
  const [support, meaning] = SUPPORT[answer.support] || ["No certain answer", "Nothing that was found was taken for an answer."];
  const route = answer.route === "ANSWER" ? "Recalled" : "Looked further";
  return h(
    "dl",
    { class: "facts" },
    fact("Support", tag(support, answer.abstained ? "off" : answer.support), meaning),
    ...likely(answer),
    fact("Route", route, WAYS[trace.way] || trace.way),
    fact("Read", several(trace.read_tokens, "token"), `the pages behind it have ${number(trace.raw_tokens)}`),
    fact("Models", answer.usage.calls ? several(answer.usage.calls, "call") : "No call", spent(answer.usage)),
  );
}

// Answers of older versions of the server have no list.
function unsupported(answer) {
  if (!answer.unsupported || !answer.unsupported.length) return null;
  return h("p", { class: "note" }, h("b", {}, "Not in the cited words: "), answer.unsupported.join(", "));
}

// The cited sentences with the words of the answer marked. Answers of older versions of the server have no list.
function sentences(answer) {
  return (answer.sentences || []).map((one) => withSpeaker(one, "A summary"));
}

function withSpeaker(one, unknown) {
  const who = [one.speaker, day(one.said_at)].filter(Boolean).join(", ") || unknown;
  return h("blockquote", {}, h("p", {}, h("b", {}, who, ": "), "“", withMarks(one), "”"));
}

// The places of words are counted in characters, not in the UTF-16 units of a string.
function withMarks({ text, marks }) {
  const characters = [...text];
  const found = [];
  let at = 0;
  for (const [start, end] of marks) {
    found.push(characters.slice(at, start).join(""), h("mark", {}, characters.slice(start, end).join("")));
    at = end;
  }
  return [...found, characters.slice(at).join("")];
}

// Answers of older versions of the server have no list.
function cautions(answer) {
  return (answer.cautions || []).map((one) => h("p", { class: "note" }, h("b", {}, "Caution: "), CAUTIONS[one.code] || one.code, wordsOf(one, answer), "."));
}

// The words that show a caution, which are within the cited sentences.
function wordsOf(caution, answer) {
  const found = (answer.sentences || []).flatMap(({ text, span }) =>
    caution.spans
      .filter((one) => span && one.page_id === span.page_id && span.start <= one.start && one.end <= span.end)
      .map((one) => `“${[...text].slice(one.start - span.start, one.end - span.start).join("")}”`),
  );
  return found.length ? `: ${[...new Set(found)].join(", ")}` : "";
}

// Only lines that the small reader scored have a probability.
function likely({ probability }) {
  if (probability === null || probability === undefined) return [];
  return [fact("Probability", `${Math.round(100 * probability)} %`, "that the first line holds it, by its calibration")];
}

function spent(usage) {
  const price = usage.cost === null ? "at an unknown price" : usage.cost ? `for ${usage.cost.toFixed(4)}` : "";
  if (!usage.calls) return `${several(usage.embedding_tokens, "token")} embedded`;
  return `${several(usage.input_tokens + usage.output_tokens, "token")} in ${seconds(usage.seconds)} ${price}`.trim();
}

function fact(name, value, more) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value), h("dd", { class: "quiet" }, more));
}

// The answer's parts; one whose words stand in a source as they are gets the number of that source.
function withNumbers(answer) {
  const parts = answer.text.match(/[^.!?;,\n]+[.!?;,\n]*\s*/g) || [answer.text];
  let from = 0;
  return parts.map((part) => {
    const sources = parts.length > 1 && !plain(part).trim().includes(" ") ? [] : answer.citations.filter((one) => holds(one, part));
    const again = sources.length && sources.map((one) => one.number).join() === from;
    from = sources.map((one) => one.number).join();
    return [part.trimEnd(), again ? null : sources.map(reference), " "];
  });
}

function holds(citation, part) {
  const words = plain(part);
  return words.length > 1 && [citation.quote, citation.claim].some((text) => plain(text).includes(words));
}

function plain(text) {
  return ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim()} `;
}

function reference(citation) {
  const reveal = (event) => {
    event.preventDefault();
    const target = document.getElementById(`source-${citation.number}`);
    target.open = true;
    target.querySelector("summary").focus();
    target.scrollIntoView({ block: "nearest" });
  };
  return h("sup", {}, h("button", { type: "button", class: "plain", "aria-label": `Source ${citation.number}`, onclick: reveal }, citation.number));
}

function citations(answer, audited = []) {
  if (!answer.citations.length) return null;
  const checked = new Map(audited.map((one) => [one.citation.number, one]));
  return h(
    "section",
    { class: "trail" },
    h("h2", {}, "Where it comes from"),
    answer.citations.map((one, n) => source(one, checked.get(one.number), n < OPENED)),
    derivations(answer),
  );
}

function source(citation, checked, opened) {
  const places = h("div", { class: "places" });
  const look = (event) => event.target.open && !places.childElementCount && fillPlaces(places, citation.spans);
  const same = plain(citation.claim) === plain(citation.quote);
  const node = h(
    "details",
    { id: `source-${citation.number}`, class: "source", ontoggle: look },
    h(
      "summary",
      {},
      h("span", { class: "number" }, citation.number),
      h("span", { class: "quote" }, `“${citation.quote}”`),
      h("span", { class: "who" }, [citation.speaker, day(citation.said_at)].filter(Boolean).join(", ")),
    ),
    same ? null : h("p", { class: "claim" }, h("span", { class: "quiet" }, "Fact "), citation.claim),
    h(
      "p",
      { class: "meta" },
      tag((SUPPORT[citation.support] || [citation.support])[0], citation.support),
      checked && tag(checked.intact ? "unchanged on its page" : "not as it was cited", checked.intact ? "" : "bad"),
      citation.unit_id && h("a", { href: to("unit", citation.unit_id) }, "history of this unit"),
    ),
    places,
  );
  node.open = opened;
  return node;
}

// The words in their pages, with the lines beside them.
export async function fillPlaces(node, spans) {
  fill(node, waiting());
  try {
    const found = [];
    const titles = await titlesOf();
    for (const span of spans) found.push(place(await pageOf(span.page_id), span, titles));
    fill(node, found);
  } catch (error) {
    fill(node, problem(error));
  }
}

function place(page, span, titles) {
  const own = { ...span, page_id: page.id };
  return h(
    "a",
    { class: "place-on-page", href: toWords(own) },
    h("span", { class: "quiet" }, `${titles.get(page.session) || page.session}, page ${page.number}`),
    excerpt(page, own),
  );
}

function derivations(answer) {
  if (!answer.derivations.length) return null;
  return h(
    "div",
    { class: "derived" },
    h("h3", {}, "Computed"),
    h("ul", {}, answer.derivations.map((one) => h("li", {}, h("b", {}, one.value), h("span", { class: "quiet" }, ` (${one.kind}) from ${one.terms.map((term) => `“${term.text}”`).join(", ")}`)))),
  );
}

// What was said about the question, best first. Answers of older versions of the server have no list.
function saidLines(answer) {
  const lines = answer.said || [];
  if (!lines.length) return null;
  return h(
    "section",
    { class: "trail" },
    h("ul", { class: "plain-list" }, lines.map((one) => h("li", {}, saidLine(one)))),
  );
}

function saidLine(line) {
  const when = [said(line.said_at), ["later", "before"].includes(line.order) && `(${line.order})`].filter(Boolean).join(" ");
  const about = [line.speaker, when, line.trust === "user" ? null : line.trust].filter(Boolean).join(" · ");
  return h(
    "a",
    { class: "passage", href: line.span ? toWords(line.span) : to("search") },
    h("span", { class: "words" }, withMarks(line)),
    line.next ? h("span", { class: "quiet words" }, `then ${line.next.speaker}: “${line.next.text}”`) : null,
    h("span", { class: "quiet" }, about),
  );
}

// Something found: its words, when they were said, and the way to its page.
export function passage(item) {
  const span = item.spans[0];
  return h(
    "a",
    { class: "passage", href: span ? toWords(span) : to("search") },
    h("span", { class: "words" }, item.text),
    item.quote && !plain(item.text).includes(plain(item.quote)) ? h("span", { class: "quiet words" }, `“${item.quote}”`) : null,
    h("span", { class: "quiet" }, [item.source, said(item.said_at), item.trust === "user" ? null : item.trust].filter(Boolean).join(" · ")),
  );
}

function degradations(trace) {
  if (!trace.degradations.length) return null;
  return h(
    "section",
    { class: "note" },
    h("h2", {}, "Not all went as meant"),
    h("ul", {}, trace.degradations.map((one) => h("li", {}, h("b", {}, one.stage), `: ${one.reason}; instead: ${one.fallback}`))),
  );
}

// How it came about: who decided, what was looked for, what was checked, what each step cost.
function course(answer) {
  const { trace } = answer;
  const cells = (values) => h("tr", {}, values.map((one, n) => h(n ? "td" : "th", n ? { class: "n" } : { scope: "row" }, one)));
  return h(
    "details",
    { class: "course" },
    h("summary", {}, "How it came about"),
    h("p", {}, h("b", {}, "Decision"), `: ${ROUTES[trace.decision.action] || trace.decision.action}, by ${trace.decision.router}: ${trace.decision.reason}`),
    trace.rounds.map((one) => h("p", {}, h("b", {}, `Round ${one.number}`), `: ${one.searches.map((s) => `“${s.query}”`).join(", ")}; ${several(one.pages.length, "page")}, ${several(one.facts, "fact")}${one.stop ? `; ${one.stop}` : ""}`)),
    trace.checks.map((one) => h("p", {}, h("b", {}, "Check"), `: ${one.support}${one.reason ? `, ${one.reason}` : ""}`)),
    trace.rejected.length ? [h("h3", {}, "Wordings that were refused"), h("ul", {}, trace.rejected.map((one) => h("li", {}, one.claim, h("span", { class: "quiet" }, ` ${one.reason}`))))] : null,
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ["Step", "Time in models", "Calls", "Tokens"].map((one, n) => h("th", { scope: "col", class: n ? "n" : null }, one)))),
      h("tbody", {}, trace.usage.map(({ step, usage }) => cells([step, seconds(usage.seconds), number(usage.calls), number(usage.input_tokens + usage.output_tokens)]))),
    ),
    h("p", { class: "quiet" }, `${several(trace.candidates.length, "candidate")}, engine ${trace.engine}, answer ${short(answer.id)}, log up to record ${number(trace.head)}`),
  );
}

export function personLink(name) {
  return h("a", { class: "person", href: toPerson(name) }, name);
}
