import test from "node:test";
import assert from "node:assert";
import { runInNewContext } from "node:vm";
import { check, recorder, monitor, version, ClewError } from "clew";

// A register that loses the writes of a client if told to.
const store = (loses) => {
  let value = 0;
  const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
  return {
    write: async (v, client) => {
      await pause();
      if (client !== loses) value = v;
      await pause();
    },
    read: async () => {
      await pause();
      return value;
    },
  };
};

const run = async (register, r, clients = [0, 1, 2]) => {
  const client = async (process) => {
    for (let i = 1; i <= 10; i++) {
      const v = 100 * (process + 1) + i;
      const write = r.invoke(process, "write", v);
      await register.write(v, process);
      write.ok(v);
      const read = r.invoke(process, "read");
      read.ok(await register.read());
    }
  };
  await Promise.all(clients.map(client));
};

test("a register is linearizable", async () => {
  const r = await recorder({ model: "register", init: 0 });
  await run(store(), r);
  const result = await r.check();
  assert.strictEqual(result.valid, true, result.line.explanation);
  assert.strictEqual(r.history().trim().split("\n").length, 120);
  r.close();
  assert.throws(() => r.history(), { kind: "handle" });
});

test("a register that loses writes is not, and the result shows why", async () => {
  const r = await recorder({ model: "register", init: 0, html: true, output: "text" });
  await run(store(1), r, [1]);
  const { valid, line, evidence, output } = await r.check();
  r.close();
  assert.strictEqual(valid, false);
  assert.match(line.explanation, /read by process 1/);
  assert.match(evidence.html, /^<!doctype html>/);
  assert.match(output.text, /INVALID/);
});

test("a recorder says at once what is out of order", async () => {
  const r = await recorder({ model: "register" });
  const op = r.invoke(0, "write", 1);
  assert.throws(() => r.invoke(0, "read"), { name: "ClewError", kind: "order" });
  op.info(new Error("timeout"));
  assert.throws(() => op.ok(1), { kind: "order" });
  assert.match(r.history(), /"type":"info","f":"write","value":1.*"error":"timeout"/);
  r.close();
});

test("errors have their place", async () => {
  await assert.rejects(check("{:process 0", {}, { file: "h.edn" }), (e) => e instanceof ClewError && e.kind === "unreadable" && e.file === "h.edn" && e.line === 1 && e.column === 12);
  await assert.rejects(check("", { modle: "register" }), /did you mean model\?/);
});

test("a model in Starlark that is broken has its place", async () => {
  await assert.rejects(check("", { "model-file": "m.star" }, { files: { "m.star": "x =" } }), { kind: "options", message: /^m\.star:1:/ });
});

test("a monitor finds the anomaly, in pieces", async () => {
  const m = await monitor({ model: "register", init: 0 });
  const text = "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 7}\n";
  const lines = [];
  for (const c of text) lines.push(...(await m.feed(c)));
  const end = await m.close();
  assert.strictEqual(end.status, 1);
  assert.deepStrictEqual([...lines, ...end.lines].map((l) => l.anomaly ?? l.totals.anomalies), ["never-written", 1]);
});

test("a time limit ends a long search", async () => {
  const ops = [];
  for (let p = 0; p < 24; p++) ops.push({ process: p, type: "invoke", f: "write", value: p % 3 });
  for (let i = 0; i < 200; i++) {
    ops.push({ process: 100, type: "invoke", f: "read", value: null }, { process: 100, type: "ok", f: "read", value: (i * 7) % 3 });
  }
  const began = Date.now();
  const { valid, line } = await check(ops, { model: "register", init: 0, algorithm: "hitting", depth: 8, "time-limit": "300ms", "memory-limit": "500MB" });
  assert.deepStrictEqual([valid, line.cause], ["unknown", "timeout"]);
  assert.ok(Date.now() - began < 100_000);
});

test("progress is told", async () => {
  const told = [];
  await check("{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 0}\n", { model: "register" }, { progress: (p) => told.push(p) });
  assert.strictEqual(told.at(-1).operations, 1);
  assert.strictEqual(told.at(-1).read, told.at(-1).of);
});

test("an exception of the caller's progress rejects the check, and the next one goes on", async () => {
  const history = "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 0}\n";
  for (const thrown of [new RangeError("mine"), undefined, "a text"]) {
    let calls = 0;
    const progress = () => {
      calls++;
      throw thrown;
    };
    const outcome = await check(history, { model: "register", init: 0 }, { progress }).then(() => "checked", (error) => ({ error }));
    assert.deepStrictEqual([outcome, calls], [{ error: thrown }, 1]);
    const told = [];
    const { valid } = await check(history, { model: "register", init: 0 }, { progress: (p) => told.push(p) });
    assert.deepStrictEqual([valid, told.at(-1).operations], [true, 1]);
  }
  // It came before the error of a check that fails, too.
  await assert.rejects(check("{:process 0", {}, { progress: () => { throw new RangeError("mine") } }), RangeError);
});

