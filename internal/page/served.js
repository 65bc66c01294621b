// @ts-check
// The script of a page that a server makes: it asks the server what has changed. It sets the text of what
// is there, and never makes markup of text. tsc --strict --checkJs finds nothing in it.
"use strict";
(() => {
  const poll = /** @type {HTMLElement|null} */ (document.querySelector("[data-poll]"));
  if (!poll) return;
  const often = 2000, seldom = 15000;

  /** @param {Element|null} e @param {unknown} text */
  const say = (e, text) => { if (e && typeof text === "string" && e.textContent !== text) e.textContent = text; };

  /** @param {{rows: {id: string, verdict: string, word: string, cells: string[], sentence: string}[]|null, note: string, token: string, done: boolean}} state */
  const show = (state) => {
    /** @type {Map<string, HTMLElement>} */
    const rows = new Map();
    for (const tr of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("tr[data-row]"))) rows.set(tr.dataset.row || "", tr);
    for (const r of state.rows || []) {
      const tr = rows.get(r.id);
      if (!tr) continue;
      const word = tr.querySelector(".small");
      if (word) word.className = "small " + r.verdict;
      say(word, r.word);
      const cells = tr.querySelectorAll("td");
      r.cells.forEach((c, i) => say(cells[i + 1], c));
      say(cells[cells.length - 1], r.sentence);
    }
    if (state.note) say(document.getElementById("note"), state.note);
    if (state.token !== poll.dataset.token) {
      if (poll.dataset.reload !== undefined) location.reload();
      else poll.hidden = false;
    }
  };

  const ask = async () => {
    let done = false;
    if (!document.hidden) {
      try {
        const answer = await fetch(poll.dataset.poll || "", { cache: "no-store" });
        if (answer.ok) {
          const state = await answer.json();
          show(state);
          done = state.done;
        }
      } catch { done = true; /* the server has gone, and may come back */ }
    }
    setTimeout(ask, done ? seldom : often);
  };
  setTimeout(ask, often);
})();
