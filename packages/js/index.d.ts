/** Options have the names of the flags of `clew check`, without dashes: `{ model: "register", "time-limit": "10s" }`. */
export interface CheckOptions {
  model?: string;
  init?: string | number | null;
  independent?: boolean;
  "time-limit"?: string;
  "memory-limit"?: string;
  /** The forms of the result that `output` should have. */
  output?: Form | Form[];
  /** Evidence that the result should have. */
  svg?: boolean;
  html?: boolean;
  witness?: boolean;
  core?: boolean;
  certificate?: boolean;
  "how-far"?: boolean;
  /** The other flags of `clew check`. */
  [flag: string]: string | number | boolean | null | string[] | undefined;
}

/** Options of `clew monitor`. */
export interface MonitorOptions {
  model?: string;
  init?: string | number | null;
  /** What lines are: objects ("json", the default) or a text. */
  output?: "json" | "text" | "github";
  stuck?: string | number;
  "fail-fast"?: boolean;
  /** The result of `close` should have a page. */
  html?: boolean;
  [flag: string]: string | number | boolean | null | undefined;
}

export type Form = "text" | "edn" | "json" | "junit" | "sarif" | "github";
export type Verdict = true | false | "unknown";

/** What a history is called in messages, and the texts that options name, such as that of `model-file`. */
export interface Named {
  file?: string;
  files?: Record<string, string>;
}

/** An operation begins (`invoke`) or ends. */
export interface Op {
  process: number | string;
  type: "invoke" | "ok" | "fail" | "info";
  f: string;
  value?: unknown;
  [key: string]: unknown;
}

/** A text in any form that clew reads, its bytes (compressed or not), or op maps. */
export type History = string | ArrayBuffer | ArrayBufferView | Op[];

/** What `clew check --output json` prints. */
export interface Line {
  file: string;
  valid: Verdict;
  model: string | null;
  explanation: string | null;
  story?: string[];
  kind?: string;
  cause: string | null;
  operations: number;
  [key: string]: unknown;
}

export interface Result {
  valid: Verdict;
  /** The exit status of `clew check`: 0 valid, 1 invalid, 2 unknown, 254 unreadable, 255 a bug. */
  status: number;
  line: Line;
  warnings: string[];
  output?: Partial<Record<Form, string>>;
  evidence?: Partial<Record<"svg" | "html" | "witness" | "core" | "certificate", string>>;
  /** Why there is no such evidence. */
  lacks?: Record<string, string>;
}

export interface Progress {
  /** Bytes that have been read, of so many. */
  read: number;
  of: number;
  /** 0 until all has been read. */
  operations: number;
}

export class ClewError extends Error {
  kind: "request" | "options" | "unreadable" | "order" | "handle" | "stopped" | "bug";
  file?: string;
  line?: number;
  column?: number;
  offset?: number;
  result?: unknown;
}

/** Checks a history. An exception that `progress` throws rejects the check, and `progress` is not called again. */
export function check(history: History, options?: CheckOptions, more?: Named & { progress?: (p: Progress) => void }): Promise<Result>;

/** Says how an operation ends. */
export interface Invocation {
  /** With what it returned. Without arguments, that is the value it was called with. */
  ok(value?: unknown, more?: Record<string, unknown>): void;
  /** It certainly did not happen, and never will. */
  fail(more?: Record<string, unknown>): void;
  /** It may have happened, or may still happen. */
  info(error?: unknown, more?: Record<string, unknown>): void;
}

export interface Recorder {
  invoke(process: number, f: string, value?: unknown, more?: Record<string, unknown>): Invocation;
  history(): string;
  check(): Promise<Result>;
  close(): void;
}

/** Opens a recorder, which takes down what clients do. */
export function recorder(options?: CheckOptions, more?: Named): Promise<Recorder>;

export interface Monitor<Lines = object[]> {
  feed(piece: string | ArrayBuffer | ArrayBufferView): Promise<Lines>;
  close(): Promise<{ status: number; lines: Lines; warnings: string[]; html?: string }>;
}

/** Opens a monitor, which judges a history that comes in pieces. */
export function monitor(options: MonitorOptions & { output: "text" | "github" }, more?: Named): Promise<Monitor<string>>;
export function monitor(options: MonitorOptions, more?: Named): Promise<Monitor>;

/** Loads clew, from clew.wasm beside this module or from another place. The other functions do that themselves. */
export function load(from?: string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module): Promise<unknown>;

export function version(): Promise<string>;
