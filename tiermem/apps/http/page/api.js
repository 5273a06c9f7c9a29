// The operations of a memory over HTTP: the same as every other program's, and nothing beside them.

const KEY = "tiermem.key";

const REPLACE = "This link has another key than this tab. Use the key of the link from now on? Follow only links of people you trust: what you store then is stored with their key.";

// A key in the address (`#key=…`) is removed from it at once, so that no history keeps it. It replaces another key
// only if the user agrees. Returns whether it did.
export function takeKey() {
  const given = /^#key=([\w-]+)$/.exec(location.hash);
  if (!given) return false;
  history.replaceState(null, "", `${location.pathname}${location.search}`);
  const stored = sessionStorage.getItem(KEY);
  if (stored === given[1] || (stored !== null && !confirm(REPLACE))) return false;
  sessionStorage.setItem(KEY, given[1]);
  return true;
}

takeKey();

const address = new URLSearchParams(location.search);
export const memory = { space: address.get("space"), agent: address.get("agent"), spaces: [], bound: false, engine: "", may: [] };

export class Refused extends Error {
  constructor(body, status) {
    super(body.detail || `the server answered with ${status}`);
    this.title = body.title;
    this.next = body.next;
    this.status = status;
    this.kind = body.error;
  }
}

export function may(right) {
  return memory.may.includes(right);
}

export function hasKey() {
  return sessionStorage.getItem(KEY) !== null;
}

export function useKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

async function sent(path, options) {
  const key = sessionStorage.getItem(KEY);
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, credentials: "omit", cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ title: "No answer", detail: "the server does not answer", next: "see whether it still runs" }, 0);
  }
  if (answer.ok) return answer;
  const refused = new Refused(await answer.json().catch(() => ({})), answer.status);
  if (answer.status === 401) document.dispatchEvent(new CustomEvent("needs-key", { detail: refused }));
  throw refused;
}

async function asked(path, options) {
  return (await sent(path, options)).json().catch(() => ({}));
}

// Which space is meant, and as whom: an agent sees what is its own, the owner everything.
function here() {
  return new URLSearchParams({ space: memory.space, ...(memory.agent ? { agent: memory.agent } : {}) });
}

function request(given, signal, headers = {}) {
  const known = Object.entries(given).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(Object.fromEntries(known)), signal };
}

export function call(operation, given = {}, { signal } = {}) {
  return asked(`v1/${operation}?${here()}`, request(given, signal));
}

// The same, with `tell` called with each event (its name, and what it says) while the operation runs.
export async function following(operation, given, tell, { signal } = {}) {
  const answer = await sent(`v1/${operation}?${here()}`, request(given, signal, { Accept: "text/event-stream" }));
  for await (const { name, value } of events(answer.body)) {
    if (name === "result") return value;
    if (name === "problem") throw new Refused(value, value.status);
    tell(name, value);
  }
  throw new Refused({ title: "No answer", detail: "the server ended before it answered", next: "ask again" }, 0);
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const found = /^event: (\w+)\ndata: (.*)$/s.exec(part);
      if (found) yield { name: found[1], value: JSON.parse(found[2]) };
    }
  }
}

// What there is to look at: the space that the address names, or the default one, or the first.
export async function open() {
  memory.spaces = await asked("v1/spaces", {});
  if (memory.space === null) {
    memory.space = memory.spaces.includes("default") || !memory.spaces.length ? "default" : memory.spaces[0];
  }
  const opened = await asked(`v1/open?${here()}`, { method: "POST" });
  memory.engine = opened.engine;
  memory.bound = memory.agent === null && opened.agent !== null;
  memory.agent = opened.agent;
  memory.may = opened.may;
}

// Who has turns of their own in this space; a key that is one agent's looks as that one alone.
export async function agentsHere() {
  if (memory.bound) return [];
  const { agents: named = [] } = await asked(`v1/stats?${new URLSearchParams({ space: memory.space })}`, request({}));
  return [...new Set(memory.agent === null ? named : [...named, memory.agent])];
}

const pages = new Map();
const MOST_PAGES = 300;

// A page with its words, of which some are kept here: sealed ones do not change, but for what is taken back.
export async function pageOf(id) {
  let page = pages.get(id);
  if (page === undefined) {
    page = call("page", { page_id: id });
    pages.set(id, page);
    page.catch(() => pages.delete(id));
    if (pages.size > MOST_PAGES) pages.delete(pages.keys().next().value);
  }
  return page;
}

// The titles of sessions by their ids: what the chat of a session was called when it was last imported.
export async function titlesOf() {
  const sessions = await call("sessions");
  return new Map(sessions.filter((one) => one.title !== null).map((one) => [one.session, one.title]));
}

export function forget() {
  pages.clear();
}
