package lock

import (
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/text"
	"clew/models"
)

// lockValues reads the values of locks and semaphores: how many permits, which client,
// which fence. Nil, true, names (keywords, symbols, strings, UUIDs) and maps without such
// fields say nothing of these. A value that may mean a number in an unknown form is an
// error, since it would be ignored otherwise.
type lockValues struct {
	v      *edn.Values
	fields [4]edn.ID // the keywords of lockFields, in order
}

// lockFields are the fields of a map that locks know.
var lockFields = [...]string{"client", "fence", "permits", "uid"}

const (
	lockClient = iota
	lockFence
	lockPermits
)

// otherClients are other names that a client may have, without what clientName leaves out.
var (
	otherClients = []string{"client", "owner", "holder", "session"}
	clientName   = strings.NewReplacer("-", "", "_", "", "id", "", "name", "")
)

func newLockValues(v *edn.Values) lockValues {
	w := lockValues{v: v}
	for i, name := range lockFields {
		w.fields[i] = v.InternKeyword(name)
	}
	return w
}

// permits returns how many permits an operation is about: the number in its completion,
// else in its invocation, else one.
func (w *lockValues) permits(o models.Operation) (int32, error) {
	n, err := w.count(o.ValueID)
	if err != nil || o.GivenID == o.ValueID {
		return max(n, 1), err
	}
	given, err := w.count(o.GivenID)
	if n != 0 && given != 0 && n != given {
		err = fmt.Errorf("expected %d permits, as many as its invocation says, found %s", given, w.v.Text(o.ValueID))
	}
	if n == 0 {
		n = given
	}
	return max(n, 1), err
}

// count returns how many permits a value says, n in n or {:permits n}; 0 if it says none.
func (w *lockValues) count(value edn.ID) (int32, error) {
	number := value
	if w.v.Kind(value) == edn.KindMap {
		var found bool
		if number, found = w.v.Get(value, w.fields[lockPermits]); !found {
			return 0, w.misnamed(value, lockPermits)
		}
	} else if w.silent(value) {
		return 0, nil
	}
	n, ok := w.v.Int(number)
	switch {
	case !ok && number != value:
		return 0, fmt.Errorf("expected a number of permits, found %s", w.v.Text(number))
	case !ok || n < 1 || n > models.MaxCount:
		return 0, fmt.Errorf("expected a number of permits from 1 to %d, found %s", models.MaxCount, w.v.Text(number))
	}
	return int32(n), nil
}

// silent says whether a value that is not a map says nothing of numbers.
func (w *lockValues) silent(value edn.ID) bool {
	switch w.v.Kind(value) {
	case edn.KindNil, edn.KindKeyword, edn.KindSymbol:
		return true
	case edn.KindBool:
		return value == edn.True
	case edn.KindString:
		return !w.isNumber(value)
	case edn.KindTagged:
		return w.v.Str(value) == "uuid" || w.v.Str(value) == "inst"
	}
	return false
}

// isNumber says whether a value is a number or a string of its digits.
func (w *lockValues) isNumber(value edn.ID) bool {
	switch w.v.Kind(value) {
	case edn.KindInt, edn.KindRatio, edn.KindFloat, edn.KindDecimal:
		return true
	case edn.KindString:
		s := strings.TrimSpace(w.v.Str(value))
		return s != "" && strings.Trim(s, "+-.0123456789") == ""
	}
	return false
}

// misnamed returns an error if a map without a field seems to have it under another name.
// Then some unknown key has a number, or is spelled almost like a known one. The client is
// a name, so only its key shows it.
func (w *lockValues) misnamed(value edn.ID, field int) error {
	for kvs := w.v.Items(value); len(kvs) > 0; kvs = kvs[2:] {
		key, its := w.v.Same(kvs[0]), kvs[1]
		if w.knows(key) {
			continue
		}
		want := ""
		if field != lockClient && w.isNumber(its) {
			want = lockFields[field]
		}
		if k := w.v.Kind(key); k == edn.KindString || k == edn.KindKeyword || k == edn.KindSymbol {
			if field == lockClient && slices.Contains(otherClients, clientName.Replace(strings.ToLower(w.v.Str(key)))) {
				want = lockFields[field]
			}
			for _, name := range lockFields {
				if text.IsLike(strings.ToLower(w.v.Str(key)), name) {
					want = name
				}
			}
		}
		if want != "" {
			return fmt.Errorf("expected :%s, found %s in %s", want, w.v.Text(key), w.v.Text(value))
		}
	}
	return nil
}

func (w *lockValues) knows(key edn.ID) bool {
	for _, field := range w.fields {
		if key == w.v.Same(field) {
			return true
		}
	}
	return false
}
