package isolation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/isolation"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// claim is a certificate about a history.
type claim struct {
	of      int // the history
	changed bool
	text    string
}

// claims are certificates, which a program that shares nothing with clew checks.
type claims struct {
	t         *testing.T
	histories []isolation.Drawn
	all       []claim
	seen      map[string]int // how many certificates show an anomaly
}

// fields is a line of a certificate.
type fields map[string]any

// anomaly finds what a certificate shows, if it is of a failure.
var anomaly = regexp.MustCompile(`"anomaly":"[^"]*"`)

// few is how many certificates of each anomaly are taken, besides one in twenty of the others if few are taken.
const few = 4

// certify adds a certificate for each level, as clew writes it, and some with changes.
func (c *claims) certify(of int, r *rand.Rand) {
	c.t.Helper()
	h, err := clew.Read(strings.NewReader(c.histories[of].Text), "h.edn", jepsen.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, level := range models.AllLevels() {
		result, err := clew.Check(context.Background(), h, models.Spec{Name: "list-append", Init: "{}"}, clew.Options{Consistency: level})
		if err != nil {
			c.t.Fatal(err)
		}
		var b bytes.Buffer
		if err := clew.WriteCertificate(context.Background(), &b, result, clew.CertificateOptions{}); err != nil {
			c.t.Fatalf("%s: %v\n%s", level, err, c.histories[of].Text)
		}
		kind := anomaly.FindString(b.String())
		if c.seen[kind]++; c.seen[kind] > few && effort.Few() && c.seen[kind]%20 > 0 {
			continue
		}
		c.all = append(c.all, claim{of: of, text: b.String()})
		for range 2 {
			c.all = append(c.all, c.changed(of, b.String(), r))
		}
	}
}

// changed returns a certificate with a change, which may be about another history.
func (c *claims) changed(of int, text string, r *rand.Rand) claim {
	c.t.Helper()
	var head, section fields
	first, second, _ := strings.Cut(text, "\n")
	for line, to := range map[string]*fields{first: &head, second: &section} {
		if err := json.Unmarshal([]byte(line), to); err != nil {
			c.t.Fatal(err)
		}
	}
	switch r.IntN(10) {
	case 0:
		of = r.IntN(of + 1)
		head["operations"] = strings.Count(c.histories[of].Text, ":invoke")
	case 1:
		head["consistency"] = models.AllLevels()[r.IntN(len(models.AllLevels()))]
	case 2:
		head["consistency"], head["valid"] = models.StrictSerializable, !head["valid"].(bool)
		section["valid"] = head["valid"]
	default:
		for _, name := range slices.Sorted(maps.Keys(section)) {
			if list, is := section[name].([]any); is {
				section[name] = tampered(list, r)
			}
		}
	}
	var b bytes.Buffer
	for _, line := range []fields{head, section} {
		if err := json.NewEncoder(&b).Encode(line); err != nil {
			c.t.Fatal(err)
		}
	}
	return claim{of, true, b.String()}
}

// tampered returns an order, a cycle or micro-operations with a change.
func tampered(list []any, r *rand.Rand) []any {
	if len(list) == 0 {
		return list
	}
	i, j := r.IntN(len(list)), r.IntN(len(list))
	switch r.IntN(4) {
	case 0:
		return slices.Delete(list, i, i+1)
	case 1:
		list[i], list[j] = list[j], list[i]
		return list
	case 2:
		return slices.Insert(list, i, list[j])
	}
	switch x := list[i].(type) {
	case float64:
		list[i] = x + float64(r.IntN(3)-1)
	case []any:
		list[i] = tampered(x, r)
	case map[string]any: // a step
		switch end := []string{"from", "to"}[r.IntN(2)]; r.IntN(3) {
		case 0:
			x["type"] = []string{"ww", "wr", "rw", "first", "process", "realtime"}[r.IntN(6)]
		case 1:
			x["from"], x["to"] = x["to"], x["from"]
		default:
			x[end] = tampered(x[end].([]any), r)
		}
	}
	return list
}

func TestMain(m *testing.M) { kit.RunAndEndProver(m) }

// check makes a program check all certificates, and returns its answers.
func (c *claims) check(prove func(t testing.TB, pairs []string) string) (said []string) {
	c.t.Helper()
	dir := c.t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			c.t.Fatal(err)
		}
		return file
	}
	var files []string
	for i, h := range c.histories {
		files = append(files, write(fmt.Sprintf("%d.edn", i), h.Text))
	}
	var args []string
	for i, x := range c.all {
		args = append(args, files[x.of], write(fmt.Sprintf("%d.json", i), x.text))
	}
	said = strings.Split(strings.TrimSpace(prove(c.t, args)), "\n")
	if len(said) != len(c.all) {
		c.t.Fatalf("%d answers about %d certificates: %s", len(said), len(c.all), said[len(said)-1])
	}
	return said
}

