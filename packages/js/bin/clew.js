#!/usr/bin/env node
// The command line of clew in WebAssembly: the same flags, output and exit statuses.
import fs from "node:fs";
import path from "node:path";
import os from "node:os";

globalThis.fs = fs;
globalThis.path = path;
await import("../wasm_exec.js");

const go = new globalThis.Go();
go.argv = ["clew", ...process.argv.slice(2)];
go.env = { TMPDIR: os.tmpdir(), ...process.env };
go.exit = process.exit;
process.on("exit", (status) => {
  if (status === 0 && !go.exited) process.exitCode = 255; // it waits for what never comes
});
const module = await WebAssembly.compile(fs.readFileSync(new URL("../clew-cli.wasm", import.meta.url)));
await go.run(await WebAssembly.instantiate(module, go.importObject));
