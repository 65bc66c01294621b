package etcd

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"clew/internal/second"
)

// Second is the second reading of etcd, for tests. A state is the revision, the compact revision, the leases, and each
// key with its value, mod revision, version, create revision and lease, as texts with "|" between.
var Second = map[string]second.Reading{"etcd": {Default: []string{"1", "-1", ""}, Step: secondEtcd}}

// store is a state in parts.
type store struct {
	revision, compacted int
	leases              []string
	keys                map[string][]string
}

func storeOf(s []string) store {
	x := store{second.Int(s[0]), second.Int(s[1]), nil, map[string][]string{}}
	if s[2] != "" {
		x.leases = strings.Split(s[2], "|")
	}
	for _, text := range s[3:] {
		parts := strings.Split(text, "|")
		x.keys[parts[0]] = parts[1:]
	}
	return x
}

func (x store) state() [][]string {
	s := []string{strconv.Itoa(x.revision), strconv.Itoa(x.compacted), strings.Join(second.Sorted(x.leases), "|")}
	for _, key := range slices.Sorted(maps.Keys(x.keys)) {
		s = append(s, key+"|"+strings.Join(x.keys[key], "|"))
	}
	return [][]string{s}
}

func secondEtcd(_ second.Options, s []string, a second.Op) [][]string {
	x, answer := storeOf(s), a.Value
	if a.Crashed || answer.Canon() == a.Given.Canon() {
		answer = second.IsNil
	}
	refused := answer.Get(":error").Atom
	changed, fits := false, true
	lease := a.Given.Get(":lease").Canon()
	switch a.F {
	case ":lease-grant":
		if !slices.Contains(x.leases, lease) {
			x.leases = append(x.leases, lease)
		}
	case ":lease-revoke":
		for key, has := range x.keys {
			if has[4] == lease {
				delete(x.keys, key)
				changed = true
			}
		}
		x.leases = slices.DeleteFunc(x.leases, func(other string) bool { return other == lease })
	case ":compact":
		at := second.Int(a.Given.Get(":revision").Canon())
		switch {
		case strings.Contains(refused, "compacted"):
			return second.Stay(s, at <= x.compacted)
		case refused != "nil":
			return second.Stay(s, at > x.revision)
		case at <= x.compacted || at > x.revision:
			return nil
		}
		x.compacted = at
	case ":put", ":range", ":delete":
		changed, fits = x.act(a.F, a.Given, answer)
	case ":txn":
		changed, fits = x.txn(a.Given, answer)
	}
	if changed {
		x.revision++
	}
	if told := answer.Get(":revision"); !fits || !told.IsNil() && second.Int(told.Canon()) != x.revision {
		return nil
	}
	return x.state()
}

func (x store) txn(given, answer second.Form) (changed, fits bool) {
	holds := true
	for _, test := range given.Get(":if").Items {
		has, there := x.keys[test.Get(":key").Canon()]
		if !there {
			has = []string{"", "0", "0", "0", ""}
		}
		for i, field := range []string{":value", ":mod-revision", ":version", ":create-revision"} {
			if want := test.Get(field); !want.IsNil() {
				holds = holds && want.Canon() == has[i]
			}
		}
	}
	if said := answer.Get(":succeeded"); !said.IsNil() && said.Atom != strconv.FormatBool(holds) {
		return false, false
	}
	actions := given.Get(map[bool]string{true: ":then", false: ":else"}[holds]).Items
	fits = true
	for i, action := range actions {
		result := second.IsNil
		if results := answer.Get(":results").Items; i < len(results) {
			result = results[i]
		}
		changes, may := x.act(action.Get(":f").Atom, action, result)
		changed, fits = changed || changes, fits && may
	}
	return changed, fits
}

// act lets an action happen, and says whether it has its result.
func (x store) act(f string, given, result second.Form) (changed, fits bool) {
	from := given.Get(":key").Canon()
	if f == ":put" {
		return x.put(from, given), true
	}
	var found []string
	for _, key := range slices.Sorted(maps.Keys(x.keys)) {
		if to := given.Get(":end"); key == from || !to.IsNil() && from <= key && key < to.Canon() {
			found = append(found, key)
		}
	}
	count := strconv.Itoa(len(found))
	if f == ":delete" {
		for _, key := range found {
			delete(x.keys, key)
		}
		told := result.Get(":deleted")
		return len(found) > 0, told.IsNil() || told.Canon() == count
	}
	if told := result.Get(":count"); !told.IsNil() && told.Canon() != count {
		return false, false
	}
	if limit := given.Get(":limit"); !limit.IsNil() {
		found = found[:min(len(found), second.Int(limit.Canon()))]
	}
	kvs := result.Get(":kvs")
	if kvs.IsNil() {
		return false, true
	}
	return false, slices.EqualFunc(kvs.Items, found, x.same)
}

// same says whether an answer shows a key as it is.
func (x store) same(kv second.Form, key string) bool {
	if kv.Get(":key").Canon() != key {
		return false
	}
	for i, field := range []string{":value", ":mod-revision", ":version", ":create-revision", ":lease"} {
		if told := kv.Get(field); !told.IsNil() && told.Canon() != x.keys[key][i] {
			return false
		}
	}
	return true
}

func (x store) put(key string, given second.Form) bool {
	lease := given.Get(":lease")
	if !lease.IsNil() && !slices.Contains(x.leases, lease.Canon()) {
		return false
	}
	now, there := x.keys[key]
	if !there {
		now = []string{"", "", "0", strconv.Itoa(x.revision + 1), ""}
	}
	x.keys[key] = []string{given.Get(":value").Canon(), strconv.Itoa(x.revision + 1), strconv.Itoa(second.Int(now[2]) + 1), now[3], lease.Canon()}
	return true
}
