// @ts-check
// The replay of a page: it steps through the orders of a core, lets the reader drag where an operation
// takes effect or leave one out, and says what breaks. What an operation does in a state was found by
// the model: the page holds it as a table. Points stay inside their bars, so every order respects
// which operation had returned before which. tsc --strict --checkJs finds nothing in it.
"use strict";

/** @typedef {{ops: number[], failing: number, optional: boolean[], states: string[], next: (number[]|null)[][], whys: string[], change: {from: number, to: number, said: string}[], without: boolean}} Core */
/** @typedef {{op: number, state: string, why: string}} Step */
/** @typedef {{row: number, from: number[], to: number[], why: string}} Done */

const MOST_ORDERS = 200;

/** An element of SVG, with attributes and a text.
 * @param {string} name @param {Record<string, string|number>} attrs @param {string} [text] */
const make = (name, attrs, text) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, String(v));
  if (text !== undefined) e.textContent = text;
  return /** @type {SVGGraphicsElement} */ (e);
};
/** @param {string} tag @param {string} text @param {string} [cls] */
const html = (tag, text, cls) => {
  const e = document.createElement(tag);
  e.textContent = text;
  if (cls) e.className = cls;
  return e;
};
/** @param {string} text @param {string} label @param {() => void} press */
const button = (text, label, press) => {
  const b = /** @type {HTMLButtonElement} */ (html("button", text));
  b.type = "button";
  b.setAttribute("aria-label", label);
  b.addEventListener("click", press);
  return b;
};
const clamp = (/** @type {number} */ x, /** @type {number} */ low, /** @type {number} */ high) => Math.min(Math.max(x, low), high);

/** A slider with a button on each side. @param {string} label @param {(at: number) => void} moved */
const newSlider = (label, moved) => {
  const input = /** @type {HTMLInputElement} */ (document.createElement("input"));
  input.type = "range";
  input.min = "0";
  input.setAttribute("aria-label", label);
  const go = () => moved(Number(input.value));
  const by = (/** @type {number} */ n) => () => { input.value = String(Number(input.value) + n); go(); };
  input.addEventListener("input", go);
  const parts = [button("◀", "One step back", by(-1)), input, button("▶", "One step on", by(1))];
  return { input, parts };
};

/** The orders of a core: what is possible, and what breaks.
 * @param {Core} core @param {number[]} inv by row @param {number[]} res by row, Infinity if it is open */
const newOrders = (core, inv, res) => {
  const rows = core.ops.map((_, row) => row), byEnd = [...rows].sort((a, b) => res[a] - res[b]);
  /** What a row does in any of some states. @param {number[]} from @param {number} row @returns {Done} */
  const step = (from, row) => {
    /** @type {Set<number>} */
    const to = new Set();
    let why = "";
    for (const s of from) {
      const next = core.next[s][row];
      if (!next) why = why || "this page does not know";
      else if (next[0] < 0) why = why || core.whys[-1 - next[0]];
      else for (const t of next) to.add(t);
    }
    return { row, from, to: [...to], why: to.size ? "" : why };
  };
  /** Takes the steps of an order up to the first that is impossible. @param {number[]} order */
  const walk = (order) => {
    /** @type {Done[]} */
    const done = [];
    let at = [0];
    for (const row of order) {
      const d = step(at, row);
      done.push(d);
      if (d.why) break;
      at = d.to;
    }
    return done;
  };
  /** Whether a row may come after those that are done. @param {number} row @param {number} done @param {number} left */
  const allowed = (row, done, left) => !((done | left) & 1 << row) && rows.every((r) => (done | left) & 1 << r || res[r] >= inv[row]);
  const needed = (/** @type {number} */ left) => byEnd.filter((r) => !core.optional[r] && !(left & 1 << r));
  /** All orders, each up to where it breaks, those that come furthest first; or one that does not break.
   * @param {number} left rows that are left out */
  const search = (left) => {
    /** @type {number[][]} */
    const broken = [];
    /** @type {number[]|null} */
    let fits = null;
    const seen = new Set();
    const go = (/** @type {number[]} */ order, /** @type {number} */ done, /** @type {number[]} */ states) => {
      if (fits || !left && broken.length > MOST_ORDERS) return; // without a row, one that fits is sought
      const missing = needed(left).filter((r) => !(done & 1 << r));
      if (!missing.length) { fits = order; return; }
      for (const row of byEnd) {
        if (!allowed(row, done, left)) continue;
        const d = step(states, row);
        if (d.why) {
          if (!core.optional[row] && broken.length <= MOST_ORDERS) broken.push([...order, row]);
          continue;
        }
        if (left) { // one that fits is sought, not all
          const key = (done | 1 << row) + ":" + d.to.join();
          if (seen.has(key)) continue;
          seen.add(key);
        }
        go([...order, row], done | 1 << row, d.to);
      }
    };
    go([], 0, [0]);
    const score = (/** @type {number[]} */ o) => o.filter((r) => !core.optional[r]).length * 100 + (o[o.length - 1] === core.failing ? 50 : 0) - o.length;
    broken.sort((a, b) => score(b) - score(a));
    return { broken: broken.slice(0, MOST_ORDERS), more: broken.length > MOST_ORDERS, fits: /** @type {number[]|null} */ (fits) };
  };
  /** An order with all others that must happen behind it. @param {number[]} order @param {number} left */
  const whole = (order, left) => {
    const all = [...order];
    let done = all.reduce((m, r) => m | 1 << r, 0);
    for (let next; (next = needed(left).find((r) => allowed(r, done, left))) !== undefined; done |= 1 << next) all.push(next);
    return all;
  };
  return { walk, search, whole };
};

