// clew for JavaScript: package api in WebAssembly. docs/api.md describes what it takes and answers.
import "./wasm_exec.js";

const text = new TextEncoder();
const parsed = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

/** An error of clew, with its kind and its place. */
export class ClewError extends Error {
  constructor({ kind, message, file, line, column, offset, result }) {
    super(message);
    this.name = "ClewError";
    Object.assign(this, { kind, file, line, column, offset, result });
  }
}

const answer = (response) => {
  const { result, error } = parsed(response);
  if (error) throw new ClewError(error);
  return result;
};

// module compiles clew.wasm, from the place of this file unless it is given.
const module = async (from) => {
  if (from instanceof WebAssembly.Module) return from;
  if (from instanceof ArrayBuffer || ArrayBuffer.isView(from)) return WebAssembly.compile(from);
  const url = new URL(from ?? "./clew.wasm", import.meta.url);
  if (url.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return WebAssembly.compile(await response.arrayBuffer());
};

let loading; // a promise of the functions of the program, and of its end

/** Loads clew, once. Other functions do that themselves; call it to say where clew.wasm is. */
export const load = (from) =>
  (loading ??= (async () => {
    const go = new globalThis.Go();
    const instance = await WebAssembly.instantiate(await module(from), go.importObject);
    const name = `clew ${Math.random()}`;
    return new Promise((resolve, reject) => {
      let end; // it ends if it runs out of memory, for one
      const ended = new Promise((_, reject) => { end = reject });
      ended.catch((error) => {
        loading = undefined;
        reject(error);
      });
      globalThis[name] = (later, now) => {
        delete globalThis[name];
        resolve({ later, now, ended });
      };
      go.argv = ["clew", name];
      go.run(instance).then(() => end(new Error("clew ended")), end);
    });
  })().catch((error) => {
    loading = undefined;
    throw error;
  }));

// request returns a request. A history that is a text or bytes follows it as it is.
const request = (call, fields, name, body) => {
  const head = { api: 1, call, ...fields };
  if (Array.isArray(body)) return text.encode(JSON.stringify({ ...head, [name]: body }));
  if (body === undefined) return text.encode(JSON.stringify(head));
  const bytes = typeof body === "string" ? text.encode(body) : new Uint8Array(body.buffer ?? body, body.byteOffset ?? 0, body.byteLength);
  const line = text.encode(JSON.stringify({ ...head, bytes: bytes.length }) + "\n");
  const all = new Uint8Array(line.length + bytes.length);
  all.set(line);
  all.set(bytes, line.length);
  return all;
};

const later = async (bytes, progress) => {
  const clew = await load();
  return answer(await Promise.race([clew.later(bytes, progress), clew.ended]));
};

const checked = (result) => ({ valid: result.line.valid, ...result });

/** Checks a history: a text or bytes in any form that clew reads, or an array of op maps. */
export const check = async (history, options = {}, { file, files, progress } = {}) => {
  const told = progress && ((read, of, operations) => progress({ read, of, operations }));
  return checked(await later(request("check", { file, options, files }, "history", history), told));
};

/** Opens a recorder, which takes down what clients do. */
export const recorder = async (options = {}, { file, files } = {}) => {
  const { now } = await load();
  const ask = (call, fields) => answer(now(request(call, fields)));
  const { handle } = ask("recorder.open", { file, options, files });
  return {
    /** Records that a client begins an operation. What is returned says how it ends. */
    invoke(process, f, value = null, more) {
      ask("recorder.invoke", { handle, process, f, value, with: more });
      const end = (type) => (value = null, more) => void ask("recorder.complete", { handle, process, type, value, with: more });
      return {
        ok: end("ok"),
        fail: (more) => end("fail")(value, more),
        info: (error, more) => end("info")(value, error === undefined ? more : { error: String(error?.message ?? error), ...more }),
      };
    },
    /** The history so far, as lines of JSON. */
    history: () => ask("recorder.history", { handle }).history,
    check: async () => checked(await later(request("recorder.check", { handle }))),
    close: () => void ask("close", { handle }),
  };
};

/** Opens a monitor, which judges a history that comes in pieces. */
export const monitor = async (options = {}, { file, files } = {}) => {
  const { handle } = await later(request("monitor.open", { file, options, files }));
  const lines = (said) => ((options.output ?? "json") === "json" ? said.split("\n").filter(Boolean).map((line) => JSON.parse(line)) : said);
  return {
    /** Reads a piece, and returns what has become known since the last one. */
    feed: async (piece) => lines((await later(request("monitor.feed", { handle }, "text", piece))).lines),
    /** Says that nothing more comes, and returns the rest, with the totals. */
    close: async () => {
      const result = await later(request("monitor.close", { handle }));
      return { ...result, lines: lines(result.lines) };
    },
  };
};

/** The version of clew. */
export const version = async () => (await later(request("version"))).version;
