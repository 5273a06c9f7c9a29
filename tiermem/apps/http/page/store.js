// The state of the memory: what it holds, what was spent, whether every hash is as it was.

import { call, memory } from "./api.js";
import { coming, field, h, problem, say, tag } from "./dom.js";
import { number, several } from "./format.js";

export async function store() {
  const known = await call("stats");
  const report = h("div", { "aria-live": "polite" });
  const kept = h("textarea", { rows: 3, autocomplete: "off", spellcheck: "false", placeholder: '{"space": …, "size": …, "root": …}' });
  const verify = (event) => {
    event.preventDefault();
    return coming(report, () => verified(kept.value), "Making every hash again …");
  };
  return {
    title: "Store",
    node: h(
      "div",
      { class: "narrow" },
      h("h1", {}, `Space ${memory.space}`),
      figures(known),
      known.problems.length ? h("section", { class: "note" }, h("h2", {}, "Problems"), h("ul", {}, known.problems.map((one) => h("li", {}, one)))) : null,
      spending(known),
      h("h2", {}, "Verify"),
      memory.agent === null
        ? [
            h("p", {}, "Makes every hash of the log again, and says what differs. A checkpoint that was kept elsewhere proves that nothing before it was altered."),
            h("form", { onsubmit: verify }, h("details", { class: "more" }, h("summary", {}, "Hold it against a checkpoint"), field("Checkpoint (JSON)", kept)), h("button", { class: "first" }, "Verify")),
            report,
          ]
        : h("p", { class: "quiet" }, "Verifying is for the owner, who sees everything."),
    ),
  };
}

export function figures(known) {
  const groups = [
    ["Turns", known.turns, `${several(known.sessions, "session")}`],
    ["Pages", known.pages, `${number(known.pages_open)} filling, ${number(known.pages_pending)} to summarise`],
    ["Units", known.units, known.units_cold ? `${number(known.units_cold)} cold` : `${number(known.claims_rejected)} wordings refused`],
    ["Answers", known.answers, `${number(known.abstained)} without an answer`],
  ];
  return h("dl", { class: "facts figures" }, groups.map(([name, value, more]) => h("div", {}, h("dt", {}, name), h("dd", {}, number(value)), h("dd", { class: "quiet" }, more))));
}

function spending(known) {
  const share = known.omissions_per_literal;
  const rows = [
    ["Engine", known.engine],
    ["Embedder", known.embedder],
    ["Answered from what was recalled", `${number(known.answered_from_recall)} of ${number(known.answers)}`],
    ["Tokens read for answers", number(known.tokens_read)],
    ["Tokens the pages behind them have", number(known.tokens_raw)],
    ["Tokens saved", `${number(known.tokens_saved)}${known.tokens_saved_note ? ` (${known.tokens_saved_note})` : ""}`],
    ["Left out by the summaries", share === null ? "not counted" : `${number(known.omissions)}, ${(100 * share).toFixed(1)} % of numbers, dates, names and rare words`],
    ["Waiting for the index", known.index_pending === null ? "no index to ask here" : number(known.index_pending)],
    ["Findings to decide on", number(known.findings_pending)],
  ];
  const today = known.spent_today;
  const daily = known.daily;
  const of = (limit) => (limit === null ? "" : ` of ${number(limit)}`);
  const spent = [
    ["Model calls", `${number(today.calls)}${of(daily.calls)}`],
    ["Tokens in and out", `${number(today.input_tokens + today.output_tokens)}${of(daily.tokens)}`],
    ["Tokens embedded", number(today.embedding_tokens)],
    ["Cost", today.cost === null && today.calls ? "unknown" : `${(today.cost ?? 0).toFixed(4)}${of(daily.cost)}`],
  ];
  return [h("h2", {}, "Spent today (UTC)"), table(spent), h("h2", {}, "Total"), table(rows)];
}

function table(rows) {
  return h("table", {}, h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)))));
}

async function verified(text) {
  let checkpoint;
  try {
    checkpoint = text.trim() ? JSON.parse(text) : undefined;
  } catch {
    return problem({ title: "This is no JSON", message: "Paste the checkpoint as it was printed." });
  }
  const found = await call("verify", { checkpoint });
  say(found.damage.length ? "Damage was found." : "Everything agrees.");
  return [
    h("p", {}, tag(found.damage.length ? several(found.damage.length, "thing differs", "things differ") : "Everything agrees", found.damage.length ? "bad" : "good"), ` ${several(found.records, "record")}, ${several(found.turns, "turn")}, ${several(found.pages, "page")}, ${number(found.erased)} erased.`),
    found.damage.length ? h("ul", {}, found.damage.map((one) => h("li", {}, h("b", {}, one.where), `: ${one.what}`))) : null,
    [...found.torn, ...found.unproved].map((one) => h("p", { class: "quiet" }, one)),
    h("h3", {}, "Checkpoint of now"),
    h("p", { class: "quiet" }, "Keep it elsewhere: it proves later that nothing up to here was altered."),
    h("pre", { tabindex: 0, "aria-label": "Checkpoint" }, JSON.stringify(found.checkpoint, null, 1)),
  ];
}
