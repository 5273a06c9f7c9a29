// Times, numbers and the names of things, as they are read here.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MOMENT = /^(\d{4})-(\d\d)(?:-(\d\d))?(?:T(\d\d):(\d\d))?/;

// When something was said, on the clock of whoever spoke: no zone is reckoned with.
export function said(iso) {
  const parts = iso && MOMENT.exec(iso);
  if (!parts) return iso || "";
  const [, year, month, day, hour, minute] = parts;
  const date = `${day ? `${Number(day)} ` : ""}${MONTHS[Number(month) - 1]} ${year}`;
  return hour === undefined ? date : `${date}, ${hour}:${minute}`;
}

export function day(iso) {
  return iso ? said(iso.slice(0, 10)) : "";
}

export function month(iso) {
  return iso ? said(iso.slice(0, 7)) : "at no known time";
}

// When the store recorded something, on the clock of whoever looks.
export function recorded(iso) {
  if (!iso) return "";
  const at = new Date(iso);
  const two = (number) => String(number).padStart(2, "0");
  return `${at.getDate()} ${MONTHS[at.getMonth()]} ${at.getFullYear()}, ${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function number(value) {
  return value === null || value === undefined ? "unknown" : value.toLocaleString("en");
}

export function several(count, one, more = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : more}`;
}

export function seconds(value) {
  return value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`;
}

export function short(id) {
  return id.length > 14 ? `${id.slice(0, 11)}…` : id;
}

// A place of this page: a view, what it is of, and what it is given.
export function to(view, of = "", given = {}) {
  const kept = Object.entries(given).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(kept).toString();
  return `#/${view}${of ? `/${encodeURIComponent(of)}` : ""}${query ? `?${query}` : ""}`;
}

export function toWords(span) {
  return to("page", span.page_id, { from: span.start, to: span.end });
}

export function toPerson(name) {
  return to("about", name);
}

// What code checked, by the support of an answer, a fact or a unit.
export const SUPPORT = {
  said: ["Said", "Lines as they were said; whether they answer was not checked."],
  quoted: ["Quoted", "Every item is literally in a cited sentence; its meaning was not checked."],
  computed: ["Computed", "Dates are counted from a cited sentence, the rest is quoted; the calculation is stored."],
  stated: ["Stated", "The checked words are in the sources; their meaning was not checked."],
  worded: ["Worded", "The quotes are exact; the wording was not confirmed."],
};

// What may turn the meaning of an answer.
export const CAUTIONS = {
  negation: "A negation is in only one of the answer and the cited sentence",
  possibility: "A possibility is in only one of the answer and the cited sentence",
  plan: "A plan or wish is in only one of the answer and the cited sentence",
  condition: "A condition is in only one of the answer and the cited sentence",
  exception: "An exception is in only one of the answer and the cited sentence",
  past_habit: "A past habit is in only one of the answer and the cited sentence",
  report: "The cited sentence reports what another person said",
  person: "The cited sentence is not about the person in question",
  relative: "The cited sentence is about somebody or something that belongs to the person in question",
  competing: "The cited sentence has another number, date or name as near to the words of the question",
  question: "The cited sentence only asks",
  assistant: "Only an assistant says so",
  memory: "Only another memory says so, and it shows no words",
  inferred: "It is concluded from the cited words",
  superseded: "A later statement differs",
  language: "There are no rules for the language of the cited sentence",
  topic: "The cited sentence has no content word of the question",
};

export const ROUTES = { ANSWER: "read no further", ESCALATE: "read further" };

export const WAYS = {
  recall: "from what was recalled",
  widened: "more turns were read",
  researched: "what was missing was searched for and read",
};