test("a progress that is asynchronous rejects the check", async () => {
  const history = "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 0}\n";
  const progress = async () => { throw new RangeError("mine") };
  await assert.rejects(check(history, { model: "register", init: 0 }, { progress }), { message: "mine" });
});

test("clew says its version", async () => assert.ok(await version()));

test("what is not a history, or not a value, is refused and not taken for an empty one", async () => {
  for (const odd of [undefined, null, 5, {}, { history: "x" }, new Blob(["x"]), Promise.resolve("x"), new URL("file:///x")]) {
    await assert.rejects(check(odd, { model: "register" }), { name: "TypeError", message: /expected a history that is a text, bytes or an array of op maps, found / });
  }
  const m = await monitor({ model: "register" });
  await assert.rejects(m.feed({}), TypeError);
  await m.close();
  const r = await recorder({ model: "register" });
  const read = r.invoke(0, "read", undefined, { node: "n1" }); // a call may have no value; an answer has one
  const lost = { toJSON() {} };
  const odd = [undefined, NaN, new Map([[1, 2]]), [undefined], Promise.resolve(1), () => 1, new Date(NaN), new Number(NaN), lost, Object.assign(() => 1, { toJSON: () => null }),
    new Error("a"), /a/, new WeakMap(), new URLSearchParams("a=1"), { a: undefined }, { [Symbol()]: 1 }, runInNewContext("new Map([[1, 2]])")];
  for (const value of odd) assert.throws(() => read.ok(value), TypeError);
  assert.throws(() => read.ok(1, { key: undefined }), TypeError);
  const answers = [{ process: 0, type: "invoke", f: "read" }, { process: 0, type: "ok", f: "read", value: undefined }];
  await assert.rejects(check(answers, { model: "register" }), { name: "TypeError", message: /found undefined as value/ });
  read.ok(null);
  r.close();
});

test("an operation that is ok without a value has that of its call", async () => {
  const r = await recorder({ model: "register", init: 0 });
  r.invoke(0, "write", 5).ok();
  r.invoke(0, "read").ok(5);
  assert.strictEqual((await r.check()).valid, true);
  r.close();
});

test("an operation ends once", async () => {
  const r = await recorder({ model: "register" });
  const first = r.invoke(0, "write", 1);
  first.ok(1);
  r.invoke(0, "write", 9);
  assert.throws(() => first.fail(), { kind: "order", message: /has ended already/ });
  r.close();
});

test("a text is in Unicode, however it is cut", async () => {
  const history = ['{:process 0, :type :invoke, :f :write, :value "😀"}', '{:process 0, :type :ok, :f :write, :value "😀"}', "{:process 0, :type :invoke, :f :read, :value nil}", '{:process 0, :type :ok, :f :read, :value "😁"}', ""].join("\n");
  const m = await monitor({ model: "register", init: "nil" });
  const found = [];
  for (let i = 0; i < history.length; i++) found.push(...(await m.feed(history[i])));
  found.push(...(await m.close()).lines);
  assert.strictEqual(found.at(-1).totals.anomalies, 1);
  await assert.rejects(check(history.replace("😁", "\ud83d"), { model: "register" }), TypeError);
  const half = await monitor({ model: "register" });
  await half.feed("\ud83d");
  await assert.rejects(half.feed(new Uint8Array(1)), TypeError);
  await assert.rejects(half.close(), TypeError);
});

test("what is a value stays one", async () => {
  const r = await recorder({ model: "register", init: undefined });
  const dated = new Date(0);
  for (const value of [null, "", 0, -0, [], {}, { a: [{ b: null }] }, dated, Object.create(null), runInNewContext("({ a: 1 })")]) r.invoke(0, "write", value).ok(value);
  assert.match(r.history(), /"value":"1970-01-01T00:00:00.000Z"/);
  assert.strictEqual((await r.check()).valid, true);
  r.close();
});

test("a stack that overflows around clew leaves it whole", async () => {
  const r = await recorder({ model: "register" });
  let n = 0;
  const deep = () => {
    const op = r.invoke(n, "write", 1);
    n++;
    deep();
    op.ok();
  };
  assert.throws(deep, RangeError);
  assert.strictEqual(r.history().split("\n").length, n + 1);
  assert.strictEqual((await r.check()).line.operations, n);
  r.close();
});

test("a model that nests too deep is an error", async () => {
  await assert.rejects(check([], { "model-file": "m.star" }, { files: { "m.star": `init = ${"1 + ".repeat(20000)}1\n` } }), { kind: "options", message: /excessive nesting/ });
  assert.match(await version(), /./);
});
