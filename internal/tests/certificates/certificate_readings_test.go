package certificates_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/internal/certificate"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// A program that reads such keys on its own proves their certificate.
func TestACASBesideItsKeyIsCertified(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	r, err := kit.CheckLog(kit.Sequential("write [:a 1]; cas [:a 1 2]; write [:b 2]; cas [:b 1 3]"), models.Spec{Name: "cas-register"}, clew.Options{Independent: true})
	if err != nil {
		t.Fatal(err)
	}
	file := c.file(r.History)
	h, err := clew.ReadFile(file, jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err = clew.Check(context.Background(), h, models.Spec{Name: "cas-register"}, clew.Options{Independent: true}); err != nil {
		t.Fatal(err)
	}
	c.add("keys", file, r)
	if said := c.check()["keys"]; !strings.HasPrefix(said, "proved: not linearizable as cas-register {}, independent: True") {
		t.Error(said)
	}
}

// Certificates say which reading was taken, and other programs read the history in that one.
func TestCertificatesSayTheReading(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	want := map[string]string{}
	for _, x := range []struct{ model, ops, as, with, want string }{
		{"counter", "incr 1; incr 1 -> 3", `"answers":"told"`, "", "proved: not linearizable as counter {'answers': 'told'}"},
		{"counter", "incr 1; incr 1", `"answers":"echo"`, "", "proved: linearizable as counter {'answers': 'echo'}"},
		{"counter", "incr 1; incr 1", `"answers":"echo"`, `"answers":"told"`, "rejected: operation 1 cannot happen where it stands"},
		{"counter", "incr 1; incr 1", `"answers":"echo"`, "", "rejected: the certificate does not say whether answers are told"},
		{"counter", "incr 1; incr 1", `"answers":"echo"`, `"answers":"Told"`, "rejected: answers is 'Told'"},
		{"log", "append 7 -> 0; append 0 -> 0", `"answers":"told"`, "", "proved: not linearizable as log {'answers': 'told'}"},
		{"log", "append :a -> 0; append :b -> {:offset 1}", `"answers":"told"`, "", "rejected: the certificate does not say whether answers are told"},
		{"kv", "put 1; cas [1 2]; get nil -> 2", `"kv-keys":"none"`, "", "proved: linearizable as kv {'kv-keys': 'none'}"},
		{"kv", "put {:value 1 :version 1}; put {:value 1 :version 2}; get nil -> {:value 1 :version 1}", `"kv-keys":"none"`, "", "proved: not linearizable as kv {'kv-keys': 'none'}"},
		{"kv", "put [1 {:value 1}]; cas [1 [{:value 1} 2]] -> [1 {:succeeded true}]; get [1 nil] -> [1 {:found true :value 2}]", `"kv-keys":"pairs"`, "", "proved: linearizable as kv {'kv-keys': 'pairs'}"},
		{"kv", "put [1 2]; get [1 nil] -> [1 2]", `"kv-keys":"pairs"`, `"kv-keys":"none"`, "rejected: a get that may have been called with a key"},
		{"kv", "put 1; get nil -> 1", `"kv-keys":"none"`, `"kv-keys":"pairs"`, "rejected: an operation that is no pair of a key and a value"},
		{"kv", "put 1; get nil -> 1", `"kv-keys":"none"`, "", "rejected: a :key, or none, where the certificate says otherwise"},
		{"bank", "read nil -> {:0 0 :1 0}; transfer {:from 0 :to 1 :amount 0}", `"accounts":"numbers"`, "", "proved: linearizable as bank {'accounts': 'numbers'}"},
		{"bank", `read nil -> {:a 0}; transfer {:from "a" :to "b" :amount 0}; read nil -> {:a 0 :b 1}`, `"accounts":"strings"`, "", "proved: not linearizable as bank {'accounts': 'strings'}"},
		{"set", "add 1; read nil; read nil -> [1]", `{}`, "", "proved: linearizable as set {}"},
		{"log", "append 1; read nil; read nil -> [1]", `"answers":"echo"`, "", "proved: linearizable as log {'answers': 'echo'}"},
		{"bank", "read nil; transfer {:from 0 :to 1 :amount 0}", `{}`, "", "proved: linearizable as bank {}"},
		{"bank", "read nil -> [0 0]; transfer {:from 0 :to 1 :amount 0}", `{}`, "", "proved: linearizable as bank {}"},
		{"bank", "read nil -> {:0 0 :1 0}; transfer {:from 0 :to 1 :amount 0}", `"accounts":"numbers"`, `"semantics":"jepsen"`, "not checked"},
	} {
		name := fmt.Sprint(len(want), " ", x.ops)
		r, err := kit.CheckLog(kit.Sequential(x.ops), models.Spec{Name: x.model}, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		file := c.file(r.History)
		if r, err = kit.CheckAnew(file, models.Spec{Name: x.model}); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := certificate.Write(context.Background(), &b, r, certificate.Options{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), x.as) {
			t.Fatalf("%s: expected %s in %s", x.ops, x.as, b.String())
		}
		text := b.String()
		if x.want[0] == 'r' || x.with != "" {
			text = strings.Replace(text, x.as, x.with, 1)
		}
		c.put(name, file, text)
		want[name] = x.want
	}
	for name, said := range c.check() {
		if !strings.HasPrefix(said, want[name]) {
			t.Errorf("%s: %s; expected %s", name, said, want[name])
		}
	}
}
