// Long lists: rows are made when they are to be seen and removed when they are not, so that ten thousand are as
// quick as ten. Rows have heights of their own, which are known before they are made.

import { h } from "./dom.js";

const BEYOND = 600;
const STILL = 120;
let moved = 0;

addEventListener("scroll", () => { moved = performance.now(); }, { passive: true });

// Does something for a row that is still there when scrolling has ended.
export function whenStill(node, doing) {
  setTimeout(() => {
    if (!node.isConnected) return;
    if (performance.now() - moved < STILL) whenStill(node, doing);
    else doing();
  }, STILL);
}

export function longList({ count, height, row, label }) {
  const tops = new Float64Array(count + 1);
  for (let n = 0; n < count; n += 1) tops[n + 1] = tops[n] + height(n);
  const node = h("div", { class: "long", role: "list", "aria-label": label });
  node.style.height = `${tops[count]}px`;
  const shown = new Map();

  function at(place) {
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tops[middle + 1] <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function made(n) {
    const item = h("div", { class: "row", role: "listitem", "aria-setsize": count, "aria-posinset": n + 1 }, row(n));
    item.style.transform = `translateY(${tops[n]}px)`;
    item.style.height = `${height(n)}px`;
    return item;
  }

  function draw() {
    if (!node.isConnected) return;
    const above = -node.getBoundingClientRect().top;
    const first = at(Math.max(0, above - BEYOND));
    const last = Math.min(count - 1, at(above + innerHeight + BEYOND));
    for (const [n, item] of shown) {
      if ((n < first || n > last) && !item.contains(document.activeElement)) {
        item.remove();
        shown.delete(n);
      }
    }
    for (let n = first; n <= last; n += 1) {
      if (shown.has(n)) continue;
      const item = made(n);
      const next = [...shown.keys()].filter((other) => other > n);
      node.insertBefore(item, next.length ? shown.get(Math.min(...next)) : null);
      shown.set(n, item);
    }
  }

  let due = 0;
  function later() {
    if (!node.isConnected && shown.size) {
      removeEventListener("scroll", later);
      removeEventListener("resize", later);
      return;
    }
    due ||= requestAnimationFrame(() => {
      due = 0;
      draw();
    });
  }
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later);
  requestAnimationFrame(draw);
  return node;
}
