package opmap

import (
	"slices"
	"strings"
	"unicode"

	"clew/internal/text"
)

// An op map may have any keys besides those that a checker needs, and Jepsen's have many. But
// a read with a :result and no :value has seen something that would go unnoticed: its value
// would be nil, which matches anything. So a key is suspicious where another one is missing.

// Misnamed is a key that may stand for another one, which is missing or nil.
type Misnamed struct {
	Found, Expected   string // as written: ":result", ":value"
	Known             bool   // Found is a common other name for Expected
	Missing           bool   // Expected is missing; otherwise it is present and may be nil
	Invoked, Returned bool   // matters in invocations, and in completions
}

// otherNames lists what people call the keys of op maps and of interval
// records, in lower case and without dashes.
var otherNames = map[string][]string{
	"type":    {"status", "kind", "state", "event", "eventtype", "optype"},
	"process": {"proc", "processid", "pid", "client", "clientid", "thread", "threadid", "worker", "workerid", "session"},
	"f":       {"fn", "func", "function", "op", "operation", "method", "name", "action", "command", "cmd"},
	"key":     {"k"},
	"value": {"val", "vals", "v", "values", "input", "in", "inp", "arg", "args", "argument", "arguments", "param", "params", "parameters",
		"payload", "data", "request", "req"},
	"output": {"out", "outputs", "result", "results", "res", "ret", "retval", "returnvalue", "returned", "response", "resp", "reply", "answer", "got", "val"},
	"call":   {"start", "started", "startedat", "starttime", "begin", "begintime", "invoke", "invoked", "invokedat", "called", "calltime", "calledat"},
	"return": {"end", "ended", "endedat", "endtime", "finish", "finished", "finishedat", "finishtime", "ret", "returns", "returned", "returntime",
		"returnedat", "complete", "completed", "completedat", "completion", "stop", "stopped", "stoptime"},
}

// meansNothing lists keys that stand next to :value in ops of Jepsen's and
// other tests, but not for it.
var meansNothing = []string{"index", "time", "error", "exception", "debug", "node", "nodes", "opindex", "final", "tstag", "source", "executevia", "latency", "jitter", "duration", "elapsed",
	"host", "server", "endpoint", "client", "clientid", "thread", "worker", "session", "id", "uuid", "attempt", "attempts", "retries", "timeout",
	"timestamp", "walltime", "trace", "span", "message", "msg", "comment", "note", "line", "phase", "link", "concurrency"}

// ownNames lists the keys of op maps and of interval records.
var ownNames = []string{"type", "process", "f", "value", "key", "index", "time", "output", "call", "return"}

// maxName bounds the length of the names that are examined, in bytes.
const maxName = 40

// BareName returns a key's name in lower case, without colon, namespace and separators.
func BareName(key string) string {
	key = strings.TrimPrefix(key, ":")
	key = key[strings.LastIndexByte(key, '/')+1:]
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("-_? ", c) {
			return -1
		}
		return unicode.ToLower(c)
	}, key)
}

// IsOtherName reports whether a key is another name for an expected one, such as "value".
// It may be written differently, misspelled, or be the name that other programs use.
func IsOtherName(key, expected string) bool {
	if len(key) > maxName || strings.TrimPrefix(key, ":") == expected {
		return false
	}
	bare := BareName(key)
	if bare == expected || slices.Contains(otherNames[expected], bare) {
		return true
	}
	return len(expected) >= 4 && len(bare) <= len(expected)+2 && !slices.Contains(meansNothing, bare) && text.IsLike(bare, expected)
}

// MayBeOtherName reports whether a key may be another name for an expected one. It
// returns false for the expected keys themselves and for keys that many programs add.
func MayBeOtherName(key string) bool {
	return !slices.Contains(ownNames, strings.TrimPrefix(key, ":")) && !slices.Contains(meansNothing, BareName(key[:min(len(key), maxName)]))
}

// answerNames lists further names for what was returned, in addition to
// those of an interval record's "output".
var answerNames = []string{"output", "return", "value"}

// suspicion says which keys a key may be another name for.
type suspicion uint8

const (
	likeOutput suspicion = 1 << iota // what was returned
	likeValue
	likeKey
	unknown // anything
)

func suspicionOf(key string) (s suspicion) {
	if name := BareName(key[:min(len(key), maxName)]); IsOtherName(key, "output") || slices.Contains(answerNames, name) {
		s |= likeOutput
	}
	if IsOtherName(key, "value") {
		s |= likeValue
	}
	if IsOtherName(key, "key") {
		s |= likeKey
	}
	if MayBeOtherName(key) {
		s |= unknown
	}
	return s
}

// maxSuspects bounds how many keys a Reader remembers.
const maxSuspects = 1 << 10

type suspects map[string]suspicion

func (known *suspects) of(key []byte) suspicion {
	s, found := (*known)[string(key)]
	if !found {
		s = suspicionOf(string(key[:min(len(key), maxName+1)]))
		if *known == nil {
			*known = suspects{}
		}
		if len(*known) < maxSuspects {
			(*known)[string(key)] = s
		}
	}
	return s
}

// misnamed returns the first of the most suspicious keys that an Event does not
// hold. It returns nil if, given the keys that the Event holds, none is suspicious.
func misnamed(has Fields, keys []suspicion, key func(i int) string) *Misnamed {
	suspicious := likeOutput
	if has&HasValue == 0 {
		suspicious |= likeValue | unknown
	}
	if has&HasKey == 0 {
		suspicious |= likeKey
	}
	for worst := likeOutput; worst <= unknown; worst <<= 1 {
		i := slices.IndexFunc(keys, func(s suspicion) bool { return s&suspicious&worst != 0 })
		missing := has&HasValue == 0
		switch {
		case i < 0:
		case worst == likeKey:
			return &Misnamed{Found: key(i), Expected: ":key", Known: true, Missing: true, Invoked: true}
		default:
			return &Misnamed{Found: key(i), Expected: ":value", Known: worst != unknown, Missing: missing, Invoked: missing && worst != unknown, Returned: true}
		}
	}
	return nil
}

// misnamedAmong returns what is suspicious about op maps with the given keys.
func misnamedAmong(keys []string) *Misnamed {
	var has Fields
	var others []string
	var suspicions []suspicion
	for _, key := range keys {
		name, _ := strings.CutPrefix(key, ":")
		_, own := new(Event).field([]byte(name))
		if has |= own; own == 0 {
			others, suspicions = append(others, key), append(suspicions, suspicionOf(key))
		}
	}
	return misnamed(has, suspicions, func(i int) string { return others[i] })
}
