// The operations of a memory over HTTP: the same as every other program's, and nothing beside them.

const KEY = "tiermem.key";

// A key in the address (`#key=…`) is taken out of it at once, so that no history keeps it.
const given = /^#key=([\w-]+)$/.exec(location.hash);
if (given) {
  sessionStorage.setItem(KEY, given[1]);
  history.replaceState(null, "", `${location.pathname}${location.search}`);
}

export const memory = { space: new URLSearchParams(location.search).get("space"), spaces: [], engine: "", may: [] };

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

async function asked(path, options) {
  const key = sessionStorage.getItem(KEY);
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, credentials: "omit", cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ title: "No answer", detail: "the server does not answer", next: "see whether it still runs" }, 0);
  }
  const body = await answer.json().catch(() => ({}));
  if (answer.ok) return body;
  const refused = new Refused(body, answer.status);
  if (answer.status === 401) document.dispatchEvent(new CustomEvent("needs-key", { detail: refused }));
  throw refused;
}

export function call(operation, given = {}, { signal } = {}) {
  const known = Object.entries(given).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return asked(`v1/${operation}?${new URLSearchParams({ space: memory.space })}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(Object.fromEntries(known)),
    signal,
  });
}

// What there is to look at: the space that the address names, or the default one, or the first.
export async function open() {
  memory.spaces = await asked("v1/spaces", {});
  if (memory.space === null) {
    memory.space = memory.spaces.includes("default") || !memory.spaces.length ? "default" : memory.spaces[0];
  }
  const told = await asked(`v1/open?${new URLSearchParams({ space: memory.space })}`, { method: "POST" });
  memory.engine = told.engine;
  memory.may = told.may;
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

export function forget() {
  pages.clear();
}
