// The list of questions: filtered in the page, drawn a handful at a time, built from text nodes only.
"use strict";
const AT_ONCE = 40;

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined && text !== null) element.textContent = text;
  return element;
}

function verdictClass(verdict) {
  return verdict === true ? "right" : verdict === false ? "wrong" : "none";
}

function choice(label, values) {
  const select = make("select");
  select.setAttribute("aria-label", label);
  select.append(new Option(label, ""), ...values.map((value) => new Option(value, value)));
  return select;
}

function reply(one) {
  const box = make("div", "reply");
  const head = make("header");
  head.append(make("b", "", one.system));
  const inWords = (said) => (said === true ? "right" : said === false ? "wrong" : "undecided");
  const styles = Object.entries(one.verdicts || {});
  const verdict = styles.length > 1
    ? styles.map(([style, said]) => style + ": " + inWords(said)).join(", ") : inWords(one.verdict);
  head.append(make("span", verdictClass(one.verdict), one.ranks ? (one.verdict ? "all found" : "not all found") : verdict));
  if (one.route) head.append(make("span", "", one.route));
  if (one.f1 !== undefined) head.append(make("span", "", "F1 " + one.f1));
  if (one.tokens !== undefined) head.append(make("span", "", one.tokens.toLocaleString("en") + " tokens"));
  if (one.seconds !== undefined) head.append(make("span", "", one.seconds + " s"));
  for (const [level, rank] of Object.entries(one.ranks || {}))
    head.append(make("span", "", level + ": " + (rank === null ? "not found" : "rank " + rank)));
  box.append(head);
  if (!one.ranks) box.append(make("div", "answer", one.answer === null ? "(abstained)" : one.answer));
  if (one.reason) box.append(make("div", "note", "router: " + one.reason));
  for (const text of one.degraded || []) box.append(make("div", "note wrong", "degraded: " + text));
  for (const cited of one.citations || []) {
    const quote = make("blockquote");
    quote.append(make("small", "", [cited.speaker, cited.said].filter(Boolean).join(", ")), "“" + cited.quote + "”");
    if (cited.claim && cited.claim !== cited.quote) quote.append(make("small", "", "for: " + cited.claim));
    box.append(quote);
  }
  for (const text of one.shown || []) box.append(make("blockquote", "", text));
  return box;
}

function question(one) {
  const box = make("details", "question");
  const line = make("summary");
  const dots = make("span", "dots");
  for (const said of one.replies) {
    const dot = make("i", verdictClass(said.verdict));
    dot.title = said.system + ": " + verdictClass(said.verdict);
    dots.append(dot);
  }
  line.append(dots, make("span", "words", one.text), make("span", "where", one.category + " · " + one.id));
  box.append(line);
  box.addEventListener("toggle", () => {
    if (!box.open || box.children.length > 1) return;
    const body = make("div", "open");
    const gold = make("div", "gold");
    gold.append(make("b", "", "gold"), one.gold.join(" / "));
    if (one.flags.length) gold.append(make("span", "note", " (" + one.flags.join(", ") + ")"));
    body.append(gold);
    for (const text of one.evidence) {
      const quote = make("blockquote");
      quote.append(make("small", "", "evidence"), text);
      body.append(quote);
    }
    for (const said of one.replies) body.append(reply(said));
    box.append(body);
  });
  return box;
}

function browser(place) {
  const all = JSON.parse(document.getElementById(place.dataset.of).textContent);
  const systems = [...new Set(all.flatMap((one) => one.replies.map((said) => said.system)))];
  const routes = [...new Set(all.flatMap((one) => one.replies.map((said) => said.route)).filter(Boolean))];
  const words = make("input");
  words.type = "search";
  words.placeholder = "words in the question, the gold answer or an answer";
  words.setAttribute("aria-label", "search");
  const category = choice("every category", [...new Set(all.map((one) => one.category))]);
  const system = choice("any system", systems);
  const ranked = all.some((one) => one.replies.some((said) => said.ranks));
  const verdict = choice("any verdict", ranked ? ["right", "wrong"] : ["right", "wrong", "abstained", "undecided"]);
  const route = choice("any route", routes);
  const count = make("span", "count");
  const filters = make("div", "filters");
  filters.append(words, category, system, verdict, ...(routes.length ? [route] : []), count);
  const list = make("div");
  const more = make("button", "", "show more");
  place.append(filters, list, more);
  let found = [];
  let shown = 0;

  function fits(said) {
    if (system.value && said.system !== system.value) return false;
    if (route.value && said.route !== route.value) return false;
    if (!verdict.value) return true;
    if (verdict.value === "abstained") return said.answer === null;
    if (verdict.value === "undecided") return said.verdict === null;
    return said.verdict === (verdict.value === "right");
  }

  function draw() {
    for (const one of found.slice(shown, shown + AT_ONCE)) list.append(question(one));
    shown = Math.min(found.length, shown + AT_ONCE);
    more.hidden = shown >= found.length;
  }

  function filter() {
    const wanted = words.value.toLowerCase();
    found = all.filter((one) => {
      if (category.value && one.category !== category.value) return false;
      if (!one.replies.some(fits)) return false;
      const text = [one.text, ...one.gold, ...one.replies.map((said) => said.answer || "")].join("\n");
      return !wanted || text.toLowerCase().includes(wanted);
    });
    count.textContent = found.length + " of " + all.length + " questions";
    list.replaceChildren();
    shown = 0;
    draw();
  }

  for (const control of [words, category, system, verdict, route]) control.addEventListener("input", filter);
  more.addEventListener("click", draw);
  filter();
}

document.querySelectorAll(".browser").forEach(browser);
