package opmap

import (
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/text"
)

// Check returns an error for a map that is not an op.
func Check(file string, e *Event) error {
	if e.Has&(HasProcess|HasType|HasF) == 0 {
		found := ""
		switch keys := e.Keys(); {
		case slices.Contains(keys, ":valid?"):
			found = "; it looks like a result: check the history beside it"
		case foreign(keys) != "":
			found = "; its keys are those of " + foreign(keys)
		case inAnotherCase(keys) != "":
			found = "; its keys are " + strings.Join(keys[:min(len(keys), maxKeysShown)], ", ") + ", where these are in lower case: " + inAnotherCase(keys)
		case len(keys) > 0:
			found = "; its keys are " + strings.Join(keys[:min(len(keys), maxKeysShown)], ", ")
		}
		return edn.Pos{File: file, Line: e.Line, Col: e.Col}.Errorf("this map is not an operation: it lacks :process, :type and :f%s", found)
	}
	return nil
}

// inAnotherCase returns an operation as it should be written if the keys of a map are those of one but for their case, else "".
func inAnotherCase(keys []string) string {
	has := func(name string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return strings.EqualFold(key, name) })
	}
	switch {
	case !has(":process") || !has(":f"):
		return ""
	case has(":type"):
		return "{:process 0, :type :invoke, :f :write, :value 1}, in JSON {\"process\": 0, \"type\": \"invoke\", \"f\": \"write\", \"value\": 1}"
	case has(":call"):
		return "{\"process\": 0, \"f\": \"write\", \"value\": 1, \"call\": 0, \"return\": 2}"
	}
	return ""
}

// foreign says which other form the keys of a map belong to, and where to go with it. It
// returns "" if the form is not known.
func foreign(keys []string) string {
	has := func(all ...string) bool {
		return !slices.ContainsFunc(all, func(key string) bool {
			return !slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, key) }) // Go ignores case, too
		})
	}
	switch {
	case has(":src", ":dest", ":body"):
		return "a message that Maelstrom's nodes exchange; the history of the test is the history.edn in its folder in store/"
	case has(":Request", ":Responses"):
		return "a watch of etcd's robustness tests; " + etcdReports
	case has(":ClientId", ":Input", ":Call", ":Return"):
		return "a Porcupine operation. If it is of etcd's robustness tests, " + etcdReports +
			"; otherwise write interval records, {\"process\": 0, \"f\": \"write\", \"value\": 1, \"call\": 0, \"return\": 2} (docs/own-system.md), or give the operations to contrib/porcupine, which takes Porcupine's models"
	case has(":ClientId", ":Kind", ":Value", ":Id"):
		return "a Porcupine event; write op maps, {\"process\": 0, \"type\": \"invoke\", \"f\": \"write\", \"value\": 1}, or give the events to contrib/porcupine, which takes Porcupine's models"
	case has(":Partitions", ":Annotations"):
		return "a picture drawn by Porcupine, which holds its operations only as sentences; write the operations as interval records (docs/own-system.md)"
	}
	return ""
}

const etcdReports = "check its whole report (docs/formats.md#etcd)"

// maxKeysShown bounds the keys of a map in an error about it.
const maxKeysShown = 5

// maxKeyShown bounds the characters of each of them.
const maxKeyShown = 40

// Keys returns the keys of an op map as text, for a message. It returns none if the map's
// text is missing, or too long to read again.
func (e *Event) Keys() (keys []string) {
	v := edn.NewValues()
	if len(e.Text) > 1<<20 {
		return nil
	}
	id, err := v.Parse(e.Text, edn.Pos{Line: 1, Col: 1})
	if err != nil || v.Kind(id) != edn.KindMap {
		return nil
	}
	for i, item := range v.Items(id) {
		if i%2 == 0 {
			keys = append(keys, text.Line(text.Shorten(v.Text(item), maxKeyShown)))
		}
	}
	return keys
}
