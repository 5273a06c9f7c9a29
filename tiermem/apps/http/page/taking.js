// Taking out: a unit back, words for ever. What would go is shown first, made of what the memory tells.

import { call, forget, pageOf } from "./api.js";
import { coming, field, fill, h, problem, say } from "./dom.js";
import { number, several, short } from "./format.js";
import { overlap, wordsOf } from "./words.js";

const MOST_UNITS = 5000;
const MOST_ANSWERS = 50;

function dialog(title, preview, { button, sure, act }) {
  const reason = h("input", { type: "text", required: true, autocomplete: "off", maxlength: 500 });
  const agreed = sure && h("input", { type: "checkbox", required: true, id: "agreed" });
  const came = h("div", { "aria-live": "polite" });
  const confirm = h("button", { class: "danger" }, button);
  const close = h("button", { type: "button", onclick: () => node.close() }, "Cancel");
  const send = async (event) => {
    event.preventDefault();
    confirm.disabled = true;
    try {
      const done = await act(reason.value);
      forget();
      fill(came, h("p", {}, h("b", {}, "Done.")), done);
      for (const one of asked) one.remove();
      say("Done.");
      confirm.remove();
      close.textContent = "Close";
      node.dataset.done = "yes";
      close.focus();
    } catch (error) {
      fill(came, problem(error));
      confirm.disabled = false;
    }
  };
  const what = h("div", { class: "preview" });
  const asked = [what, field("Reason", reason, "It stays on record: say it without the words themselves.")];
  if (sure) asked.push(h("p", { class: "check" }, agreed, h("label", { for: "agreed" }, sure)));
  const node = h(
    "dialog",
    { "aria-labelledby": "dialog-title" },
    h(
      "form",
      { onsubmit: send },
      h("h2", { id: "dialog-title" }, title),
      ...asked,
      came,
      h("p", { class: "buttons" }, close, confirm),
    ),
  );
  node.addEventListener("close", () => {
    node.remove();
    if (node.dataset.done) dispatchEvent(new HashChangeEvent("hashchange"));
  });
  document.body.append(node);
  node.showModal();
  reason.focus();
  coming(what, preview);
  return node;
}

function eraseDialog(title, preview, what) {
  return dialog(title, preview, {
    button: "Erase for ever",
    sure: "This cannot be undone.",
    act: async (reason) => receipt(await call("erase", { ...what, reason })),
  });
}

export function eraseTurn(page, line) {
  const words = [{ page_id: page.id, start: line.start, end: line.end }];
  return eraseDialog(`Erase a turn of ${line.turn.speaker}`, () => goes(page, [line], words, 1), { turn: line.seq });
}

export function erasePage(page) {
  const lines = page.lines.filter((one) => one.turn);
  return eraseDialog(`Erase page ${page.number} of ${page.session}`, () => goes(page, lines, [whole(page)], lines.length), { page: page.id });
}

export function eraseSession({ name, pages }) {
  const preview = async () => {
    const read = await Promise.all(pages.map((one) => (one.lines ? one : pageOf(one.id))));
    const there = read.map((page) => page.lines.filter((one) => one.turn));
    const turns = there.reduce((sum, lines) => sum + lines.length, 0);
    return goes(read[0], there[0], pages.map(whole), turns);
  };
  return eraseDialog(`Erase session ${name}`, preview, { session: name });
}

function whole(page) {
  return { page_id: page.id, start: 0, end: Infinity };
}

async function goes(page, lines, words, turns) {
  const known = await call("stats");
  const all = known.units <= MOST_UNITS;
  const [units, shown] = await Promise.all([call("units", all ? {} : { session: page.session }), shownTo(words)]);
  const touched = units.filter((unit) => unit.spans.some((span) => words.some((one) => overlap(one, span))));
  const alone = touched.filter((unit) => unit.spans.every((span) => words.some((one) => overlap(one, span))));
  const rest = touched.filter((unit) => !alone.includes(unit));
  return [
    h("blockquote", {}, lines.slice(0, 3).map((one) => h("p", { class: "cut" }, h("b", {}, one.turn.speaker), ` ${wordsOf(page, one)}`)), turns > 3 ? h("p", { class: "quiet" }, `and ${several(turns - Math.min(3, lines.length), "turn")} more`) : null),
    h("p", {}, h("b", {}, several(turns, "turn")), turns === 1 ? " would go, with what rests on it:" : " would go, with what rests on them:"),
    listed(several(alone.length, "unit rests", "units rest") + " on these words alone, and would go", alone),
    rest.length ? listed(several(rest.length, "unit rests", "units rest") + " on other words too, and would stay only as far as these prove it", rest) : null,
    h("p", {}, `${several(shown.found, "answer")} of the newest ${number(shown.looked)} had these words before them, or their page, and would go.`),
    h("p", { class: "quiet" }, `Reckoned from ${all ? "all units" : `the units of session ${page.session}`} and the newest answers as they are now; nothing was tried. What else was made of the words, and what the index and recorded calls hold, goes too. Bundles, exports and backups made before keep the words. The receipt will say exactly what went.`),
  ];
}

