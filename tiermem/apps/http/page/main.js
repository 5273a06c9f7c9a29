// The views of this page by their addresses, and what is around them.

import { agentsHere, hasKey, memory, open, takeKey, useKey } from "./api.js";
import { answer, answers, ask } from "./ask.js";
import { field, fill, h, problem, say, waiting } from "./dom.js";
import { to } from "./format.js";
import { past } from "./past.js";
import { about, search } from "./search.js";
import { store } from "./store.js";
import { page, timeline } from "./timeline.js";
import { unit } from "./unit.js";

const VIEWS = { ask, answers, answer, timeline, page, unit, search, about, past, store };
const WITHIN = { answer: "answers", page: "timeline", unit: "timeline", about: "search" };

const main = document.getElementById("main");
let turn = 0;
let opened = false;

function address() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, of = ""] = path.split("/");
  return { view: Object.hasOwn(VIEWS, view) ? view : "ask", of: decodeURIComponent(of), given: new URLSearchParams(query) };
}

async function show({ first = false } = {}) {
  turn += 1;
  const own = turn;
  const { view, of, given } = address();
  for (const link of document.querySelectorAll("#views a")) {
    const here = link.getAttribute("href") === `#/${WITHIN[view] || view}`;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const slow = setTimeout(() => own === turn && fill(main, waiting()), 150);
  let made;
  try {
    made = await VIEWS[view](of, given);
  } catch (error) {
    if (error.status === 401) return;
    made = { title: "Problem", node: h("div", { class: "narrow" }, problem(error)) };
  } finally {
    clearTimeout(slow);
  }
  if (own !== turn) return;
  document.title = `${made.title} · TierMem`;
  fill(main, made.node);
  main.dataset.place = location.hash;
  if (!first) scrollTo(0, 0);
  if (made.focus) made.focus.focus({ preventScroll: true });
  else if (!first) main.focus({ preventScroll: true });
  made.shown?.();
}

function place(agents = []) {
  const choose = (event) => location.assign(addressOf({ space: event.target.value }));
  const look = (event) => location.assign(addressOf({ space: memory.space, ...(event.target.value ? { agent: event.target.value } : {}) }));
  const names = memory.spaces.includes(memory.space) ? memory.spaces : [memory.space, ...memory.spaces];
  fill(
    document.getElementById("place"),
    names.length > 1 ? field("Space", h("select", { onchange: choose }, names.map((one) => h("option", { value: one, selected: one === memory.space }, one)))) : h("p", {}, h("span", { class: "quiet" }, "Space "), memory.space),
    agents.length ? field("Seen by", h("select", { onchange: look }, h("option", { value: "", selected: memory.agent === null }, "the owner"), agents.map((one) => h("option", { value: one, selected: one === memory.agent }, one)))) : memory.agent !== null && h("p", {}, h("span", { class: "quiet" }, "Seen by "), memory.agent),
    h("p", { class: "quiet engine" }, `engine ${memory.engine}`),
    memory.may.includes("write") ? null : h("p", { class: "quiet" }, "read-only"),
    hasKey() && h("button", { type: "button", class: "quiet-button", onclick: () => { useKey(null); location.reload(); } }, "Forget the key"),
  );
}

// Where the same kind of view is, of what somebody else sees.
function addressOf(given) {
  const { view } = address();
  return `${location.pathname}?${new URLSearchParams(given)}${to(WITHIN[view] || view)}`;
}

function askKey(refused) {
  turn += 1;
  const key = h("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const send = (event) => {
    event.preventDefault();
    useKey(key.value.trim());
    begin();
  };
  fill(
    main,
    h(
      "div",
      { class: "narrow" },
      h("h1", {}, "This memory needs a key"),
      hasKey() && problem(refused),
      h("form", { onsubmit: send }, field("Key", key, "It begins with tm_ and is kept in this tab alone, until it is closed. `tiermem keys make` makes one."), h("button", { class: "first" }, "Go on")),
    ),
  );
  key.focus();
}

// The spaces that there are, where the one that was named is none.
function others() {
  const place = (name) => `${location.pathname}?${new URLSearchParams({ space: name })}`;
  return memory.spaces.length ? [h("h2", {}, "Spaces"), h("ul", {}, memory.spaces.map((one) => h("li", {}, h("a", { href: place(one) }, one))))] : null;
}

async function begin() {
  try {
    await open();
  } catch (error) {
    if (error.status !== 401) fill(main, h("div", { class: "narrow" }, h("h1", {}, "There is nothing to look at"), problem(error), others()));
    return;
  }
  opened = true;
  place();
  await show({ first: true });
  place(await agentsHere().catch(() => []));
}

document.addEventListener("needs-key", (event) => askKey(event.detail));
addEventListener("hashchange", () => {
  if (takeKey()) location.reload();
  else if (opened) show();
});
document.getElementById("skip").addEventListener("click", () => main.focus());
addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input, select, textarea, dialog *");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (address().view === "search") document.getElementById("query")?.focus();
  else location.hash = to("search");
  say("Search");
});
begin();
