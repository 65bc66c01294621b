// @ts-check
// The script of a page: zoom, pan, tooltips, find, the strip, and drawings of other
// places than the one that the page opens with. Without it the page shows the same,
// but does not move. It makes elements and sets their text; it never makes markup of
// text. tsc --strict --checkJs finds nothing in it.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const tip = /** @type {HTMLElement} */ (document.getElementById("tip"));

  /** An element with attributes and a text.
   * @param {string} name @param {Record<string, string|number>} attrs @param {string} [text] */
  const make = (name, attrs, text) => {
    const e = document.createElementNS(SVG, name);
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
  const clamp = (/** @type {number} */ x, /** @type {number} */ low, /** @type {number} */ high) => Math.min(Math.max(x, low), high);

  // The switch between the system's colors, light and dark.
  const theme = /** @type {HTMLElement} */ (document.getElementById("theme"));
  const themes = ["system", "light", "dark"];
  let chosen = 0;
  const showTheme = () => {
    document.documentElement.dataset.theme = themes[chosen];
    theme.textContent = "Colors: " + themes[chosen];
  };
  try { chosen = Math.max(0, themes.indexOf(localStorage.getItem("clew-theme") || "")); } catch { /* a file may have no storage */ }
  theme.addEventListener("click", () => {
    chosen = (chosen + 1) % themes.length;
    try { localStorage.setItem("clew-theme", themes[chosen]); } catch { /* likewise */ }
    showTheme();
  });
  theme.hidden = false;
  showTheme();

  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".copy"))) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const pre = /** @type {HTMLElement} */ (button.nextElementSibling);
      const done = () => { button.textContent = "Copied"; };
      const select = () => {
        getSelection()?.selectAllChildren(pre);
        if (document.execCommand("copy")) done();
      };
      if (navigator.clipboard) navigator.clipboard.writeText(pre.textContent || "").then(done, select);
      else select();
    });
  }
  addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; });

  /** One history of the page. @param {HTMLElement} part */
  const view = (part) => {
    const one = (/** @type {string} */ s) => /** @type {HTMLElement} */ (part.querySelector(s));
    const canvas = one(".canvas"), where = one(".where"), slider = one(".slider"), here = one(".s-here"), found = one(".found");
    const home = /** @type {SVGSVGElement|null} */ (canvas.querySelector("svg"));
    const back = one('[data-do="home"]');
    const held = JSON.parse(one("script.held").textContent || "{}");
    const ops = held.op || [];
    /** @type {Map<number, number>} */
    const rowOf = new Map(ops.map((/** @type {number} */ op, /** @type {number} */ i) => [op, i]));
    const status = ["ok", "failed", "crashed"];
    let svg = home, full = [0, 0, 1, 1], box = full;

    // Zoom and pan: the view box is the part of the drawing that is seen.
    const setBox = (/** @type {number[]} */ [x, y, w, h]) => {
      w = clamp(w, full[2] / 20, full[2]);
      h = w * full[3] / full[2];
      box = [clamp(x, full[0], full[0] + full[2] - w), clamp(y, full[1], full[1] + full[3] - h), w, h];
      svg?.setAttribute("viewBox", box.join(" "));
    };
    const show = (/** @type {SVGSVGElement} */ next) => {
      svg = next;
      canvas.replaceChildren(svg);
      full = (svg.getAttribute("viewBox") || "0 0 1 1").split(/[ ,]+/).map(Number);
      box = full;
      back.hidden = svg === home || !home;
      marks().forEach((g, i) => {
        const title = g.querySelector("title");
        if (title) {
          g.setAttribute("aria-label", title.textContent || "");
          title.remove();
        }
        g.setAttribute("role", "img");
        g.setAttribute("tabindex", i === 0 ? "0" : "-1");
      });
    };
    const marks = () => /** @type {SVGGElement[]} */ (Array.from(canvas.querySelectorAll("[data-op]")));
    /** The point of the drawing under the pointer. @param {MouseEvent} e */
    const point = (e) => {
      const r = canvas.getBoundingClientRect(), scale = box[2] / (svg?.getBoundingClientRect().width || 1);
      return [box[0] + (e.clientX - r.left + canvas.scrollLeft) * scale, box[1] + (e.clientY - r.top) * scale];
    };
    const zoom = (/** @type {number} */ by, at = [box[0] + box[2] / 2, box[1] + box[3] / 2]) => {
      const w = clamp(box[2] * by, full[2] / 20, full[2]), k = w / box[2];
      setBox([at[0] - (at[0] - box[0]) * k, at[1] - (at[1] - box[1]) * k, w, 0]);
    };
    const pan = (/** @type {number} */ dx, /** @type {number} */ dy) => setBox([box[0] + dx * box[2], box[1] + dy * box[3], box[2], 0]);
    canvas.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !canvas.contains(document.activeElement)) return;
      e.preventDefault();
      zoom(e.deltaY > 0 ? 1.2 : 1 / 1.2, point(e));
    }, { passive: false });
    /** @type {number[]|null} */
    let grabbed = null;
    canvas.addEventListener("pointerdown", (e) => { if (e.button === 0) grabbed = point(e); });
    addEventListener("pointerup", () => { grabbed = null; });
    canvas.addEventListener("pointermove", (e) => {
      if (!grabbed) return;
      const p = point(e);
      setBox([box[0] + grabbed[0] - p[0], box[1] + grabbed[1] - p[1], box[2], 0]);
    });

    // The tooltip shows the whole op maps, to the pointer and to the keyboard.
    const showTip = (/** @type {Element} */ g) => {
      const i = rowOf.get(Number(g.getAttribute("data-op")));
      tip.replaceChildren(html("b", g.getAttribute("aria-label") || ""));
      if (i !== undefined) {
        if (held.began[i]) tip.append(html("code", held.began[i]));
        tip.append(html("code", held.text[i]));
        const effect = held.effect[ops[i]];
        if (effect) tip.append(html("span", effect, "effect"));
      }
      const why = g.getAttribute("data-why");
      if (why) tip.append(html("span", why, "why"));
      tip.hidden = false;
      const r = (g.querySelector("rect") || g).getBoundingClientRect(), t = tip.getBoundingClientRect();
      const below = r.bottom + 8 + t.height < innerHeight;
      tip.style.left = clamp(r.left, 8, Math.max(8, innerWidth - t.width - 8)) + "px";
      tip.style.top = Math.max(8, below ? r.bottom + 8 : r.top - t.height - 8) + "px";
      g.setAttribute("aria-describedby", "tip");
    };
    const hideTip = () => { tip.hidden = true; };
    const markOf = (/** @type {Event} */ e) => e.target instanceof Element ? e.target.closest("[data-op]") : null;
    canvas.addEventListener("pointerover", (e) => { const g = markOf(e); if (g) showTip(g); else hideTip(); });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("focusin", (e) => { const g = markOf(e); if (g) showTip(g); });
    canvas.addEventListener("focusout", hideTip);

    // The keyboard: one stop for the tab key, and arrows from there.
    const focus = (/** @type {SVGElement|undefined} */ g) => {
      if (!g) return;
      for (const m of marks()) m.setAttribute("tabindex", m === g ? "0" : "-1");
      const b = /** @type {SVGGraphicsElement} */ (g.querySelector("rect") || g).getBBox();
      const seen = b.x + b.width > box[0] && b.x < box[0] + box[2] && b.y >= box[1] && b.y + b.height <= box[1] + box[3];
      if (!seen) setBox([b.x + b.width / 2 - box[2] / 2, b.y + b.height / 2 - box[3] / 2, box[2], 0]);
      g.focus({ preventScroll: false });
    };
    /** The nearest operation in the next row. @param {SVGGElement[]} all @param {SVGGElement} from @param {number} way */
    const across = (all, from, way) => {
      const mid = (/** @type {Element} */ g) => { const r = (g.querySelector("rect") || g).getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; };
      const [x, y] = mid(from);
      const cost = (/** @type {SVGGElement} */ g) => { const [gx, gy] = mid(g); return (gy - y) * way < 6 ? Infinity : Math.abs(gy - y) * 1000 + Math.abs(gx - x); };
      const best = all.reduce((a, b) => (cost(b) < cost(a) ? b : a), from);
      return cost(best) === Infinity ? from : best;
    };
    canvas.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const all = marks(), at = all.indexOf(/** @type {SVGGElement} */ (markOf(e)));
      const step = (/** @type {number} */ i) => focus(all[clamp(i, 0, all.length - 1)]);
      /** @type {Record<string, () => void>} */
      const keys = e.shiftKey ? {
        ArrowLeft: () => pan(-0.2, 0), ArrowRight: () => pan(0.2, 0), ArrowUp: () => pan(0, -0.2), ArrowDown: () => pan(0, 0.2), "+": () => zoom(1 / 1.3),
      } : {
        ArrowLeft: () => step(at - 1), ArrowRight: () => step(at + 1), Home: () => step(0), End: () => step(all.length - 1),
        ArrowUp: () => focus(across(all, all[at], -1)), ArrowDown: () => focus(across(all, all[at], 1)),
        "+": () => zoom(1 / 1.3), "=": () => zoom(1 / 1.3), "-": () => zoom(1.3), "0": () => setBox(full), Escape: hideTip,
      };
      if (!keys[e.key] || at < 0) return;
      e.preventDefault();
      keys[e.key]();
    });
    const tools = one(".tools");
    tools.hidden = false;
    tools.addEventListener("click", (e) => {
      const what = e.target instanceof HTMLElement ? e.target.dataset.do : "";
      if (what === "in") zoom(1 / 1.5);
      if (what === "out") zoom(1.5);
      if (what === "fit") setBox(full);
      if (what === "home" && home) { show(home); place(Number(part.dataset.at || 0), ""); }
    });

    /** Draws the operations around one of those that the page holds side by side. @param {number} center */
    const draw = (center) => {
      const most = 24, from = clamp(center - most / 2, held.from, Math.max(held.from, held.to - most)), to = Math.min(held.to, from + most);
      /** @type {number[]} */
      const ends = [];
      /** @type {string[]} */
      const names = [];
      for (let i = from; i < to; i++) {
        ends.push(held.inv[i]);
        if (held.res[i] >= 0) ends.push(held.res[i]);
        if (!names.includes(held.who[i])) names.push(held.who[i]);
      }
      ends.sort((a, b) => a - b);
      names.sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1));
      const left = 130, column = clamp(1100 / ends.length, 20, 60), row = 40, width = Math.round(left + ends.length * column + 60), height = names.length * row + 16;
      const at = (/** @type {number} */ event) => left + ends.indexOf(event) * column;
      const s = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (make("svg", { viewBox: `0 0 ${width} ${height}`, width, height })));
      const fades = home?.querySelector("defs")?.cloneNode(true);
      if (fades) s.append(fades);
      names.forEach((name, k) => s.append(
        make("text", { x: 8, y: 8 + k * row + 30 }, "process " + name.slice(0, 12)),
        make("line", { x1: 8, x2: width - 8, y1: 8 + k * row + 38, y2: 8 + k * row + 38, class: "rule" })));
      /** @type {Record<string, [number, Element]>} */
      const last = {}; // of each process, the label that goes on until the next bar
      for (let i = from; i < to; i++) {
        const y = 8 + names.indexOf(held.who[i]) * row, x = at(held.inv[i]), crashed = held.status[i] === 2, failing = ops[i] === Number(part.dataset.failing);
        const right = crashed || held.res[i] < 0 ? width - 8 : at(held.res[i]);
        const g = make("g", { "data-op": ops[i], class: failing ? "failing" : "op" });
        const label = make("text", { x, y: y + 14, class: failing ? "wrong" : "halo" }, held.label[i]);
        const before = last[held.who[i]];
        if (before) trim(before[1], x - before[0]);
        last[held.who[i]] = [x, label];
        g.append(make("title", {}, `process ${held.who[i]}'s ${held.label[i]} (index ${held.end[i] >= 0 && !crashed ? held.end[i] : held.index[i]}), ${status[held.status[i]]}`),
          make("rect", { x, y: y + 18, width: Math.max(4, right - x), height: 14, rx: 3, class: crashed ? "fade" : failing ? "wrong" : held.status[i] === 1 ? "bar failed" : "bar" }), label);
        s.append(g);
      }
      for (const [x, label] of Object.values(last)) trim(label, width - x);
      show(s);
    };
    /** Shortens a label to the width that there is for it. @param {Element} label @param {number} width */
    const trim = (label, width) => {
      const text = Array.from(label.textContent || ""), most = Math.max(1, Math.floor(width / 7.5) - 1);
      if (text.length > most) label.textContent = text.slice(0, most - 1).join("") + "…";
    };
    /** Shows an operation, where it is drawn already or in a drawing of its own. @param {number} i */
    const go = (i) => {
      const there = () => marks().find((g) => g.getAttribute("data-op") === String(ops[i]));
      if (!there() && home && home.querySelector(`[data-op="${ops[i]}"]`)) show(home);
      if (!there()) draw(i);
      place(stretchOf(ops[i]), "");
      return there();
    };

    // The strip.
    const stretches = held.stretch.length;
    const stretchOf = (/** @type {number} */ op) => {
      let k = 0;
      while (k + 1 < stretches && held.stretch[k + 1] <= op) k++;
      return k;
    };
    const place = (/** @type {number} */ k, /** @type {string} */ said) => {
      here.setAttribute("x", String(k));
      slider.setAttribute("aria-valuenow", String(k + 1));
      slider.setAttribute("aria-valuetext", "index " + held.stretchIndex[k] + (said && ", " + said));
      where.textContent = said;
    };
    /** Goes to a place in the history. @param {number} k */
    const move = (k) => {
      k = clamp(k, 0, stretches - 1);
      const row = held.from + held.stretch[k] - ops[held.from], near = row >= held.from && row <= held.to;
      if (near) draw(Math.min(row, held.to - 1));
      place(k, (near ? "around index " : "this page does not hold the operations around index ") + held.stretchIndex[k]);
    };
    const press = (/** @type {PointerEvent} */ e) => {
      const r = slider.getBoundingClientRect();
      move(Math.floor((e.clientX - r.left) / r.width * stretches));
    };
    slider.addEventListener("pointerdown", (e) => { slider.setPointerCapture(e.pointerId); press(e); });
    slider.addEventListener("pointermove", (e) => { if (slider.hasPointerCapture(e.pointerId)) press(e); });
    slider.addEventListener("keydown", (e) => {
      const k = Number(slider.getAttribute("aria-valuenow")) - 1;
      /** @type {Record<string, number>} */
      const keys = { ArrowLeft: k - 1, ArrowDown: k - 1, ArrowRight: k + 1, ArrowUp: k + 1, PageDown: k - 10, PageUp: k + 10, Home: 0, End: stretches - 1 };
      if (!(e.key in keys)) return;
      e.preventDefault();
      move(keys[e.key]);
    });
    slider.hidden = ops.length === 0;

    // Find.
    const form = one(".find"), input = /** @type {HTMLInputElement} */ (one(".find input")), said = one(".find output");
    const matches = () => {
      const q = input.value.trim(), who = /^(?:p|process )\s*(\S+)$/.exec(q), all = [];
      for (let i = 0; q && i < ops.length; i++) {
        if (who ? held.who[i] === who[1]
          : String(held.index[i]) === q || String(held.end[i]) === q || held.label[i].includes(q) || held.text[i].includes(q)) all.push(i);
      }
      // An index is found before values that contain it.
      const exact = all.findIndex((i) => String(held.index[i]) === q || String(held.end[i]) === q);
      if (exact > 0) all.unshift(...all.splice(exact, 1));
      return all;
    };
    const find = () => {
      const all = matches(), most = 24;
      said.textContent = input.value.trim() === "" ? "" : `${all.length} of the ${ops.length} operations here` + (all.length > most ? `, the first ${most}:` : "");
      found.replaceChildren(...all.slice(0, most).map((i) => {
        const b = html("button", `${held.who[i]}: ${held.label[i]} (${held.end[i] >= 0 ? held.end[i] : held.index[i]})`);
        b.setAttribute("type", "button");
        b.addEventListener("click", () => focus(go(i)));
        const item = document.createElement("li");
        item.append(b);
        return item;
      }));
      return all;
    };
    input.addEventListener("input", find);
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      const all = find();
      if (all.length) focus(go(all[0]));
    });
    form.hidden = ops.length === 0;

    if (home) show(home);
    if (stretches) place(Number(part.dataset.at || 0), "");
  };
  document.querySelectorAll(".part").forEach((part) => { if (part.querySelector("script.held")) view(/** @type {HTMLElement} */ (part)); });
})();