// drawn returns certificates of small histories.
func drawn(t *testing.T) *claims {
	c := &claims{t: t, seen: map[string]int{}}
	n := effort.Histories(400, 20_000)
	if effort.Few() {
		n = 400 // few of them have some of the anomalies
	}
	for seed := range n {
		if d := isolation.Draw(1_000_000 + seed); d.Text != "" {
			c.histories = append(c.histories, d)
			c.certify(len(c.histories)-1, rand.New(rand.NewPCG(seed, 3)))
		}
	}
	return c
}

// A program that shares nothing with clew is persuaded of what clew says of each level, and of nothing that is not so by the level's
// definition, whatever is changed in a certificate.
func TestAnotherProgramProvesLevels(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3, which checks certificates, is not there")
	}
	c := drawn(t)
	proved, refused, kinds := 0, 0, map[string]int{}
	for i, said := range c.check(kit.Prove) {
		_, said, _ = strings.Cut(said, ": ")
		x := c.all[i]
		claimed, is := strings.CutPrefix(said, "proved: ")
		if !is {
			if refused++; !x.changed {
				t.Errorf("%s\n%s%s", said, x.text, c.histories[x.of].Text)
			}
			continue
		}
		level, rest, _ := strings.Cut(claimed, " ")
		why, fails := strings.CutPrefix(rest, "does not hold (")
		if c.histories[x.of].At(models.Level(level)) == fails {
			t.Errorf("%s, which is not so (changed: %t)\n%s%s", said, x.changed, x.text, c.histories[x.of].Text)
		}
		if proved++; fails {
			kind, _, _ := strings.Cut(why, ")")
			kinds[kind]++
		}
	}
	t.Log(proved, refused, kinds)
	if refused < len(c.all)/4 || refused > len(c.all)*2/3 {
		t.Errorf("%d of %d certificates were refused, which says little", refused, len(c.all))
	}
	for _, kind := range []string{"G0-realtime", "G1c-realtime", "G-single-item-realtime", "G2-item", "G1a", "dirty-update", "garbage-read", "incompatible-order", "internal", "G-SI"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s was proved", kind)
		}
	}
}

// The program that is proved proves what clew says of strict serializability, and nothing else, whatever is changed.
func TestTheProvedProgramProvesStrictSerializability(t *testing.T) {
	program := os.Getenv("CLEW_PROOF")
	if program == "" {
		t.Skip("CLEW_PROOF does not name clew-proof, which make proof builds")
	}
	c := drawn(t)
	c.all = slices.DeleteFunc(c.all, func(x claim) bool {
		return !strings.Contains(x.text, fmt.Sprintf(`"consistency":"%s"`, models.StrictSerializable))
	})
	answers := map[string]int{}
	for i, said := range c.check(func(t testing.TB, pairs []string) string {
		out, err := exec.Command(program, pairs...).Output()
		if len(out) == 0 {
			t.Fatal(err)
		}
		return string(out)
	}) {
		_, said, _ = strings.Cut(said, ": ")
		x := c.all[i]
		said, _, _ = strings.Cut(said, " as ")
		holds := strings.HasPrefix(said, "proved: linearizable")
		switch is := strings.HasPrefix(said, "proved: "); {
		case is && holds != c.histories[x.of].At(models.StrictSerializable), !is && !x.changed:
			t.Errorf("%s (changed: %t)\n%s%s", said, x.changed, x.text, c.histories[x.of].Text)
		case is:
			answers[said]++
		default:
			answers["refused"]++
		}
	}
	t.Log(answers)
	if len(answers) < 3 || answers["refused"] < len(c.all)/10 {
		t.Errorf("%v, which says little", answers)
	}
}

// An order of transactions on registers, or their snapshots and commits, are proved as well.
func TestAnotherProgramProvesLevelsOfRegisters(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3, which checks certificates, is not there")
	}
	c, r, none := &claims{t: t}, rand.New(rand.NewPCG(42, 9)), 0
	for i := range int(effort.Histories(30, 2000)) {
		spec := models.Spec{Name: "multi-register", NilReadsExact: i%2 == 0}
		text := gen.New(r, gen.Options{Model: spec.Name, NilReadsExact: spec.NilReadsExact}).Text
		h, err := clew.Read(strings.NewReader(text), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range models.AllLevels() {
			result, err := clew.Check(context.Background(), h, spec, clew.Options{Consistency: level})
			if err != nil {
				break // it is read otherwise
			}
			var b bytes.Buffer
			err = clew.WriteCertificate(context.Background(), &b, result, clew.CertificateOptions{})
			if proves := result.Verdict == jepsen.Valid && !models.ReadCommitted.Implies(level); result.Levels == nil || !result.Levels.Asked.Weaker() || !proves {
				none++
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", level, err, text)
			}
			c.histories = append(c.histories, isolation.Drawn{Text: text})
			c.all = append(c.all, claim{of: len(c.histories) - 1, text: b.String()})
		}
	}
	for i, said := range c.check(kit.Prove) {
		if !strings.Contains(said, ": proved: ") {
			t.Errorf("%s: of\n%s%s", said, c.histories[i].Text, c.all[i].text)
		}
	}
	if len(c.all) < 30 || none < 30 {
		t.Errorf("%d certificates, and %d answers without", len(c.all), none)
	}
}
