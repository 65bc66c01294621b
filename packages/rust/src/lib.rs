//! Checks whether histories of concurrent operations are linearizable.
//!
//! [`check`] checks a history, and [`Recorder`] records what the clients of a test do and checks that. Options have the
//! names of the flags of `clew check`: `("time-limit", "10s")`. A flag without a value is `("how-far", "true")`.
//!
//! The crate has no dependencies. It carries the library that `make c` builds, so that nothing must be installed where
//! a program runs. A check takes its time: in asynchronous code it belongs into something like tokio's
//! `spawn_blocking`. What a recorder's other calls take is microseconds.

mod json;

use std::collections::BTreeMap;
use std::ffi::{c_char, CStr};
use std::fmt;

pub use json::Value;

extern "C" {
    fn clew_call(request: *const c_char, length: usize, response_length: *mut usize) -> *mut c_char;
    fn clew_free(response: *mut c_char);
    fn clew_version() -> *const c_char;
}

/// Returns clew's version, as `clew --version` prints it.
pub fn version() -> String {
    // The library never frees it.
    unsafe { CStr::from_ptr(clew_version()) }.to_string_lossy().into_owned()
}

/// A request that cannot be answered: wrong options, or a history that cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// One of the kinds of docs/api.md, such as `options` or `unreadable`.
    pub kind: String,
    /// What is wrong, where, and what was expected.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Answers a request of docs/api.md, which is an object of JSON that a history may follow. Returns the response.
pub fn call(request: &[u8]) -> Vec<u8> {
    let mut length = 0;
    // The library copies the request, and the response is ours until it is freed.
    unsafe {
        let response = clew_call(request.as_ptr().cast(), request.len(), &mut length);
        let copy = std::slice::from_raw_parts(response.cast::<u8>(), length).to_vec();
        clew_free(response);
        copy
    }
}

/// Calls by name, with the fields of the request and a history that follows it.
fn ask(name: &str, fields: Vec<(&str, Value)>, body: Option<&[u8]>) -> Result<Value, Error> {
    let mut all: Vec<(String, Value)> = vec![("api".into(), 1.into()), ("call".into(), name.into())];
    all.extend(fields.into_iter().map(|(k, v)| (k.to_string(), v)));
    if let Some(body) = body {
        all.push(("bytes".into(), (body.len() as i64).into()));
    }
    let mut request = Value::Object(all).to_string().into_bytes();
    if let Some(body) = body {
        request.push(b'\n');
        request.extend_from_slice(body);
    }
    let response = String::from_utf8(call(&request)).expect("clew answers in UTF-8");
    let response = json::parse(&response).expect("clew answers in JSON");
    match response.get("error") {
        Some(error) => Err(Error { kind: error.text("kind"), message: error.text("message") }),
        None => Ok(response.get("result").expect("a response has a result or an error").clone()),
    }
}

/// The verdict on a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Valid,
    Invalid,
    /// A limit left it undecided.
    Unknown,
}

/// What clew says of a history.
#[derive(Debug, Clone)]
pub struct Report {
    pub verdict: Verdict,
    /// The exit status that `clew check` has.
    pub status: i64,
    /// The object of JSON that `clew check --output json` prints, as it prints it.
    pub line: String,
    /// What `clew check` prints for people: the verdict, the sentence and a drawing of the operations in it.
    pub text: String,
    pub warnings: Vec<String>,
    /// The evidence that options such as `("html", "true")` asked for, by their names.
    pub evidence: BTreeMap<String, String>,
}

impl Report {
    fn of(result: &Value) -> Report {
        let output = result.get("output").expect("it was asked for");
        let verdict = match result.get("line").and_then(|line| line.get("valid")) {
            Some(Value::Bool(true)) => Verdict::Valid,
            Some(Value::Bool(false)) => Verdict::Invalid,
            _ => Verdict::Unknown,
        };
        let evidence = match result.get("evidence") {
            Some(Value::Object(all)) => all.iter().map(|(k, v)| (k.clone(), v.as_str().to_string())).collect(),
            _ => BTreeMap::new(),
        };
        let warnings = match result.get("warnings") {
            Some(Value::Array(all)) => all.iter().map(|w| w.as_str().to_string()).collect(),
            _ => Vec::new(),
        };
        let status = result.get("status").map_or(0, Value::as_i64);
        Report { verdict, status, line: output.text("json").trim_end().to_string(), text: output.text("text"), warnings, evidence }
    }

    /// Panics with the text unless the history is linearizable.
    #[track_caller]
    pub fn require(&self) {
        assert!(self.verdict == Verdict::Valid, "{}", self.text);
    }
}

