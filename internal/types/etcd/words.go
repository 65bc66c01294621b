package etcd

import (
	"fmt"
	"strings"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// word is a key that a map may have.
type word uint8

const (
	aKey word = iota
	aValue
	aLease
	anEnd
	aLimit
	keysOnly
	countOnly
	aRevision
	serializable
	anIf
	aThen
	anElse
	aPrefix
	prevKV
	progressNotify
	aVersion
	modRevision
	createRevision
	anF
	anError
	kvs
	aCount
	aDeleted
	succeeded
	theResults
	theResponses
	theEvents
	aProgress
	aTime
	aType
	aCreate
	aPrev
	wordCount
)

var names = [wordCount]string{
	aKey: "key", aValue: "value", aLease: "lease", anEnd: "end", aLimit: "limit", keysOnly: "keys-only", countOnly: "count-only", aRevision: "revision",
	serializable: "serializable", anIf: "if", aThen: "then", anElse: "else", aPrefix: "prefix", prevKV: "prev-kv", progressNotify: "progress-notify",
	aVersion: "version", modRevision: "mod-revision", createRevision: "create-revision", anF: "f", anError: "error", kvs: "kvs", aCount: "count",
	aDeleted: "deleted", succeeded: "succeeded", theResults: "results", theResponses: "responses", theEvents: "events", aProgress: "progress",
	aTime: "time", aType: "type", aCreate: "create", aPrev: "prev",
}

// words are the keys that a map may have.
type words []word

var (
	putWords      = words{aKey, aValue, aLease}
	rangeWords    = words{aKey, anEnd, aLimit, keysOnly, countOnly, aRevision, serializable}
	deleteWords   = words{aKey, anEnd}
	txnWords      = words{anIf, aThen, anElse}
	leaseWords    = words{aLease}
	compactWords  = words{aRevision}
	watchWords    = words{aKey, aPrefix, aRevision, prevKV, progressNotify}
	testWords     = words{aKey, aValue, aVersion, modRevision, createRevision}
	actionWords   = words{anF, aKey, anEnd, aLimit, keysOnly, countOnly, aValue, aLease}
	answerWords   = words{aRevision, anError, kvs, aCount, aDeleted, succeeded, theResults}
	kvWords       = words{aKey, aValue, modRevision, aVersion, createRevision, aLease}
	responsesWord = words{theResponses}
	responseWords = words{aRevision, theEvents, aProgress, anError, aTime}
	eventWords    = words{aType, aKey, aValue, aRevision, aCreate, aPrev}
)

func (w words) String() string {
	var list []string
	for _, one := range w {
		list = append(list, ":"+names[one])
	}
	return strings.Join(list, ", ")
}

// longestAsked is how much sentences show of what a call asks for, in characters.
const longestAsked = 44

// told returns how operations are told: a transaction as it is read, without branches that are empty.
func told(_ models.Spec, h *jepsen.History) jepsen.Words {
	v := h.Values
	var words []edn.ID
	for _, w := range txnWords {
		words = append(words, v.InternKeyword(names[w]))
	}
	return jepsen.Words{Asked: longestAsked, Value: func(id edn.ID) string {
		var parts []string
		for _, word := range words {
			if v.Kind(id) != edn.KindMap {
				break
			}
			if x, there := v.Get(id, word); there && len(v.Items(x)) > 0 {
				parts = append(parts, v.Text(word)+" "+v.Text(x))
			}
		}
		if len(parts) == 0 {
			return v.Text(id)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}}
}

// fields are the values of a map by their keys. What is missing or nil is not there.
type fields struct {
	m     *etcd
	of    edn.ID
	count int // of those that are there
	is    [wordCount]edn.ID
}

// fields reads a map that has no other keys than these.
func (m *etcd) fields(id edn.ID, known words) (f fields, err error) {
	f.m, f.of = m, id
	if m.V.Kind(id) != edn.KindMap {
		return f, fmt.Errorf("expected a map with %s, found %s", known, m.V.Text(id))
	}
next:
	for items := m.V.Items(id); len(items) > 0; items = items[2:] {
		for _, w := range known {
			if m.words[w] == items[0] {
				if items[1] != edn.Nil {
					f.is[w] = items[1]
					f.count++
				}
				continue next
			}
		}
		return f, fmt.Errorf("expected a map with %s, found %s in %s", known, m.V.Text(items[0]), m.V.Text(id))
	}
	return f, nil
}

func (f *fields) has(w word) bool { return f.is[w] != edn.Nil }

// number returns a number from 0 on, or other if there is none.
func (f *fields) number(w word, other int32) (int32, error) {
	if !f.has(w) {
		return other, nil
	}
	n, ok := f.m.V.Int(f.is[w])
	if !ok || n < 0 || n > models.MaxCount {
		return 0, fmt.Errorf("expected a number from 0 to %d as :%s, found %s", models.MaxCount, names[w], f.m.V.Text(f.is[w]))
	}
	return int32(n), nil
}

// versions reads the numbers of a key, each untold if there is none.
func (f *fields) versions(e *entry) (err error) {
	if e[modified], err = f.number(modRevision, untold); err == nil {
		e[version], err = f.number(aVersion, untold)
	}
	if err == nil {
		e[created], err = f.number(createRevision, untold)
	}
	return err
}

// yes returns a flag.
func (f *fields) yes(w word) (bool, error) {
	id := f.is[w]
	if f.has(w) && id != edn.True && id != edn.False {
		return false, fmt.Errorf("expected true or false as :%s, found %s", names[w], f.m.V.Text(id))
	}
	return id == edn.True, nil
}

// items returns the items of a sequence, none if there is no such field.
func (f *fields) items(w word) ([]edn.ID, error) {
	if !f.has(w) {
		return nil, nil
	}
	items, ok := f.m.Sequence(f.is[w])
	if !ok {
		return nil, fmt.Errorf("expected a vector as :%s, found %s", names[w], f.m.V.Text(f.is[w]))
	}
	return items, nil
}

// class returns the class of a value, or other if there is none.
func (f *fields) class(w word, other int32) int32 {
	if f.has(w) {
		return f.m.Class(f.is[w])
	}
	return other
}

// value returns the class of :value, which may be nil.
func (f *fields) value() int32 {
	return f.class(aValue, int32(edn.Nil))
}

// key returns the number of :key.
func (f *fields) key() (int32, error) {
	if !f.has(aKey) {
		return 0, fmt.Errorf("expected a :key, found %s", f.m.V.Text(f.of))
	}
	return f.m.keyOf(f.is[aKey]), nil
}