function listed(words, units) {
  if (!units.length) return h("p", { class: "quiet" }, `${words.charAt(0).toUpperCase()}${words.slice(1)}.`);
  return h("details", {}, h("summary", {}, words), h("ul", {}, units.slice(0, 50).map((unit) => h("li", {}, unit.text))), units.length > 50 ? h("p", { class: "quiet" }, `and ${number(units.length - 50)} more`) : null);
}

async function shownTo(words) {
  const newest = (await call("answers")).slice(-MOST_ANSWERS);
  const read = await Promise.all(newest.map((one) => call("get", { id: one.id })));
  const holds = (answer) => [...answer.citations, ...answer.trace.candidates].some((one) => one.spans.some((span) => words.some((word) => overlap(word, span))));
  const pages = new Set(words.map((word) => word.page_id));
  const wasRead = (answer) => answer.trace.rounds.some((round) => round.pages.some((page) => pages.has(page)));
  return { looked: newest.length, found: read.filter((one) => holds(one) || wasRead(one)).length };
}

function receipt({ erasure, leftovers, recorded_calls: calls, not_reached: beyond }) {
  return [
    h(
      "ul",
      {},
      h("li", {}, `${several(erasure.turns.length, "turn")} erased on ${several(erasure.pages.length, "page")}`),
      h("li", {}, `${several(erasure.units.length, "unit")} went, ${several(erasure.narrowed.length, "unit")} narrowed, ${several(erasure.returned.length, "unit")} returned`),
      h("li", {}, `${several(erasure.answers.length, "answer")} and ${several(erasure.findings.length, "finding")} went, ${several(calls, "recorded call")} destroyed`),
      h("li", {}, looked(leftovers)),
    ),
    h("p", { class: "quiet" }, `${beyond.charAt(0).toUpperCase()}${beyond.slice(1)}.`),
  ];
}

function looked({ found, files, phrases, silent, unread }) {
  const missing = [unread.length && `${several(unread.length, "file")} could not be looked through`, silent && `${several(silent, "turn")} had no words of their own to look for`].filter(Boolean);
  const rest = missing.length ? `; ${missing.join("; ")}` : "";
  if (found.length) return h("strong", {}, `${several(found.length, "place")} may still hold some of the words${rest}`);
  return `${several(phrases, "phrase")} looked for in ${several(files, "file")} of the store, and none found${rest}`;
}

export function withdrawDialog(unit) {
  const preview = async () => {
    const trail = await call("trail", { unit_id: unit.id });
    const older = trail.filter((one) => unit.supersedes.includes(one.unit.id));
    return [
      h("blockquote", {}, h("p", {}, unit.text)),
      h("p", {}, "It would be recalled no more. The words that only it rests on stay on their page, shown as taken back, and are no evidence. ", h("b", {}, "It can be restored.")),
      older.length ? listed(`${several(older.length, "unit")} that it took the place of may return`, older.map((one) => one.unit)) : null,
    ];
  };
  return dialog("Withdraw a unit", preview, {
    button: "Withdraw",
    act: async (reason) => {
      const done = await call("withdraw", { unit_id: unit.id, reason });
      return h("ul", {}, h("li", {}, `Withdrawn: ${short(done.unit.id)}`), h("li", {}, `${several(done.returned.length, "unit")} returned`), h("li", {}, `${several(done.beside.length, "unit")} that holds keeps some of the words evidence`));
    },
  });
}

export function restoreDialog(unit) {
  const preview = async () => [h("blockquote", {}, h("p", {}, unit.text)), h("p", {}, "It would hold again, and so would its words as evidence.")];
  return dialog("Restore a unit", preview, {
    button: "Restore",
    act: async (reason) => {
      const done = await call("restore", { unit_id: unit.id, reason });
      return h("p", {}, `Restored; ${several(done.superseded.length, "unit")} superseded again.`);
    },
  });
}
