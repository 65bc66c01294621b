// Package goedn compares the values of package edn with those of another reader,
// olympos.io/encoding/edn, in tests.
package goedn

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	olympos "olympos.io/encoding/edn"

	"clew/edn"
)

// Value rebuilds a value that go-edn has decoded, without what go-edn gets wrong.
func Value(tb testing.TB, v *edn.Values, x any) edn.ID {
	switch x := x.(type) {
	case nil:
		return edn.Nil
	case bool:
		return map[bool]edn.ID{false: edn.False, true: edn.True}[x]
	case int64:
		return v.InternInt(x)
	case float64:
		return v.InternFloat(x)
	case string:
		return v.InternString(x)
	case rune:
		if x > 0xffff {
			return parse(tb, v, `\`+string(x))
		}
		return parse(tb, v, fmt.Sprintf(`\u%04x`, x))
	case olympos.Keyword:
		return v.InternKeyword(string(x))
	case olympos.Symbol:
		return v.InternSymbol(string(x))
	case time.Time:
		return v.InternTagged("inst", v.InternString(x.Format(time.RFC3339Nano)))
	case olympos.Tag:
		return v.InternTagged(x.Tagname, Value(tb, v, x.Value))
	case *big.Int:
		return parse(tb, v, x.String()+"N")
	case big.Int:
		return Value(tb, v, &x)
	case *big.Float:
		return parse(tb, v, x.Text('f', -1)+"M")
	case []any:
		var items []edn.ID
		for _, y := range x {
			items = append(items, Value(tb, v, y))
		}
		return v.InternVector(items)
	case map[any]bool:
		var items []edn.ID
		for y := range x {
			items = append(items, Value(tb, v, deref(y)))
		}
		return v.InternSet(items)
	case map[any]any:
		var kvs []edn.ID
		for k, y := range x {
			kvs = append(kvs, Value(tb, v, deref(k)), Value(tb, v, y))
		}
		return v.InternMap(kvs)
	}
	tb.Fatalf("go-edn gives a %T", x)
	return edn.Nil
}

// deref undoes go-edn's pointers to composite keys.
func deref(k any) any {
	switch k := k.(type) {
	case *any:
		return *k
	case *[]any:
		return *k
	case *map[any]any:
		return *k
	case *map[any]bool:
		return *k
	}
	return k
}

func parse(tb testing.TB, v *edn.Values, text string) edn.ID {
	tb.Helper()
	id, err := v.Parse([]byte(text), edn.Pos{})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return id
}
