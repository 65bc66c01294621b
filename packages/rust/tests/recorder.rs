use clew::{check, Outcome, Recorder, Verdict};
use std::sync::{Arc, Mutex};

/// Runs four clients in threads of their own. stale says that each once sees a value that it has overwritten twice.
fn run(stale: bool) -> clew::Report {
    let recorder = Arc::new(Recorder::new(&[("model", "kv"), ("file", "store"), ("html", "true")]).unwrap());
    let store = Arc::new(Mutex::new(String::new()));
    let clients: Vec<_> = (0..4)
        .map(|process| {
            let (recorder, store) = (recorder.clone(), store.clone());
            std::thread::spawn(move || {
                let key = [("key", "x".into())];
                for i in 0..50 {
                    let value = format!("{process}-{i}");
                    recorder.invoke_with(process, "put", value.as_str(), &key).unwrap();
                    *store.lock().unwrap() = value.clone();
                    recorder.complete_with(process, Outcome::Ok, value, &key).unwrap();
                    recorder.invoke_with(process, "get", (), &key).unwrap();
                    let seen = match stale && i == 25 {
                        true => format!("{process}-23"),
                        false => store.lock().unwrap().clone(),
                    };
                    recorder.complete_with(process, Outcome::Ok, seen, &key).unwrap();
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    assert_eq!(recorder.history().unwrap().lines().count(), 4 * 50 * 4);
    recorder.check().unwrap()
}

#[test]
fn a_store_is_linearizable() {
    run(false).require();
}

#[test]
fn a_store_that_answers_from_a_cache_is_not() {
    let report = run(true);
    assert_eq!((report.verdict, report.status), (Verdict::Invalid, 1));
    assert!(report.text.starts_with("store: INVALID\n"), "{}", report.text);
    assert!(report.line.starts_with(r#"{"file":"store","valid":false,"model":"kv","#), "{}", report.line);
    assert!(report.evidence["html"].starts_with("<!doctype html>"));
}

#[test]
fn mistakes_are_errors() {
    let error = check("{", &[]).unwrap_err();
    assert_eq!((error.kind.as_str(), error.to_string().as_str()), ("unreadable", "standard input:1:2: expected } to close { opened at 1:1, found end of input"));
    assert_eq!(check("", &[("model", "regster")]).unwrap_err().kind, "options");
    let recorder = Recorder::new(&[]).unwrap();
    assert_eq!(recorder.complete(0, Outcome::Ok, 1).unwrap_err().kind, "order");
}

#[test]
fn calls_are_those_of_the_protocol() {
    let response = String::from_utf8(clew::call(br#"{"api":1,"call":"version"}"#)).unwrap();
    assert_eq!(response, format!("{{\"api\":1,\"result\":{{\"version\":\"{}\"}}}}\n", clew::version()));
}