/** The panel below a drawing. attach puts its points onto a drawing.
 * @param {{core: Core|null, steps: Step[]|null}} data @param {(op: number) => string} nameOf
 * @param {(op: number) => [number, number]} eventsOf the events of its invocation and completion, Infinity if it is open */
const newReplay = (data, nameOf, eventsOf) => {
  const panel = html("div", "", "replay");
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", "Replay");
  const status = html("p", "", "status");
  status.setAttribute("role", "status");
  return data.core ? replayCore(data.core, panel, status, nameOf, eventsOf) : replaySteps(data.steps || [], panel, status, nameOf);
};

/** Steps through one order, whose points are drawn. @param {Step[]} steps @param {HTMLElement} panel @param {HTMLElement} status @param {(op: number) => string} nameOf */
const replaySteps = (steps, panel, status, nameOf) => {
  /** @type {Element[]} */
  let dots = [];
  const show = (/** @type {number} */ at) => {
    dots.forEach((d, i) => {
      d.classList.toggle("later", i >= at);
      d.classList.toggle("now", i === at - 1);
    });
    const s = steps[at - 1];
    status.textContent = !s ? "Before the first of these operations." : `Step ${at} of ${steps.length}: ${nameOf(s.op)}` +
      (s.why ? ` cannot happen: ${s.why}` : s.state ? `; then the state is ${s.state}` : "");
    status.classList.toggle("broken", Boolean(s && s.why));
    slider.input.setAttribute("aria-valuetext", status.textContent);
  };
  const slider = newSlider("Step through the order", show), bar = html("div", "", "bar");
  slider.input.max = String(steps.length);
  bar.append(...slider.parts);
  panel.append(bar, status);
  const attach = (/** @type {SVGSVGElement} */ svg) => {
    dots = Array.from(svg.querySelectorAll("circle.dot:not(.try)"));
    slider.input.value = slider.input.max;
    show(steps.length);
  };
  return { panel, attach };
};

/** Steps through all orders of a core, and those that the reader makes.
 * @param {Core} core @param {HTMLElement} panel @param {HTMLElement} status
 * @param {(op: number) => string} nameOf @param {(op: number) => [number, number]} eventsOf */
