// The page that checks what is dropped on it. clew.js, which make try builds, has clew in WebAssembly, its worker, and what is
// listed: models, examples, flags. clew runs in a worker, which is ended to cancel a check.
"use strict";

const $ = (id) => document.getElementById(id);
const form = $("form");
const ownFile = "model.star"; // what errors call the user's own model
const maxLink = 32 << 10; // characters; some programs cut longer links
const maxLinked = 4 << 20; // bytes that a link carries, unpacked: a short link may be packed from a gigabyte

// script loads a script, which may be missing.
const script = (src) =>
  new Promise((loaded, missing) => {
    const s = document.createElement("script");
    Object.assign(s, { src, onload: loaded, onerror: missing });
    document.head.append(s);
  });

// through passes bytes through a stream, such as one that decompresses them. It fails once there are more than most.
const through = async (bytes, stream, most = Infinity) => {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    parts.push(value);
    size += value.length;
    if (size > most) {
      reader.cancel();
      throw new RangeError(`more than ${most} bytes`);
    }
  }
};

const bytesOf = (base64) => (Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)));

// What the form says, besides its file: a text by name.
const filled = () => Object.fromEntries(new FormData(form));
const fill = (fields) => {
  for (const e of form.elements) {
    if (!e.name) continue;
    if (e.type === "checkbox") e.checked = e.name in fields;
    else e.value = fields[e.name] ?? "";
  }
  if (!$("star").value) $("star").value = globalThis.clew.own;
  if ($("model").selectedIndex < 0) $("model").value = "";
  $("own").hidden = $("model").value !== "own";
};

