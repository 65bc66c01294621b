package models

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/option"
	"clew/internal/text"
	"clew/jepsen"
)

// The keys of a history may begin with different values. The initial value then is a map with one or both of two keys,
// {:each {"k1" 1} :default 0}: of independent keys, or of a model whose places are keys, such as kv.

// keyInits are the initial values of keys.
type keyInits struct {
	each edn.ID  // a map
	rest *edn.ID // of all other keys; nil: the model's own
}

// keyInitsIn returns what an initial value says about keys, or nil if it is not of that form.
func keyInitsIn(v *edn.Values, init edn.ID) *keyInits {
	if v.Kind(init) != edn.KindMap || len(v.Items(init)) == 0 {
		return nil
	}
	k := &keyInits{each: v.InternMap(nil)}
	each, rest := v.InternKeyword("each"), v.InternKeyword("default")
	for kvs := v.Items(init); len(kvs) > 0; kvs = kvs[2:] {
		switch value := kvs[1]; {
		case kvs[0] == each && v.Kind(value) == edn.KindMap:
			k.each = value
		case kvs[0] == rest:
			value = v.Same(value)
			k.rest = &value
		default:
			return nil
		}
	}
	return k
}

// meansKeys reports whether an initial value begins to say something about keys.
func meansKeys(v *edn.Values, init edn.ID) bool {
	if v.Kind(init) != edn.KindMap {
		return false
	}
	for kvs := v.Items(init); len(kvs) > 0; kvs = kvs[2:] {
		if kvs[0] == v.InternKeyword("each") {
			return true
		}
	}
	return false
}

// ByKey returns a function of one user that returns the spec of an independent key, given as EDN: with its initial value
// if Init says that key by key, else the same spec. perKey reports whether Init does. For a model whose values are maps, Init may also be
// such a value, so this is for independent keys alone.
func (s Spec) ByKey() (of func(key string) Spec, perKey bool) {
	same := func(string) Spec { return s }
	v := edn.NewValues()
	init, err := s.initial(v)
	if err != nil || init == nil {
		return same, false
	}
	k := keyInitsIn(v, *init)
	if k == nil {
		return same, false
	}
	others := s
	if others.Init = ""; k.rest != nil {
		others.Init = v.Text(*k.rest)
	}
	inits := map[edn.ID]edn.ID{}
	for kvs := v.Items(k.each); len(kvs) > 0; kvs = kvs[2:] {
		inits[v.Same(kvs[0])] = kvs[1]
	}
	return func(key string) Spec {
		id, err := v.Parse([]byte(key), edn.Pos{})
		if init, given := inits[v.Same(id)]; given && err == nil {
			one := s
			one.Init = v.Text(init)
			return one
		}
		return others
	}, true
}

// SaysKeys returns an error if Init says what keys begin with, although a history has no keys and its model is one value.
// A register may hold {:default 0} itself, but then some operation has it.
func (s Spec) SaysKeys(h *jepsen.History) error {
	if s.Init == "" {
		return nil
	}
	init, err := s.initial(h.Values)
	if err != nil {
		return err
	}
	keys := keyInitsIn(h.Values, *init)
	if keys == nil || slices.ContainsFunc(h.Value, func(id edn.ID) bool { return holds(h.Values, id, h.Values.Same(*init)) }) {
		return nil
	}
	instead := "an initial value"
	if keys.rest != nil {
		instead = fmt.Sprintf("%s %s", ParamInit, h.Values.Text(*keys.rest))
	}
	return ParamErrorf("%s %s says what keys begin with, and none was asked for: give %s, or %s if values are [key value]", ParamInit, s.Init, instead, option.Independent)
}

// holds reports whether a value is another one, or has it somewhere inside.
func holds(v *edn.Values, id, wanted edn.ID) bool {
	return v.Same(id) == wanted || slices.ContainsFunc(v.Items(id), func(item edn.ID) bool { return holds(v, item, wanted) })
}

