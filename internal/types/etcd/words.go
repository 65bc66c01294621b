package etcd

import (
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// words are the keys that a map may have, separated by spaces.
type words string

const (
	putWords      words = "key value lease"
	rangeWords    words = "key end limit keys-only count-only revision serializable"
	deleteWords   words = "key end"
	txnWords      words = "if then else"
	leaseWords    words = "lease"
	compactWords  words = "revision"
	watchWords    words = "key prefix revision prev-kv progress-notify"
	testWords     words = "key value version mod-revision create-revision"
	actionWords   words = "f key end limit keys-only count-only value lease"
	answerWords   words = "revision error kvs count deleted succeeded results"
	kvWords       words = "key value mod-revision version create-revision lease"
	responsesWord words = "responses"
	responseWords words = "revision events progress error time"
	eventWords    words = "type key value revision create prev"
)

// longestAsked is how much sentences show of what a call asks for, in characters.
const longestAsked = 44

// told returns how operations are told: a transaction as it is read, without branches that are empty.
func told(h *jepsen.History) jepsen.Words {
	v := h.Values
	var words []edn.ID
	for _, name := range strings.Fields(string(txnWords)) {
		words = append(words, v.InternKeyword(name))
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

// fields are the values of a map by the names of its keys. What is missing or nil is not there.
type fields struct {
	m  *etcd
	of edn.ID
	is map[string]edn.ID
}

// fields reads a map that has no other keys than these.
func (m *etcd) fields(id edn.ID, known words) (f fields, err error) {
	f = fields{m, id, map[string]edn.ID{}}
	names := strings.Fields(string(known))
	if m.V.Kind(id) != edn.KindMap {
		return f, fmt.Errorf("expected a map with :%s, found %s", strings.Join(names, ", :"), m.V.Text(id))
	}
	for kvs := m.V.Items(id); len(kvs) > 0; kvs = kvs[2:] {
		name := ""
		if m.V.Kind(kvs[0]) == edn.KindKeyword {
			name = m.V.Str(kvs[0])
		}
		if !slices.Contains(names, name) {
			return f, fmt.Errorf("expected a map with :%s, found %s in %s", strings.Join(names, ", :"), m.V.Text(kvs[0]), m.V.Text(id))
		}
		if kvs[1] != edn.Nil {
			f.is[name] = kvs[1]
		}
	}
	return f, nil
}

// number returns a number from 0 on, or other if there is none.
func (f fields) number(name string, other int32) (int32, error) {
	id, there := f.is[name]
	if !there {
		return other, nil
	}
	n, ok := f.m.V.Int(id)
	if !ok || n < 0 || n > models.MaxCount {
		return 0, fmt.Errorf("expected a number from 0 to %d as :%s, found %s", models.MaxCount, name, f.m.V.Text(id))
	}
	return int32(n), nil
}

// numbers sets several numbers, to untold where there is none.
func (f fields) numbers(names words, to ...*int32) (err error) {
	for i, name := range strings.Fields(string(names)) {
		if *to[i], err = f.number(name, untold); err != nil {
			return err
		}
	}
	return nil
}

// yes returns a flag.
func (f fields) yes(name string) (bool, error) {
	id, there := f.is[name]
	if there && id != edn.True && id != edn.False {
		return false, fmt.Errorf("expected true or false as :%s, found %s", name, f.m.V.Text(id))
	}
	return there && id == edn.True, nil
}

// items returns the items of a sequence, none if there is no such field.
func (f fields) items(name string) ([]edn.ID, error) {
	id, there := f.is[name]
	if !there {
		return nil, nil
	}
	items, ok := f.m.Sequence(id)
	if !ok {
		return nil, fmt.Errorf("expected a vector as :%s, found %s", name, f.m.V.Text(id))
	}
	return items, nil
}

// class returns the class of a value, or other if there is none.
func (f fields) class(name string, other int32) int32 {
	if id, there := f.is[name]; there {
		return f.m.Class(id)
	}
	return other
}

// value returns the class of :value, which may be nil.
func (f fields) value() int32 {
	return f.class("value", int32(edn.Nil))
}

// key returns the number of :key.
func (f fields) key() (int32, error) {
	id, there := f.is["key"]
	if !there {
		return 0, fmt.Errorf("expected a :key, found %s", f.m.V.Text(f.of))
	}
	return f.m.keyOf(id), nil
}
