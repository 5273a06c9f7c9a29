// Elements made of values. Text goes in as text nodes alone: nothing that memory holds is ever read as HTML.

export function h(tag, given = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...flat(children));
  return node;
}

function flat(children) {
  return children.flat(Infinity).filter((one) => one !== undefined && one !== null && one !== false);
}

export function fill(node, ...children) {
  node.replaceChildren(...flat(children));
  return node;
}

// What a screen reader is to say now.
export function say(words) {
  document.getElementById("status").textContent = words;
}

let numbers = 0;

// A labelled field of a form.
export function field(label, input, hint) {
  numbers += 1;
  input.id ||= `field-${numbers}`;
  return h("div", { class: "field" }, h("label", { for: input.id }, label), input, hint && h("p", { class: "hint" }, hint));
}

export function tag(words, kind = "") {
  return h("span", { class: `tag ${kind}`.trim() }, words);
}

// A place that says that something is under way, until it is filled.
export function waiting(words = "Looking …") {
  return h("p", { class: "quiet waiting" }, words);
}

export function problem(error) {
  return h(
    "div",
    { class: "problem", role: "alert" },
    h("strong", {}, error.title || "This did not work"),
    h("p", {}, error.message),
    error.next && h("p", { class: "quiet" }, `Next: ${error.next}`),
  );
}

// Fill `node` with what comes; what goes wrong is said there, and nowhere hidden.
export async function coming(node, making, words) {
  fill(node, waiting(words));
  try {
    fill(node, await making());
  } catch (error) {
    if (error.name !== "AbortError") fill(node, problem(error));
  }
  return node;
}