/// Returns options as a request has them. Only flags without a value may be true.
fn terms(options: &[(&str, &str)]) -> Vec<(&'static str, Value)> {
    let mut all: Vec<(String, Value)> = Vec::new();
    let mut output = vec![Value::from("json"), Value::from("text")];
    let mut fields = Vec::new();
    for &(name, value) in options {
        match (name, value) {
            ("file", _) => fields.push(("file", value.into())),
            ("output", _) => output.push(value.into()),
            (_, "true") => all.push((name.into(), Value::Bool(true))),
            _ => all.push((name.into(), value.into())),
        }
    }
    all.push(("output".into(), Value::Array(output)));
    fields.push(("options", Value::Object(all)));
    fields
}

/// Checks a history, which is a text in any form that `clew check` reads, compressed too. The model is inferred unless
/// the options have `model`. The option `file` names the history in what is said of it.
///
/// ```
/// let history = "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 1}\n";
/// let report = clew::check(history, &[("model", "register"), ("init", "0")]).unwrap();
/// assert_eq!(report.verdict, clew::Verdict::Invalid);
/// ```
pub fn check(history: impl AsRef<[u8]>, options: &[(&str, &str)]) -> Result<Report, Error> {
    Ok(Report::of(&ask("check", terms(options), Some(history.as_ref()))?))
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It happened. Its value replaces the invocation's.
    Ok,
    /// It certainly did not happen.
    Fail,
    /// It may or may not have happened.
    Info,
}

/// Records what clients do. Any number of threads may use it at once: by reference, or in an `Arc`.
///
/// ```
/// use clew::{Outcome, Recorder};
///
/// let recorder = Recorder::new(&[("model", "register")]).unwrap();
/// std::thread::scope(|s| {
///     for process in 0..4 {
///         let recorder = &recorder;
///         s.spawn(move || {
///             recorder.invoke(process, "write", process).unwrap();
///             recorder.complete(process, Outcome::Ok, process).unwrap();
///         });
///     }
/// });
/// recorder.check().unwrap().require();
/// ```
#[derive(Debug)]
pub struct Recorder {
    handle: i64,
}

impl Recorder {
    /// Opens a recorder. The options are those of [`check`].
    pub fn new(options: &[(&str, &str)]) -> Result<Recorder, Error> {
        let opened = ask("recorder.open", terms(options), None)?;
        Ok(Recorder { handle: opened.get("handle").map_or(0, Value::as_i64) })
    }

    fn event(&self, call: &str, process: i64, kind: (&str, &str), value: Value, with: &[(&str, Value)]) -> Result<(), Error> {
        let with = with.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
        let fields = vec![
            ("handle", self.handle.into()),
            ("process", process.into()),
            (kind.0, kind.1.into()),
            ("value", value),
            ("with", Value::Object(with)),
        ];
        ask(call, fields, None).map(drop)
    }

    /// Records that a client begins an operation. It must not have one open.
    pub fn invoke(&self, process: i64, f: &str, value: impl Into<Value>) -> Result<(), Error> {
        self.invoke_with(process, f, value, &[])
    }

    /// Does the same for an operation with other keys, such as `key` of a store by keys.
    pub fn invoke_with(&self, process: i64, f: &str, value: impl Into<Value>, with: &[(&str, Value)]) -> Result<(), Error> {
        self.event("recorder.invoke", process, ("f", f), value.into(), with)
    }

    /// Records that a client's operation has ended.
    pub fn complete(&self, process: i64, outcome: Outcome, value: impl Into<Value>) -> Result<(), Error> {
        self.complete_with(process, outcome, value, &[])
    }

    /// Does the same for an operation with other keys.
    pub fn complete_with(&self, process: i64, outcome: Outcome, value: impl Into<Value>, with: &[(&str, Value)]) -> Result<(), Error> {
        let kind = match outcome {
            Outcome::Ok => "ok",
            Outcome::Fail => "fail",
            Outcome::Info => "info",
        };
        self.event("recorder.complete", process, ("type", kind), value.into(), with)
    }

    /// Returns what has been recorded: lines of JSON that `clew check` reads.
    pub fn history(&self) -> Result<String, Error> {
        Ok(ask("recorder.history", vec![("handle", self.handle.into())], None)?.text("history"))
    }

    /// Checks what has been recorded by now. Operations that are open may or may not have happened.
    pub fn check(&self) -> Result<Report, Error> {
        Ok(Report::of(&ask("recorder.check", vec![("handle", self.handle.into())], None)?))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = ask("close", vec![("handle", self.handle.into())], None);
    }
}
