// Taking out: a unit back, words for ever. What would go is shown first, as a dry run of it says.

import { call, forget } from "./api.js";
import { coming, field, fill, h, problem, say } from "./dom.js";
import { number, said, several, short } from "./format.js";

const MOST_SHOWN = 50;
const MOST_TURNS = 3;

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

export function eraseTurn(line) {
  return eraseDialog(`Erase a turn of ${line.turn.speaker}`, () => goes({ turn: line.address }), { turn: line.address });
}

export function erasePage(page) {
  return eraseDialog(`Erase page ${page.number} of ${page.session}`, () => goes({ page: page.id }), { page: page.id });
}

export function eraseSession({ name }) {
  return eraseDialog(`Erase session ${name}`, () => goes({ session: name }), { session: name });
}

// What would go, as a dry run of the erasure says it: the receipt will say the same.
async function goes(what) {
  const { erasure, recorded_calls: calls, words } = await call("erase", { ...what, dry_run: true });
  const turns = erasure.turns.length;
  return [
    h("blockquote", {}, words.slice(0, MOST_TURNS).map((one) => h("p", { class: "cut" }, h("b", {}, one.speaker), ` ${one.text}`, h("span", { class: "quiet" }, ` ${said(one.said_at)}`))), words.length > MOST_TURNS ? h("p", { class: "quiet" }, `and ${several(words.length - MOST_TURNS, "turn")} more`) : null),
    h("p", {}, h("b", {}, several(turns, "turn")), ` would go, on ${several(erasure.pages.length, "page")}, and with ${turns === 1 ? "it" : "them"}:`),
    unitsOf(several(erasure.units.length, "unit"), erasure.units),
    erasure.narrowed.length ? unitsOf(`${several(erasure.narrowed.length, "unit")} would stay: other words support them`, erasure.narrowed) : null,
    erasure.returned.length ? unitsOf(`${several(erasure.returned.length, "unit")} would hold again`, erasure.returned) : null,
    h("p", {}, `${several(erasure.answers.length, "answer")}, ${several(erasure.findings.length, "finding")}, ${calls === null ? "recorded calls with the words" : several(calls, "recorded call")}. ${several(erasure.stripped, "record")} would be stripped of what was told from the words.`),
    erasure.also_said.length ? h("p", {}, `${several(erasure.also_said.length, "turn")} that would stay ${erasure.also_said.length === 1 ? "says" : "say"} some of it too.`) : null,
    h("p", { class: "quiet" }, "This is a dry run of the same erasure: nothing was done yet. Bundles, exports and backups made before keep the words, and the log keeps the names of sessions."),
  ];
}

// Units by their ids; their words are read once somebody wants to see them.
function unitsOf(words, ids) {
  if (!ids.length) return h("p", {}, `${words}.`);
  const list = h("ul");
  const texts = async () => (await Promise.all(ids.slice(0, MOST_SHOWN).map((id) => call("get", { id })))).map((unit) => h("li", {}, unit.text));
  const shown = (event) => event.target.open && !list.childElementCount && coming(list, texts);
  return h("details", { ontoggle: shown }, h("summary", {}, words), list, more(ids.length));
}

function listed(words, units) {
  return h("details", {}, h("summary", {}, words), h("ul", {}, units.slice(0, MOST_SHOWN).map((unit) => h("li", {}, unit.text))), more(units.length));
}

function more(count) {
  return count > MOST_SHOWN ? h("p", { class: "quiet" }, `and ${number(count - MOST_SHOWN)} more`) : null;
}

function receipt({ erasure, leftovers, recorded_calls: calls, remains, not_reached: beyond, not_looked_for: without }) {
  return [
    h(
      "ul",
      {},
      h("li", {}, `${several(erasure.turns.length, "turn")} erased on ${several(erasure.pages.length, "page")}`),
      h("li", {}, `${several(erasure.units.length, "unit")} went, ${several(erasure.narrowed.length, "unit")} narrowed, ${several(erasure.returned.length, "unit")} returned`),
      h("li", {}, `${several(erasure.answers.length, "answer")} and ${several(erasure.findings.length, "finding")} went, ${several(calls, "recorded call")} destroyed`),
      h("li", {}, looked(leftovers)),
    ),
    h("p", { class: "quiet" }, [`not looked for: ${without}`, remains, beyond].map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`).join(" ")),
  ];
}

function looked({ found, files, kind, phrases, silent, unread }) {
  const missing = [unread.length && `${several(unread.length, "file")} could not be looked through`, silent && `${several(silent, "turn")} had no words of their own to look for`].filter(Boolean);
  const rest = missing.length ? `; ${missing.join("; ")}` : "";
  if (found.length) return h("strong", {}, `${several(found.length, "place")} may still hold some of the words${rest}`);
  return `${several(phrases, "phrase")} looked for in ${several(files, kind)} of the store, and none found${rest}`;
}

export function withdrawDialog(unit) {
  const preview = async () => {
    const { returned, beside } = await call("withdraw", { unit_id: unit.id, dry_run: true });
    return [
      h("blockquote", {}, h("p", {}, unit.text)),
      h("p", {}, "It would be recalled no more. The words that only it rests on stay on their page, shown as taken back, and are no evidence. ", h("b", {}, "It can be reinstated.")),
      returned.length ? listed(`${several(returned.length, "unit")} would hold again`, returned) : null,
      beside.length ? listed(`${several(beside.length, "unit")} would keep some of the words evidence`, beside) : null,
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

export function reinstateDialog(unit) {
  const preview = async () => [h("blockquote", {}, h("p", {}, unit.text)), h("p", {}, "It would hold again, and so would its words as evidence.")];
  return dialog("Reinstate a unit", preview, {
    button: "Reinstate",
    act: async (reason) => {
      const done = await call("reinstate", { unit_id: unit.id, reason });
      return h("p", {}, `Reinstated; ${several(done.superseded.length, "unit")} superseded again.`);
    },
  });
}
