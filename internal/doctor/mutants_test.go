package doctor

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/internal/campaign"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
)

// mutantsOf returns mutants of a history's text, none if the history is not linearizable from its beginning on.
func mutantsOf(text string, x *examination) (all []*mutant, err error) {
	h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		return nil, err
	}
	x.Diagnosis, x.counts = newDiagnosis(h), newSurvey()
	if err := errors.Join(x.read(context.Background(), h, x.spec), x.decide(context.Background())); err != nil {
		return nil, err
	}
	d := newDraws(x.subjects, x.o.Seed)
	for range x.o.Mutants {
		if m := d.next(); m != nil {
			all = append(all, m)
		}
	}
	return all, nil
}

// A mutant that is refuted is not linearizable, and one that stays valid is, as the oracle says. What is changed was
// linearizable before.
func TestTheOracleDecidesMutantsAlike(t *testing.T) {
	count := map[jepsen.Verdict]int{}
	ofWay := [ways]int{}
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i))
		for range effort.Histories(30, 1000) {
			spec := campaign.WithParameters(r, spec)
			o := campaign.GenOptions(spec)
			o.Init = true
			g := gen.New(r, o)
			spec.Init = g.Init
			x := &examination{o: Options{Mutants: 6, Seed: r.Uint64()}, spec: spec}
			all, err := mutantsOf(g.Text, x)
			if err != nil {
				continue // a guess may have answers that are no history
			}
			for _, s := range x.subjects {
				if a := oracle.Decide(s.ops, oracle.Options{}); !a.Linearizable {
					t.Fatalf("%s: what is changed is not linearizable\n%s", campaign.Name(spec), g.Text)
				}
			}
			for _, m := range all {
				ops, err := m.of.spec.Read(m.history())
				if err != nil {
					continue
				}
				want := jepsen.Invalid
				if oracle.Decide(ops, oracle.Options{}).Linearizable {
					want = jepsen.Valid
				}
				got, _, err := x.refuted(context.Background(), m)
				if err != nil || got != want {
					t.Fatalf("%s: %v: %v, %v; the oracle says %v\n%s", campaign.Name(spec), m, got, err, want, g.Text)
				}
				count[got]++
				ofWay[m.way]++
			}
		}
	}
	t.Logf("%d mutants refuted, %d valid; %v of each way", count[jepsen.Invalid], count[jepsen.Valid], ofWay)
	for w, n := range ofWay {
		if n < 50 || count[jepsen.Invalid] < 500 || count[jepsen.Valid] < 500 {
			t.Errorf("that tells too little: %d are %s", n, wayWords[w].name)
		}
	}
}

// An answer is what the call leaves open, wherever it stands in the value.
func TestAnswersAreFoundAndReplaced(t *testing.T) {
	for _, c := range []struct{ given, value, answers, replaced string }{
		{"nil", "3", "3", "9"},
		{"[:x nil]", "[:x 3]", "3", "[:x 9]"},
		{"[[:r 1 nil] [:w 2 5]]", "[[:r 1 3] [:w 2 5]]", "3", "[[:r 1 9] [:w 2 5]]"},
		{"{:key :x, :value nil}", "{:key :x, :value 3}", "3", "{:key :x, :value 9}"},
		{"{:key :x, :value nil}", "{:value 3, :key :x}", "{:key :x, :value 3}", "9"},
		{"5", "[5 true]", "[5 true]", "9"},
		{"5", "5", "", ""},
		{"[1 2]", "[1 2]", "", ""},
		{"[:x nil]", "[:x nil]", "nil", "[:x 9]"},
		{"nil", "#{1 2}", "#{1 2}", "9"},
	} {
		h, err := clew.Read(strings.NewReader("0 :invoke :read "+c.given+"\n0 :ok :read "+c.value+"\n"), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v, value := h.Values, h.OpValue(0)
		var found, replaced []string
		f := finder{v, func(a answer, _ edn.ID, _ int) {
			found = append(found, v.Text(a.value))
			replaced = append(replaced, v.Text(put(v, value, a.path, v.InternInt(9))))
		}}
		f.find(h.Value[0], value, h.Value[0], -1, nil)
		if got := strings.Join(found, " "); got != c.answers || strings.Join(replaced, " ") != c.replaced {
			t.Errorf("%s → %s: %s, and %s; want %s, and %s", c.given, c.value, got, replaced, c.answers, c.replaced)
		}
	}
}

// Every finding but those of models of one's own and of crashes on few keys, which have tests below, has a case.
func TestEveryFindingHasACase(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if name := c.name; name != "refuses-nothing" && name != "crashes-together" && !strings.Contains(string(text), "\n"+name+": ") {
			t.Errorf("no case has %s", name)
		}
	}
}
