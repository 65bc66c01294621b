// @ts-check
// The script of a page: zoom, tooltips, find, the strip, sorted tables, and drawings of other
// places than the one that the page opens with. Without it the page shows the same, but does
// not move. It makes elements and sets their text; it never makes markup of text.
// tsc --strict --checkJs finds nothing in it. replay.js comes before it.
"use strict";
(() => {
  const tip = /** @type {HTMLElement} */ (document.getElementById("tip"));

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

  // Tables of keys and runs are filtered by what is typed, and sorted by a click on a heading. A server does that itself.
  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("main:not(.list) table.index"))) {
    const body = table.tBodies[0], rows = Array.from(body.rows), heads = Array.from(table.tHead?.rows[0].cells || []);
    if (rows.length < 2) continue;
    const text = (/** @type {HTMLTableRowElement} */ r, /** @type {number} */ i) => (r.cells[i].textContent || "").trim();
    const collator = new Intl.Collator(undefined, { numeric: true });
    heads.forEach((th, i) => {
      const b = button(th.textContent || "", "Sort by " + th.textContent, () => {
        const way = th.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of heads) other.removeAttribute("aria-sort");
        th.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
        body.append(...[...rows].sort((a, c) => way * collator.compare(text(a, i), text(c, i))));
      });
      th.replaceChildren(b);
    });
    const filter = /** @type {HTMLInputElement} */ (document.createElement("input")), shown = html("output", "");
    filter.type = "search";
    filter.placeholder = "a name, a verdict, or a word";
    filter.setAttribute("aria-label", "Filter the table");
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const r of rows) r.hidden = !words.every((w) => (r.textContent || "").toLowerCase().includes(w));
      shown.textContent = words.length ? `${rows.filter((r) => !r.hidden).length} of ${rows.length}` : "";
    });
    const form = html("div", "", "filter");
    form.append(filter, shown);
    (table.parentElement || table).before(form);
  }

  /** One history of the page. @param {HTMLElement} part */
  const view = (part) => {
    const one = (/** @type {string} */ s) => /** @type {HTMLElement} */ (part.querySelector(s));
    const canvas = one(".canvas"), where = one(".where"), slider = one(".slider"), here = one(".s-here"), found = one(".found");
    const home = /** @type {SVGSVGElement|null} */ (canvas.querySelector("svg"));
    const back = one('[data-do="home"]'), around = /** @type {HTMLElement|null} */ (part.querySelector('[data-do="around"]'));
    const held = JSON.parse(one("script.held").textContent || "{}");
    const ops = held.op || [];
    /** @type {Map<number, number>} */
    const rowOf = new Map(ops.map((/** @type {number} */ op, /** @type {number} */ i) => [op, i]));
    const status = ["ok", "failed", "crashed"];
    const wider = /** @type {SVGSVGElement|null} */ (part.querySelector(".wider svg"));
    let svg = home, scale = 1;

    // Zoom: the drawing is larger or smaller than drawn, and its panel scrolls.
    const natural = () => svg?.viewBox.baseVal.width || 1;
    /** @param {number} to @param {number} [x] the place in the panel that stays */
    const setScale = (to, x = canvas.clientWidth / 2) => {
      const least = Math.min(1, canvas.clientWidth / natural()), at = (canvas.scrollLeft + x) / scale;
      scale = clamp(to, least, Math.max(6, 6 * fits()));
      if (!svg) return;
      svg.style.width = natural() * scale + "px";
      canvas.scrollLeft = at * scale - x;
    };
    const fits = () => canvas.clientWidth / natural();
    /** Shows a drawing, as large as there is room for, with its last operation or the failing one in view.
     * @param {SVGSVGElement} next */
    const show = (next) => {
      svg = next;
      canvas.replaceChildren(svg);
      back.hidden = svg === home || svg === wider || !home;
      if (around) {
        around.hidden = !wider || svg !== home && svg !== wider;
        around.textContent = svg === wider ? "Only the core" : "What was around it";
      }
      if (replay) replay.panel.hidden = svg !== home;
      if (!svg.querySelector(".names")) {
        const names = Array.from(svg.querySelectorAll(".name")), group = make("g", { class: "names" });
        svg.append(group);
        const width = Math.max(0, ...names.map((t) => /** @type {SVGTextElement} */ (t).getBBox().width));
        group.append(make("rect", { x: 0, y: 0, width: width + 24, height: svg.viewBox.baseVal.height }), ...names);
      }
      marks().forEach((g, i) => {
        const title = g.querySelector("title");
        if (title) {
          g.setAttribute("aria-label", title.textContent || "");
          title.remove();
        }
        g.setAttribute("role", "img");
        g.setAttribute("tabindex", i === 0 ? "0" : "-1");
      });
      setScale(clamp(fits(), 1, 1.6));
      const bad = /** @type {SVGGraphicsElement|null} */ (svg.querySelector(".failing rect"));
      if (bad) canvas.scrollLeft = (Number(bad.getAttribute("x")) + Number(bad.getAttribute("width"))) * scale + 32 - canvas.clientWidth;
      keepReason();
    };
    // Why the failing operation cannot happen stands beside its bar, or where that has no room, below the drawing.
    const keepReason = () => {
      const reason = svg?.querySelector(".reason"), below = /** @type {HTMLElement|null} */ (part.querySelector(".because"));
      canvas.classList.remove("narrow");
      const at = reason?.getBoundingClientRect(), seen = canvas.getBoundingClientRect();
      const beside = !!at && at.left >= seen.left && at.right <= Math.min(seen.right, innerWidth);
      canvas.classList.toggle("narrow", !beside);
      if (below) below.hidden = !reason || beside;
    };
    addEventListener("resize", () => keepReason());
    const marks = () => /** @type {SVGGElement[]} */ (Array.from(canvas.querySelectorAll("[data-op]")));
    // The names of the rows stay in view.
    const keepNames = () => {
      const x = Math.max(0, canvas.scrollLeft / scale - 12), names = canvas.querySelector(".names");
      names?.setAttribute("transform", `translate(${x})`);
      names?.classList.toggle("aside", x > 0);
    };
    canvas.addEventListener("scroll", keepNames);
    const zoom = (/** @type {number} */ by, /** @type {number} */ x = canvas.clientWidth / 2) => setScale(scale * by, x);
    const pan = (/** @type {number} */ dx, /** @type {number} */ dy) => canvas.scrollBy(dx * canvas.clientWidth, dy * canvas.clientHeight);
    canvas.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !canvas.contains(document.activeElement)) return;
      e.preventDefault();
      zoom(e.deltaY > 0 ? 1 / 1.2 : 1.2, e.clientX - canvas.getBoundingClientRect().left);
    }, { passive: false });
    /** Where the mouse took the drawing. @type {number[]|null} */
    let grabbed = null;
    canvas.addEventListener("pointerdown", (e) => { if (e.button === 0 && e.pointerType === "mouse") grabbed = [canvas.scrollLeft + e.clientX, canvas.scrollTop + e.clientY]; });
    addEventListener("pointerup", () => { grabbed = null; });
    canvas.addEventListener("pointermove", (e) => { if (grabbed) canvas.scrollTo(grabbed[0] - e.clientX, grabbed[1] - e.clientY); });

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
    /** The operation under the pointer, or that of a point. @param {Event} e */
    const markOf = (e) => {
      const at = e.target instanceof Element ? e.target.closest("[data-op], [data-of]") : null, of = at?.getAttribute("data-of");
      return of ? canvas.querySelector(`[data-op="${of}"]`) : at;
    };
    canvas.addEventListener("pointerover", (e) => { const g = markOf(e); if (g) showTip(g); else hideTip(); });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("focusin", (e) => { const g = markOf(e); if (g) showTip(g); });
    canvas.addEventListener("focusout", hideTip);

    // The keyboard: one stop for the tab key, and arrows from there.
    const focus = (/** @type {SVGElement|undefined} */ g) => {
      if (!g) return;
      for (const m of marks()) m.setAttribute("tabindex", m === g ? "0" : "-1");
      const b = (g.querySelector("rect") || g).getBoundingClientRect(), c = canvas.getBoundingClientRect();
      if (b.right < c.left + 20 || b.left > c.right - 20) canvas.scrollBy(b.left + b.width / 2 - c.left - c.width / 2, 0);
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
        ArrowLeft: () => pan(-0.2, 0), ArrowRight: () => pan(0.2, 0), ArrowUp: () => pan(0, -0.2), ArrowDown: () => pan(0, 0.2), "+": () => zoom(1.3),
      } : {
        ArrowLeft: () => step(at - 1), ArrowRight: () => step(at + 1), Home: () => step(0), End: () => step(all.length - 1),
        ArrowUp: () => focus(across(all, all[at], -1)), ArrowDown: () => focus(across(all, all[at], 1)),
        "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), "0": () => setScale(fits()), Escape: hideTip,
      };
      if (!keys[e.key] || at < 0) return;
      e.preventDefault();
      keys[e.key]();
    });
    const tools = one(".tools");
    tools.hidden = false;
    tools.addEventListener("click", (e) => {
      const what = e.target instanceof HTMLElement ? e.target.dataset.do : "";
      if (what === "in") zoom(1.5);
      if (what === "out") zoom(1 / 1.5);
      if (what === "fit") setScale(fits());
      if (what === "home" && home) { show(home); place(first, ""); }
      if (what === "around" && home && wider) show(svg === wider ? home : wider);
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
        make("text", { x: 8, y: 8 + k * row + 30, class: "name" }, "process " + name.slice(0, 12)),
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
    /** @param {number} k @param {string} said */
    const place = (k, said) => {
      const drawn = marks().map((g) => stretchOf(Number(g.getAttribute("data-op"))));
      if (svg === home && part.dataset.fail) drawn.push(Math.floor(Number(part.dataset.fail)));
      const from = said && !drawn.includes(k) ? k : Math.min(k, ...drawn), to = said && !drawn.includes(k) ? k : Math.max(k, ...drawn);
      here.setAttribute("x", String(from));
      here.setAttribute("width", String(to - from + 1));
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
        const b = html("button", `process ${held.who[i]}: ${held.label[i]} (index ${held.end[i] >= 0 ? held.end[i] : held.index[i]})`);
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

    const first = Number(part.dataset.at || 0);
    const name = (/** @type {number} */ op) => {
      const i = rowOf.get(op);
      return i === undefined ? "operation " + op : `${held.label[i]} of process ${held.who[i]}`;
    };
    const replay = home && held.replay && newReplay(held.replay, name, (op) => {
      const i = rowOf.get(op) ?? -1;
      return [held.inv[i], held.res[i] < 0 || held.status[i] === 2 ? Infinity : held.res[i]];
    });
    if (home) {
      part.querySelector(".wider")?.remove();
      if (replay) one("figure").append(replay.panel);
      one("figure").classList.toggle("core", Boolean(replay && held.replay.core));
      show(home);
      replay?.attach(home);
    }
    if (stretches) place(first, "");
  };
  document.querySelectorAll(".part").forEach((part) => { if (part.querySelector("script.held")) view(/** @type {HTMLElement} */ (part)); });
})();