// unquoted takes quotes off the value of a flag, as a shell does. Those of "a" are EDN's in a value that is EDN.
const unquoted = (name, value) => value.replace(name === "init" ? /^(')(.*)'$/s : /^(['"])(.*)\1$/s, "$2");

// optionsOf returns the options of a check. Flags are as on a command line, but a value goes on to the next flag.
const optionsOf = ({ model, init, independent, options }) => {
  const all = { output: "text", html: true };
  for (const flag of ` ${options}`.split(/\s--?(?=[a-z])/)) {
    const [, name, value] = /^([a-z-]+)[=\s]?(.*)$/s.exec(flag.trim()) ?? [];
    if (name) all[name] = unquoted(name, value.trim()) || true;
    else if (flag.trim()) all[flag.trim()] = true; // clew says what is wrong with it
  }
  if ((model && "model" in all) || (init.trim() && "init" in all)) throw new Error("the model or the initial value is in its field and among the flags; expected only one of them");
  if (model === "own") all["model-file"] = ownFile;
  else if (model) all.model = model;
  if (init.trim()) all.init = init.trim();
  if (independent) all.independent = true;
  return all;
};

// The worker. One is started ahead, so that clew is ready when it is asked.
let module;
let worker;
let busy = false;
let began; // when the check did
let clock; // shows how long it takes

const start = () => {
  worker?.terminate();
  worker = new Worker(start.url);
  worker.onmessage = ({ data }) => {
    if (data.ready) return ready();
    if (data.progress) return progress(data.progress);
    finish();
    if (data.result) show(data.result);
    else complain(data.error);
  };
  worker.onerror = (e) => {
    e.preventDefault();
    finish();
    complain({ message: e.message || "the worker ended" });
    if (started) start();
  };
  worker.postMessage({ module });
};

let started = false;
let wanted = false; // a check was asked for before that
const ready = () => {
  if (started) return;
  started = true;
  $("check").disabled = false;
  if (wanted) check();
  else if (!opened()) status("");
};

const status = (text) => { $("status").textContent = text };

const progress = ({ read, of, operations }) => {
  const bar = $("progress");
  if (operations) bar.removeAttribute("value");
  else Object.assign(bar, { max: of, value: read });
  began.doing = operations ? `Deciding ${operations.toLocaleString("en")} operations` : `Reading, ${Math.floor((100 * read) / of)}%`;
};

let file = null; // the history that was chosen or dropped, or null if it is typed

const check = () => {
  wanted = !started;
  if (wanted || busy) return;
  $("result").hidden = true;
  unmark();
  const fields = filled();
  let options;
  try {
    options = optionsOf(fields);
  } catch (error) {
    return complain(error);
  }
  began = { at: performance.now(), doing: "Reading" };
  busy = true;
  $("cancel").disabled = false;
  $("check").disabled = true;
  $("progress").hidden = false;
  $("progress").removeAttribute("value");
  status("Checking ..");
  clock = setInterval(() => status(`${began.doing}, ${Math.round((performance.now() - began.at) / 1000)} s`), 1000);
  worker.postMessage({ history: file ?? fields.history, options, more: { file: file?.name ?? "history", files: { [ownFile]: fields.star } } });
};

const finish = () => {
  clearInterval(clock);
  busy = false;
  $("cancel").disabled = true;
  $("check").disabled = false;
  $("progress").hidden = true;
};

const cancel = () => {
  if (!busy) return;
  finish();
  status("Cancelled.");
  $("check").focus();
  start();
};

// lines fills a list with texts.
const lines = (id, texts) => {
  $(id).replaceChildren(...(texts ?? []).map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  $(id).hidden = !texts?.length;
};

const say = (id, text) => {
  $(id).textContent = text ?? "";
  $(id).hidden = !text;
};

const called = { html: "page of evidence", svg: "drawing" }; // kinds of evidence that have another name than their flag
const saved = { html: ["clew.html", "text/html"], svg: ["clew.svg", "image/svg+xml"], certificate: ["certificate.json", "application/json"] };

// download returns a link that saves a kind of evidence.
const download = (name, text) => {
  const [file, type] = saved[name] ?? [`${name}.edn`, "text/plain"];
  return Object.assign(document.createElement("a"), { download: file, href: URL.createObjectURL(new Blob([text], { type })), textContent: `Save the ${called[name] ?? name}` });
};

// show shows a verdict, with what there is of a result.
const show = ({ line = {}, warnings, output, evidence, lacks }, wrong) => {
  const word = line.valid === true ? "valid" : line.valid === false ? "invalid" : "unknown";
  const title = wrong ? "Not checked" : word === "valid" && !line.operations ? "Nothing to check: there are no operations" : { valid: "Valid: linearizable", invalid: "INVALID: not linearizable", unknown: `Unknown${line.cause ? `: ${line.cause}` : ""}` }[word];
  $("verdict").textContent = title;
  $("verdict").className = wrong ? "wrong" : word;
  say("model-said", !wrong && `${line.model ?? "no model"}${line.init != null ? ` from ${line.init}` : ""}, ${line.operations} ${line.operations === 1 ? "operation" : "operations"}, ${line.crashed} crashed, ${line.ms} ms`);
  say("explanation", wrong ?? line.explanation ?? line.error);
  lines("story", line.story);
  lines("warnings", [...(warnings ?? []), ...(wrong ? [] : Object.entries(lacks ?? {}).map(([name, why]) => `no ${called[name] ?? name}: ${why}`))]);
  const printed = Object.values(output ?? {}).join("\n");
  $("text").hidden = !printed;
  $("text").querySelector("pre").textContent = printed;
  for (const a of $("save").children) URL.revokeObjectURL(a.href);
  const kinds = Object.entries(evidence ?? {}).sort(([a], [b]) => (b === "html") - (a === "html"));
  $("save").replaceChildren(...kinds.flatMap(([name, text]) => [download(name, text), " "]));
  $("save").hidden = !kinds.length;
  $("evidence").hidden = !evidence?.html;
  $("evidence").srcdoc = evidence?.html ?? "";
  $("result").hidden = false;
  status(title);
  if ($("verdict").getBoundingClientRect().bottom > innerHeight) $("verdict").scrollIntoView();
};

// complain shows an error, at its place if that is in what was typed.
const complain = ({ message, file: where, line, column, result }) => {
  show({ ...result, evidence: undefined }, message);
  if (where === ownFile && line) mark("star", message, line, column);
  else if (!file && where === "history" && line) mark("history", message, line, column);
};

// mark goes to a place in a text, and shows its line below.
const mark = (id, message, line, column = 1) => {
  const area = $(id);
  const all = area.value.split("\n");
  const row = all[line - 1] ?? "";
  const from = [...row].slice(0, column - 1).join("");
  const rest = row.slice(from.length);
  const at = all.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0) + from.length;
  const shown = document.createElement("pre");
  shown.append(`${line}: ${from}`, Object.assign(document.createElement("mark"), { textContent: rest || " " }));
  $(`${id}-wrong`).replaceChildren(message, shown);
  $(`${id}-wrong`).hidden = false;
  area.setAttribute("aria-invalid", "true");
  area.focus();
  area.setSelectionRange(at, at + rest.length);
  const height = area.scrollHeight / Math.max(all.length, 1);
  area.scrollTop = Math.max(0, (line - 3) * height);
};

const unmark = () => {
  for (const id of ["star", "history"]) {
    $(id).removeAttribute("aria-invalid");
    $(`${id}-wrong`).hidden = true;
  }
};

// choose takes a file for the history, or null to have it typed.
const choose = (f) => {
  file = f;
  $("typed").hidden = Boolean(f);
  $("chosen").hidden = !f;
  if (f) $("name").textContent = `${f.name}, ${f.size.toLocaleString("en")} bytes`;
  else $("file").value = "";
};

const checkFile = (f) => {
  cancel();
  choose(f);
  check();
};

// The example of a name such as register-2.
const example = (name) => {
  const x = globalThis.clew.examples.find((x) => x.name === name);
  if (!x) return false;
  cancel();
  choose(null);
  fill(x);
  $("example").value = name;
  return true;
};

// What a link carries is the form, as compressed JSON.
const link = async () => {
  const fields = Object.fromEntries(Object.entries(filled()).filter(([name, value]) => value && (name !== "star" || $("model").value === "own")));
  if (file) {
    const text = file.size > 1 << 20 ? "" : await file.text();
    if (!text || /[\0\ufffd]/.test(text)) throw new Error("a link carries small texts only, and this file is not one");
    fields.history = text;
  }
  const json = new TextEncoder().encode(JSON.stringify(fields));
  if (json.length > maxLinked) throw new Error(`the history is too large for a link: ${json.length} bytes, and at most ${maxLinked}`);
  const bytes = await through(json, new CompressionStream("deflate-raw"));
  const base64 = btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (base64.length > maxLink) throw new Error(`the history is too large for a link: ${base64.length} characters, and at most ${maxLink}`);
  return `#h=${base64}`;
};

let changes = 0; // how often what a link carries has changed

const share = async () => {
  const before = changes;
  try {
    const url = new URL(await link(), location.href).href;
    if (changes !== before) return; // meanwhile
    history.replaceState(null, "", url);
    $("shared").hidden = false;
    $("link").value = url;
    $("link").focus();
    $("link").select();
    status("The link is in the field, and in the address of this page.");
  } catch (error) {
    unshare();
    status(error.message);
  }
};

// unshare takes back a link, which does not have what the form says now.
const unshare = () => {
  changes++;
  $("shared").hidden = true;
  if (location.hash.startsWith("#h=")) history.replaceState(null, "", location.href.replace(/#.*$/s, ""));
};

// opened checks what the page's own link carries, and reports whether it carries anything.
const opened = () => {
  let hash = location.hash.slice(1);
  try {
    hash = decodeURIComponent(hash);
  } catch {
    // then it does not name an example, and is told as it is
  }
  if (!hash.startsWith("h=")) {
    if (!hash) return false;
    if (example(hash)) check();
    else status(`There is no example ${hash}.`);
    return true;
  }
  (async () => {
    try {
      const bytes = bytesOf(hash.slice(2).replaceAll("-", "+").replaceAll("_", "/").padEnd(Math.ceil((hash.length - 2) / 4) * 4, "="));
      const fields = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"), maxLinked)));
      cancel();
      choose(null);
      fill(fields);
      if (fields.model && $("model").value !== fields.model) status(`This page does not have the model ${fields.model}, which the link names.`);
      else check();
    } catch (error) {
      status(error instanceof RangeError ? `The link carries ${error.message}.` : "The link is damaged.");
    }
  })();
  return true;
};

form.onsubmit = (e) => {
  e.preventDefault();
  check();
};
form.oninput = unshare;
$("cancel").onclick = cancel;
$("share").onclick = share;
$("drop").onclick = () => {
  choose(null);
  $("history").focus();
};
$("file").onchange = () => { if ($("file").files.length) checkFile($("file").files[0]) };
$("model").onchange = () => { $("own").hidden = $("model").value !== "own" };
$("example").onchange = () => { if (example($("example").value)) check() };
onhashchange = opened;
onkeydown = (e) => {
  if (e.key === "Escape") cancel();
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) check();
};

// Something dragged anywhere on the page is dropped on it.
document.ondragover = (e) => {
  e.preventDefault();
  document.body.classList.add("dropping");
};
document.ondragleave = (e) => { if (!e.relatedTarget) document.body.classList.remove("dropping") };
document.ondrop = (e) => {
  document.body.classList.remove("dropping");
  const [dropped, ...others] = e.dataTransfer.files;
  const words = e.dataTransfer.getData("text");
  if (!dropped && (!words || e.target instanceof HTMLTextAreaElement)) return; // the text goes where it was dropped
  e.preventDefault();
  unshare();
  if (others.length) return status(`One history at a time: ${others.length + 1} files were dropped.`);
  if (dropped) return checkFile(dropped);
  cancel();
  choose(null);
  $("history").value = words;
  check();
};

// list fills the menus with what clew.js lists.
const list = ({ models, examples, flags }) => {
  for (const { name, about } of models) $("model").append(new Option(`${name}: ${about}`, name));
  let group;
  for (const { name, model, title } of examples) {
    const label = model === "own" ? "your own models" : model;
    if (group?.label !== label) $("example").append((group = Object.assign(document.createElement("optgroup"), { label })));
    group.append(new Option(`${label}: ${title}`, name));
  }
  $("flags").textContent = flags.map((name) => `--${name}`).join(" ");
};

(async () => {
  // The source of the page finds what was built last.
  await script("clew.js").catch(() => script("../../bin/try/clew.js")).catch(() => {});
  if (!globalThis.clew) {
    $("missing").hidden = false;
    return status("");
  }
  try {
    list(globalThis.clew);
    fill(filled());
    start.url = URL.createObjectURL(new Blob([globalThis.clew.worker], { type: "text/javascript" }));
    module = await WebAssembly.compile(await through(bytesOf(globalThis.clew.wasm), new DecompressionStream("gzip")));
    delete globalThis.clew.wasm;
    start();
  } catch (error) {
    status(`clew does not start: ${error.message}`);
  }
})();
