package modelfile

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A log that grows by one element at a time is the worst case of a model: copied, ten
// thousand appends are fifty million elements. So the sum of a numbered list and another
// list remembers the first as its origin. If nothing in the file can change a list in place
// (pure), the sum also shares its elements.

// growth maps the lists of one step to their origins.
type growth map[*starlark.List]origin

// origin is the numbered list that a list begins with.
type origin struct {
	list  *starlark.List
	store *store // of both; nil: each has its own elements
}

// still says whether a list still begins with its origin.
func (o origin) still(x *starlark.List) bool {
	if o.store != nil {
		return true
	}
	if x.Len() < o.list.Len() {
		return false
	}
	for i := range o.list.Len() {
		if !identical(x.Index(i), o.list.Index(i)) {
			return false
		}
	}
	return true
}

// identical says whether two values are the same value, as far as constant time can show.
func identical(a, b starlark.Value) bool {
	switch a := a.(type) {
	case starlark.Int, starlark.String, starlark.Bool, starlark.NoneType, *starlark.List, *starlark.Dict, *starlark.Set:
		return a == b
	case starlark.Tuple:
		b, ok := b.(starlark.Tuple)
		return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	}
	return false
}

// sum returns x + y for two lists.
func (t *table) sum(x, y *starlark.List, grown growth, pure bool) (starlark.Value, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	from, grew := grown[x]
	if n, known := t.of[x]; known {
		from, grew = origin{x, t.held[n].store}, true
	}
	if !grew || !pure || from.store == nil {
		z, err := starlark.Binary(syntax.PLUS, x, y)
		if err == nil && grew {
			grown[z.(*starlark.List)] = origin{from.list, nil}
		}
		return z, err
	}
	s := from.store
	if len(s.elems) != x.Len() { // another list has grown out of it
		s = &store{append(make([]starlark.Value, 0, x.Len()+y.Len()), s.elems[:x.Len()]...)}
	}
	for i := range y.Len() {
		s.elems = append(s.elems, y.Index(i))
	}
	z := starlark.NewList(s.elems[:len(s.elems):len(s.elems)])
	grown[z] = origin{from.list, s}
	return z, nil
}
