package jsonops

import (
	"strings"

	"clew/internal/opmap"
)

// A record with the status "fail", which is Jepsen's word, is an operation that certainly did not
// happen, with or without a "return". Any other record with a "return" is an operation that
// succeeded. If its other fields say that it failed, it was written for another reader: the record
// is an error. If a field only may say so, there is a warning. The meaning of a field depends on its
// name alone. Records that are read by layout therefore pay for this only if they have such a field.

// outcome is what a field may say about how an operation ended.
type outcome uint8

const (
	noOutcome outcome = iota
	status            // "status": "fail"
	named             // "result": "fail", which may also be its answer
	succeeded         // "ok": false
	failed            // "failed": true
	trouble           // "error": "it is too late"
)

var outcomes = map[string]outcome{
	"status": status, "state": status, "outcome": status, "result": named, "kind": named, "optype": named, "eventtype": named, "completion": named,
	"ok": succeeded, "isok": succeeded, "success": succeeded, "succeeded": succeeded, "successful": succeeded,
	"fail": failed, "failed": failed, "isfailed": failed, "crashed": failed, "aborted": failed, "timeout": failed, "timedout": failed, "iserror": failed, "lost": failed,
	"error": trouble, "err": trouble, "errors": trouble, "exception": trouble, "failure": trouble, "errormessage": trouble, "errmsg": trouble,
}

func outcomeOf(key string) outcome { return outcomes[opmap.BareName(key)] }

// failures are words that say that an operation failed, or that its outcome is unknown.
var failures = map[string]bool{"fail": true, "failed": true, "failure": true, "error": true, "err": true, "crash": true, "crashed": true, "info": true,
	"timeout": true, "timedout": true, "aborted": true, "abort": true, "rejected": true, "cancelled": true, "canceled": true, "exception": true,
	"indeterminate": true, "ko": true, "false": true}

// failure says whether the value of a field, in JSON or EDN, says that an
// operation failed, or that it may have failed.
func (o outcome) failure(value []byte) (certain, perhaps bool) {
	text := string(value)
	word := strings.Trim(text, `"`)
	switch o {
	case status, named, succeeded:
		certain = text == "false" || text[0] == '"' && failures[opmap.BareName(word)]
	case failed, trouble:
		certain = text == "true"
	}
	switch text {
	case "null", "nil", "false", `""`, "0", "[]", "{}":
		return certain, certain
	}
	return certain, certain || o == trouble
}

// isFail says whether the value of a field says that an operation certainly failed.
func (o outcome) isFail(value []byte) bool {
	return o == status && opmap.BareName(strings.Trim(string(value), `"`)) == "fail"
}

// failed returns an error if the fields of a record that returned say that it
// failed. If a field may say so, it warns, once per name.
func (r *Reader) failed(fields map[string][]byte, names []string) error {
	for _, name := range names {
		const how = `leave out an operation that certainly failed, or give it "status": "fail", and leave out the "return" of one that may have happened`
		certain, perhaps := outcomeOf(name).failure(fields[name])
		switch {
		case certain:
			return r.Fail(`the record has a "return", so it succeeded and its %q: %s is ignored; %s`, name, fields[name], how)
		case perhaps && !r.warned[name] && r.warn != nil:
			if r.warned == nil {
				r.warned = map[string]bool{}
			}
			r.warned[name] = true
			r.warn(`line %d: the record has a "return", so it succeeded and its %q is ignored; %s`, r.begins.Line, name, how)
		}
	}
	return nil
}
