package requests

import (
	"bytes"
	"encoding/json"
	"testing"

	"clew/internal/fuzzing"
)

func FuzzMembers(f *testing.F) {
	for _, seed := range []string{" { \"a\\\"}\" : {\"b\":[1,{}]} ,\n\"c\":-1e3\t,\"d\": \"\\\\\",\"\":null}x", `{ }`, `[{}]{`, `{"a":1,"A":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		defer fuzzing.Guard(t)()
		object, after := Parted(request)
		if string(object)+string(after) != string(request) {
			t.Errorf("%q: %q and %q", request, object, after)
		}
		if want := map[string]json.RawMessage(nil); json.Unmarshal(object, &want) == nil {
			got := map[string]json.RawMessage{}
			for m := range Members(object) {
				got[m.Name()] = m.Value
				if !bytes.HasPrefix(object[m.From:], m.Value) {
					t.Errorf("%q: %s is not at %d", object, m.Key, m.From)
				}
			}
			for name := range want {
				if string(got[name]) != string(want[name]) {
					t.Errorf("%q: %q is %s, expected %s", object, name, got[name], want[name])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%q: %d members, expected %d", object, len(got), len(want))
			}
		}
	})
}

func TestKeysAreDifferent(t *testing.T) {
	for object, want := range map[string]string{
		`{"a":1,"b":{"a":1},"c":[{"a":1,"a":2}]}`: "", `{}`: "", `[1]`: "", `{"b":{"a":1,"A":2}}`: "",
		`{"a":1,"A":2}`: "a", `{"a":1,"\u0061":2}`: "a", `{"b":{"c":{"x y":1, "x y":1}}}`: "x y", `{"":1,"":1}`: "",
	} {
		if name, is := Twice([]byte(object)); name != want || is != (want != "" || object == `{"":1,"":1}`) {
			t.Errorf("%s: %q, %t", object, name, is)
		}
	}
}
