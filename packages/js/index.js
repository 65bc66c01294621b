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

// room throws a RangeError unless the stack has room for calls within WebAssembly, which must not end on the way.
const room = (calls) => (calls > 0 ? room(calls - 1) + 1 : 0);

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
      const waiting = new Set([reject]); // for what it answers
      let ended; // why, if it has: it ran out of memory, for one
      const end = (error) => {
        if (ended) return;
        ended = error;
        loading = undefined;
        go._resume = () => {}; // what it has begun would go on, and throw,
        for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer);
        go._scheduledTimeouts.clear(); // or wait for it for ever
        for (const fail of waiting) fail(error);
      };
      // An exception that comes out of WebAssembly, such as one of a full stack, leaves it in no state to go on.
      const guarded = (f) => (...given) => {
        if (ended) throw ended;
        room(2000);
        try {
          return f(...given);
        } catch (error) {
          end(error);
          throw error;
        }
      };
      globalThis[name] = (later, now) => {
        delete globalThis[name];
        waiting.delete(reject);
        const begin = guarded(later);
        resolve({
          now: guarded(now),
          later: (...given) => new Promise((resolve, reject) => {
            waiting.add(reject);
            begin(...given).then(resolve, reject).finally(() => waiting.delete(reject));
          }),
        });
      };
      go.argv = ["clew", name];
      go.run(instance).then(() => end(new Error("clew ended")), end);
    });
  })().catch((error) => {
    loading = undefined;
    throw error;
  }));

// kindOf names what something is, for messages.
const kindOf = (x) => (x === null || typeof x !== "object" ? String(x) : `a ${x.constructor?.name ?? "object"}`);

// plain is for JSON.stringify, which would drop what it has no form for, or take it for null or for {}.
const plain = function (key, value) {
  const given = this[key]; // before its toJSON
  const odd = typeof value === "number" ? !Number.isFinite(value) : ["function", "symbol", "bigint", "undefined"].includes(typeof value);
  if (odd || typeof given === "function" || loses(given, value)) throw new TypeError(`expected a value that JSON has, found ${kindOf(given)}${key && ` as ${key}`}`);
  return value;
};
// loses says whether an object is more than what JSON has of it.
const loses = (given, value) => {
  if (typeof given !== "object" || given === null) return false;
  if (value !== given) return typeof value !== "string"; // an invalid date is null
  if (Array.isArray(given)) return false;
  const empty = [Map, Set, Promise, ArrayBuffer].some((type) => given instanceof type) || ArrayBuffer.isView(given);
  const parent = Object.getPrototypeOf(given);
  const isPlain = parent === null || Object.getPrototypeOf(parent) === null;
  return empty || Object.getOwnPropertySymbols(given).length > 0 || (!isPlain && Object.keys(given).length === 0);
};
// known leaves out what is undefined: options that are not given.
const known = (fields) => Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined));
const json = (x) => text.encode(JSON.stringify(x, plain));

// request returns a request. A history that is a text or bytes follows it as it is.
const request = (call, fields, name, body) => {
  const head = { api: 1, call, ...known(fields) };
  if (head.options) head.options = known(head.options);
  if (name === undefined) return json(head);
  if (Array.isArray(body)) return json({ ...head, [name]: body });
  let bytes;
  if (typeof body === "string") {
    if (body.isWellFormed?.() === false) throw new TypeError(`expected a ${name} in Unicode, found half of a pair of surrogates`);
    bytes = text.encode(body);
  } else if (ArrayBuffer.isView(body)) bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  else if (body instanceof ArrayBuffer) bytes = new Uint8Array(body);
  else throw new TypeError(`expected ${name === "history" ? "a history that is a text, bytes or an array of op maps" : "a text or bytes"}, found ${kindOf(body)}`);
  const line = text.encode(`${JSON.stringify({ ...head, bytes: bytes.length }, plain)}\n`);
  const all = new Uint8Array(line.length + bytes.length);
  all.set(line);
  all.set(bytes, line.length);
  return all;
};

const later = async (bytes, progress) => {
  const clew = await load();
  return answer(await clew.later(bytes, progress));
};

const checked = (result) => ({ valid: result.line.valid, ...result });

/** Checks a history: a text or bytes in any form that clew reads, or an array of op maps. */
export const check = async (history, options = {}, { file, files, progress } = {}) => {
  let failure; // of the caller's function, which must not end in clew
  const told = progress && ((read, of, operations) => {
    try {
      if (!failure) Promise.resolve(progress({ read, of, operations })).catch((error) => { failure ??= { error } });
    } catch (error) {
      failure = { error };
    }
  });
  const result = later(request("check", { file, options, files }, "history", history), told);
  return checked(await result.finally(() => { if (failure) throw failure.error }));
};

// given returns arguments that begin with a value. undefined would be recorded as nil, which is an answer.
const given = ([value, ...more]) => {
  if (value === undefined) throw new TypeError("expected a value, found undefined; null stands for nil");
  return [value, ...more];
};

/** Opens a recorder, which takes down what clients do. */
export const recorder = async (options = {}, { file, files } = {}) => {
  const { now } = await load();
  const ask = (call, fields) => answer(now(request(call, fields)));
  const { handle } = ask("recorder.open", { file, options, files });
  return {
    /** Records that a client begins an operation. What is returned says how it ends. */
    invoke(process, f, called = null, more) {
      ask("recorder.invoke", { handle, process, f, value: called, with: more });
      let ended = false;
      const end = (type, value, more) => {
        if (ended) throw new ClewError({ kind: "order", message: `process ${process}'s ${f} has ended already` });
        ask("recorder.complete", { handle, process, type, value, with: more });
        ended = true;
      };
      return {
        ok: (...rest) => end("ok", ...(rest.length ? given(rest) : [called])),
        fail: (more) => end("fail", called, more),
        info: (error, more) => end("info", called, error === undefined ? more : { error: String(error?.message ?? error), ...more }),
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
  let half = ""; // of a pair of surrogates, with which the last piece ended
  const whole = () => {
    if (half) throw new TypeError("expected a text in Unicode, found half of a pair of surrogates");
  };
  return {
    /** Reads a piece, and returns what has become known since the last one. */
    feed: async (piece) => {
      if (typeof piece === "string") {
        piece = half + piece;
        half = /[\ud800-\udbff]$/.exec(piece)?.[0] ?? "";
        piece = piece.slice(0, piece.length - half.length);
      } else whole();
      return lines((await later(request("monitor.feed", { handle }, "text", piece))).lines);
    },
    /** Says that nothing more comes, and returns the rest, with the totals. */
    close: async () => {
      if (half) await later(request("close", { handle }));
      whole();
      const result = await later(request("monitor.close", { handle }));
      return { ...result, lines: lines(result.lines) };
    },
  };
};

/** The version of clew. */
export const version = async () => (await later(request("version"))).version;