const replayCore = (core, panel, status, nameOf, eventsOf) => {
  const n = core.ops.length, rows = core.ops.map((_, row) => row);
  const inv = core.ops.map((op) => eventsOf(op)[0]), res = core.ops.map((op, row) => (core.optional[row] ? Infinity : eventsOf(op)[1]));
  const orders = newOrders(core, inv, res);
  const name = (/** @type {number} */ row) => nameOf(core.ops[row]);
  const said = new Map(core.change.map((c) => [c.from + ":" + c.to, c.said]));

  let left = 0; // what is left out, as bits
  let found = orders.search(left);
  let chosen = 0; // among found.broken, or -1 if the reader made the order
  /** @type {number[]} */
  let order = []; // what happens, in order of the points
  /** @type {Done[]} */
  let done = []; // how far it goes
  let at = 0; // steps that are shown
  /** @type {SVGSVGElement|null} */
  let svg = null;
  const layer = make("g", { class: "points" });
  /** By row: its bar in the drawing, and where its point stands.
   * @type {{from: number, to: number, y: number, x: number}[]} */
  let bars = [];
  let end = 0; // where the failing operation returned; points of open operations that stand behind it do not happen

  const verdict = html("p", "", "said"), list = html("ol", "", "steps"), which = html("span", "", "which");
  const slider = newSlider("Step through the order", (k) => { at = k; show(); });
  const pick = (/** @type {number} */ by) => () => {
    const all = found.broken.length;
    chosen = all ? (chosen + by + all) % all : -1;
    place(found.broken[Math.max(0, chosen)] || []);
  };
  const turn = [button("‹", "The order before", pick(-1)), button("›", "The next order", pick(1))];
  const bar = html("div", "", "bar");
  bar.append(...slider.parts, turn[0], which, turn[1]);
  panel.append(verdict, bar, status, list, html("p", "Drag a point inside its bar, or move it with the arrow keys: the page says what breaks.", "help"));

  /** What the states of a step are, or how they change. @param {Done} d */
  const stateOf = (d) => {
    const change = d.from.length === 1 && d.to.length === 1 && said.get(d.from[0] + ":" + d.to[0]);
    return change ? "the state changes by " + change : "the state is " + d.to.map((s) => core.states[s]).join(" or ");
  };

  /** Puts the points where an order has them: just after the latest invocation up to them.
   * @param {number[]} given */
  const place = (given) => {
    const all = orders.whole(given, left), marks = [...new Set(rows.flatMap((r) => [inv[r], res[r]]))].filter(Number.isFinite).sort((a, b) => a - b);
    const xOf = new Map(rows.flatMap((r) => /** @type {[number, number][]} */ ([[res[r], bars[r].to], [inv[r], bars[r].from]])));
    /** @type {Map<number, number[]>} */
    const groups = new Map();
    let latest = -1;
    for (const row of all) {
      latest = Math.max(latest, inv[row]);
      groups.set(latest, [...(groups.get(latest) || []), row]);
    }
    for (const [mark, group] of groups) {
      const next = marks[marks.indexOf(mark) + 1], from = xOf.get(mark) || 0, to = next === undefined ? end : xOf.get(next) || 0;
      group.forEach((row, i) => { bars[row].x = from + (to - from) * (i + 1) / (group.length + 1); });
    }
    for (const row of rows) if (core.optional[row] && !all.includes(row)) bars[row].x = bars[row].to - 4;
    arrange();
  };
  /** Reads the order from where the points stand. */
  const arrange = () => {
    const happen = rows.filter((r) => !(left & 1 << r) && !(core.optional[r] && bars[r].x > end)).sort((a, b) => bars[a].x - bars[b].x);
    order = []; // as the points stand, but no sooner than what had returned before: bars drawn by time may touch
    for (let next; (next = happen.find((r) => !order.includes(r) && happen.every((o) => order.includes(o) || res[o] >= inv[r]))) !== undefined;) order.push(next);
    done = orders.walk(order);
    at = done.length;
    slider.input.max = String(at);
    slider.input.value = String(at);
    show();
  };
  const broken = () => done.length > 0 && done[done.length - 1].why !== "";

  const show = () => {
    const all = found.broken.length, last = done[at - 1];
    if (left && !broken()) verdict.textContent = `Without ${leftNames()}, the others can happen in this order.`;
    else if (left) verdict.textContent = found.fits ? `Without ${leftNames()}, this order breaks; another does not.` : `Without ${leftNames()}, it fails too.`;
    else verdict.textContent = all === 1 && !found.more ? "There is one order, and it breaks." : `All ${found.more ? "" : all + " "}orders break. Each is shown up to where it does.`;
    which.textContent = chosen < 0 ? "your order" : `order ${chosen + 1} of ${found.more ? "more than " : ""}${all}`;
    for (const b of [...turn, which]) b.hidden = left !== 0 || all < 2 && chosen >= 0;
    status.textContent = !last ? "Nothing has happened yet; the state is " + core.states[0]
      : `Step ${at} of ${done.length}: ${name(last.row)} ` + (last.why ? "cannot happen here: " + last.why : "happens; " + stateOf(last));
    status.classList.toggle("broken", Boolean(last && last.why));
    status.classList.toggle("fits", at === done.length && !broken());
    slider.input.setAttribute("aria-valuetext", status.textContent);
    list.replaceChildren(...order.map((row, i) => item(row, done[i])), ...rows.filter((r) => !order.includes(r)).map((row) => item(row, undefined)));
    draw();
  };
  const leftNames = () => rows.filter((r) => left & 1 << r).map(name).join(" and ");
  /** A line of the list. @param {number} row @param {Done|undefined} d */
  const item = (row, d) => {
    const out = Boolean(left & 1 << row), i = order.indexOf(row), li = document.createElement("li");
    li.append(html("b", name(row)), html("span", out ? " is left out" : i < 0 ? " does not happen" : !d ? "" : d.why ? " ✗ " + d.why : " — " + stateOf(d).replace("the state is ", "state ").replace("the state changes by ", "")));
    li.className = out || i < 0 || !d ? "off" : d.why ? "broken" : i < at ? "" : "later";
    if (i < 0) li.value = 0;
    li.classList.toggle("unnumbered", i < 0);
    if (core.without && n > 1) {
      const b = button(out ? "put back" : "leave out", (out ? "Put back " : "Leave out ") + name(row), () => leave(row));
      b.className = "leave";
      b.setAttribute("aria-pressed", String(out));
      li.append(" ", b);
    }
    return li;
  };
  /** Leaves one operation out, or puts it back. @param {number} row */
  const leave = (row) => {
    left = left & 1 << row ? 0 : 1 << row;
    found = orders.search(left);
    chosen = 0;
    place(found.fits || found.broken[0] || []);
    /** @type {HTMLElement|undefined} */ (Array.from(list.querySelectorAll("button")).find((b) => (b.getAttribute("aria-label") || "").endsWith(" " + name(row))))?.focus();
  };

  // The points: a group for each row, which stays while it moves, so that it keeps the pointer and the focus.
  const trails = [make("path", { class: "trail" }), make("path", { class: "trail broken" })];
  const points = rows.map((row) => {
    const g = make("g", { "data-point": row, "data-of": core.ops[row], role: "slider", "aria-label": `Where ${name(row)} takes effect`, "aria-valuemin": 0, "aria-valuemax": n });
    g.append(make("circle", { r: 14, class: "hold" }), make("circle", { r: 6, class: "dot" }), make("path", { d: "M-4 -4L4 4M4 -4L-4 4", class: "cross" }));
    return g;
  });
  layer.append(...trails, ...points);
  const draw = () => {
    const path = done.slice(0, at).map((d) => bars[d.row]), line = (/** @type {typeof path} */ p) => "M" + p.map((b) => b.x.toFixed(1) + " " + b.y).join("L");
    const ends = at === done.length && broken(), trail = path.length > 1 && (found.broken.length > 1 || chosen < 0 || left !== 0);
    trails[0].setAttribute("d", trail ? line(ends ? path.slice(0, -1) : path) : "");
    trails[1].setAttribute("d", trail && ends ? line(path.slice(-2)) : "");
    for (const row of rows) {
      const b = bars[row], g = points[row], i = order.indexOf(row), d = i < 0 ? undefined : done[i], out = Boolean(left & 1 << row);
      g.setAttribute("class", "point" + (out ? " out" : i < 0 ? " off" : !d || i >= at ? " later" : d.why ? " broken" : i === at - 1 ? " now" : ""));
      g.setAttribute("transform", `translate(${b.x.toFixed(1)} ${b.y})`);
      g.setAttribute("tabindex", out ? "-1" : "0");
      g.setAttribute("aria-disabled", String(out));
      g.setAttribute("aria-valuenow", String(i + 1));
      g.setAttribute("aria-valuetext", out ? "it is left out" : i < 0 ? "it does not happen" : `place ${i + 1} of ${order.length}` + (d && d.why ? ", where it cannot happen: " + d.why : ""));
    }
  };
  /** Moves a point as far as its bar goes. It pushes others aside if it cannot get past them otherwise.
   * @param {number} row @param {number} x */
  const move = (row, x) => {
    const b = bars[row], was = b.x;
    b.x = clamp(x, b.from + 1, b.to - 1);
    for (const other of bars) {
      const passed = other !== b && (x < other.x && other.x < was || was < other.x && other.x < x), way = Math.sign(was - x);
      const aside = clamp(b.x + 6 * way, other.from + 1, other.to - 1);
      if (passed && (other.x - b.x) * way <= 0 && (aside - b.x) * way > 0) other.x = aside;
    }
    chosen = -1;
    arrange();
  };
  /** Moves a point to the other side of its neighbor, or to the end. @param {number} row @param {number} way */
  const jump = (row, way) => {
    const others = rows.filter((r) => r !== row && !(left & 1 << r)).map((r) => bars[r].x).concat(core.optional[row] ? [end] : []);
    const beyond = others.filter((x) => (x - bars[row].x) * way > 0).sort((a, b) => (a - b) * way);
    const next = beyond[1] === undefined ? beyond[0] + 24 * way : (beyond[0] + beyond[1]) / 2;
    if (beyond.length) move(row, next);
  };
  const attach = (/** @type {SVGSVGElement} */ next) => {
    svg = next;
    bars = core.ops.map((op, row) => {
      const all = Array.from(next.querySelectorAll(`[data-op="${op}"] rect`)), get = (/** @type {Element} */ e, /** @type {string} */ a) => Number(e.getAttribute(a));
      const from = Math.min(...all.map((e) => get(e, "x"))), ends = Math.max(...all.map((e) => get(e, "x") + get(e, "width")));
      if (row === core.failing) end = ends;
      const to = core.optional[row] ? next.viewBox.baseVal.width - 6 : ends; // it may happen later than its bar has room for
      return { from, to, y: get(all[0], "y") + get(all[0], "height") / 2, x: from };
    });
    next.insertBefore(layer, next.querySelector(".names"));
    place(found.broken[0] || []);
  };

  const rowOf = (/** @type {Event} */ e) => (e.target instanceof Element ? /** @type {SVGElement|null} */ (e.target.closest("[data-point]"))?.dataset.point : undefined);
  /** @type {number|null} */
  let held = null;
  layer.addEventListener("pointerdown", (e) => {
    const row = rowOf(e);
    if (row === undefined || left & 1 << Number(row) || e.button !== 0) return;
    held = Number(row);
    e.stopPropagation(); // the drawing stays where it is
    e.preventDefault();
    points[held].focus({ preventScroll: true });
  });
  addEventListener("pointermove", (e) => {
    if (held === null || !svg) return;
    const r = svg.getBoundingClientRect();
    move(held, (e.clientX - r.left) * svg.viewBox.baseVal.width / r.width);
  });
  for (const over of ["pointerup", "pointercancel"]) addEventListener(over, () => { held = null; });
  layer.addEventListener("keydown", (e) => {
    const row = rowOf(e), way = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (row === undefined) return;
    if (way) jump(Number(row), way);
    else if ((e.key === "Delete" || e.key === "Backspace") && core.without && n > 1) leave(Number(row));
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  return { panel, attach };
};