// CheckKeys does what Check does if each independent key is a history of its own.
func (s Spec) CheckKeys() error {
	v := edn.NewValues()
	of, perKey := s.ByKey()
	init, err := s.initial(v)
	if err != nil {
		return err
	}
	if !perKey {
		if init != nil && meansKeys(v, *init) {
			return ParamErrorf("%s must be {:each {key value ..} :default value}, or one of them, not %s", ParamInit, text.Shorten(v.Text(*init), MaxRepeated))
		}
		return s.Check()
	}
	for kvs := v.Items(keyInitsIn(v, *init).each); len(kvs) > 0; kvs = kvs[2:] {
		if err := of(v.Text(kvs[0])).Check(); err != nil {
			return err
		}
	}
	s.Init = ""
	if k := keyInitsIn(v, *init); k.rest != nil {
		s.Init = v.Text(*k.rest)
	}
	return s.Check()
}

// PerKey returns the initial values of keys, and that of all others or nil, for a model whose places are keys: an initial
// value that does not say them in the other form is the map itself. It returns false if it is not a map, or one that has
// :default beside other keys, which may be meant as either.
func (b *Binding) PerKey() (each []edn.ID, rest *edn.ID, ok bool) {
	return InitPerKey(b.Values, *b.InitID)
}

// InitPerKey is PerKey of an initial value.
func InitPerKey(v *edn.Values, init edn.ID) (each []edn.ID, rest *edn.ID, ok bool) {
	if k := keyInitsIn(v, init); k != nil {
		return v.Items(k.each), k.rest, true
	}
	_, mixed := v.Get(init, v.InternKeyword("default"))
	return v.Items(init), nil, v.Kind(init) == edn.KindMap && !mixed
}

// InitMap returns the initial value of a model whose places are keys, given as keys and values.
func InitMap(v *edn.Values, kvs []edn.ID) edn.ID {
	m := v.InternMap(kvs)
	if _, is := v.Get(m, v.InternKeyword("default")); is || keyInitsIn(v, m) != nil {
		m = v.InternMap([]edn.ID{v.InternKeyword("each"), m})
	}
	return m
}

// ShortInit returns an initial value in the form {:default v} if it takes more than a number of bytes and is a map all of
// whose values are v, else as it is.
func ShortInit(init string, most int) string {
	if len(init) <= most {
		return init
	}
	v := edn.NewValues()
	m, err := v.Parse([]byte(init), edn.Pos{})
	if err != nil || v.Kind(m) != edn.KindMap {
		return init
	}
	kvs := v.Items(m)
	if keyInitsIn(v, m) != nil {
		return init
	}
	for i := 1; i < len(kvs); i += 2 {
		if v.Same(kvs[i]) != v.Same(kvs[1]) {
			return init
		}
	}
	return DefaultInit(v.Text(kvs[1]))
}

// DefaultInit returns the initial value with which every key begins at a value, given as EDN.
func DefaultInit(value string) string { return "{:default " + value + "}" }

// AndEach returns an initial value with which some keys begin at values, both given as EDN, and all others as before.
func (s Spec) AndEach(keys, values []string) string {
	v := edn.NewValues()
	id := func(text string) edn.ID {
		id, err := v.Parse([]byte(text), edn.Pos{})
		if err != nil {
			return edn.Nil
		}
		return id
	}
	each := map[edn.ID]bool{}
	var kvs []edn.ID
	for i, key := range keys {
		k := id(key)
		each[v.Same(k)] = true
		kvs = append(kvs, k, id(values[i]))
	}
	var rest *edn.ID
	if s.Init != "" {
		init := id(s.Init)
		if k := keyInitsIn(v, init); k != nil {
			for before := v.Items(k.each); len(before) > 0; before = before[2:] {
				if !each[v.Same(before[0])] {
					kvs = append(kvs, before[0], before[1])
				}
			}
			rest = k.rest
		} else {
			rest = &init
		}
	}
	all := []edn.ID{v.InternKeyword("each"), v.InternMap(kvs)}
	if rest != nil {
		all = append(all, v.InternKeyword("default"), *rest)
	}
	return v.Text(v.InternMap(all))
}
