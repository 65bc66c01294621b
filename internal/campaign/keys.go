package campaign

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"clew"
	"clew/edn"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// keyNames are distinct keys, each in spellings that are equal.
var keyNames = [][]string{
	{"0", "0N"}, {"1", "1N"}, {"-7", "-7N"}, {`"a"`, `"\u0061"`}, {`"a\"b\\"`, `"\u0061\"b\u005c"`}, {":a"}, {":a/b"}, {"nil"}, {"false"},
	{"[1 2]", "(1 2)", "[1N 2]"}, {"[2 1]", "(2N 1N)"}, {"#{1 2}", "#{2 1}", "#{2N 1}"}, {"{:a 1, :b 2}", "{:b 2N :a 1}"},
	{"1.0"}, {"1.0M", "1.00M"}, {"0.0", "-0.0"}, {"[[1] #{(2)}]", "([1N] #{[2]})"}, {"[]", "()"}, {"{}"}, {"#{}"}, {`\a`}, {"1/2", "2/4"}, {"300", "300N"},
}

// Keys says what is wrong with the verdicts on several histories that are the keys of
// one. The error is a *Mismatch.
func (c *Counts) Keys(r *rand.Rand, alone []subject) error {
	names := shuffledNames(r, len(alone))
	var queues [][]string
	for i, s := range alone {
		queues = append(queues, s.keyed(r, i, names[i]))
	}
	whole := interleaved(r, queues)
	if whole == "" {
		return nil
	}
	spec := alone[0].spec
	h, got, err := decidedByKey(spec, whole)
	if err == nil {
		err = together(h, got, alone, queues, names)
	}
	if err != nil {
		text := smallestOfKeys(spec, whole, decided)
		return &Mismatch{Spec: spec, Keys: true, Text: text, Err: fmt.Errorf("keys together: %w", err)}
	}
	c.Changes.note("keys together", got.Verdict)
	return nil
}

// decidedByKey decides the keys of a history.
func decidedByKey(spec models.Spec, text string) (h *jepsen.History, r *report.Result, err error) {
	if h, err = clew.Read(strings.NewReader(text), "", jepsen.Options{}); err == nil {
		r, err = clew.Check(context.Background(), h, spec.FromDefault(), clew.Options{Independent: true})
	}
	return h, r, err
}

// together says how the verdicts on keys differ from those on their separate histories.
func together(h *jepsen.History, got *report.Result, alone []subject, queues, names [][]string) error {
	keys := map[edn.ID]report.KeyResult{}
	for _, key := range got.Keys {
		keys[h.Values.Same(key.Key.ID())] = key
	}
	all, empty := jepsen.Valid, 0
	for i, s := range alone {
		if len(queues[i]) == 0 {
			empty++
			continue
		}
		id, err := h.Values.Parse([]byte(names[i][0]), edn.Pos{})
		if err != nil {
			return err
		}
		key, found := keys[h.Values.Same(id)]
		if !found {
			return fmt.Errorf("there is no key %s", names[i][0])
		}
		if s.auto.Verdict == jepsen.Invalid {
			all = jepsen.Invalid
		}
		if err := differs(key, s.auto); err != nil {
			return err
		}
	}
	if got.Verdict != all || len(got.Keys) != len(alone)-empty {
		return fmt.Errorf("%s of %d keys, not %s of %d", got.Verdict, len(got.Keys), all, len(alone)-empty)
	}
	return nil
}

// differs says how the verdict on a key differs from that on its separate history.
func differs(key report.KeyResult, alone *report.Result) error {
	if among := key.Result(); among.Verdict != alone.Verdict || among.FailEvent != alone.FailEvent {
		return fmt.Errorf("key %s is %s at event %d of its own, and alone %s at %d", key.Key, among.Verdict, among.FailEvent.OrNone(), alone.Verdict, alone.FailEvent.OrNone())
	}
	return nil
}

// smallestOfKeys leaves out lines of a history as long as the verdict on some key
// differs from that on its separate history.
func smallestOfKeys(spec models.Spec, text string, decided func(models.Spec, string) (*jepsen.History, *report.Result, error)) string {
	return smallest(text, func(text string) error {
		if strings.TrimSpace(text) == "" {
			return nil // a history without keys is an error
		}
		h, got, err := decidedByKey(spec, text)
		if err != nil {
			return err
		}
		alone := byKey(spec, h)
		for _, key := range got.Keys {
			_, r, err := decided(spec, alone[h.Values.Same(key.Key.ID())])
			if err == nil {
				err = differs(key, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// byKey returns the history of each key, as text, by its class.
func byKey(spec models.Spec, h *jepsen.History) map[edn.ID]string {
	s, v, texts := subject{spec: spec, h: h}, h.Values, map[edn.ID]string{}
	for e := range jepsen.Event(len(h.Type)) {
		pair := v.Items(h.Value[e])
		if len(pair) != 2 {
			continue
		}
		line := s.event(nil, e, func(process int) int { return process })
		line = v.AppendText(append(line, " :value "...), pair[1])
		if key := h.Key(e); key != edn.Nil {
			line = v.AppendText(append(line, " :key "...), key)
		}
		texts[v.Same(pair[0])] += string(line) + "}\n"
	}
	return texts
}

// shuffledNames returns n keys. Beyond those with several spellings they are numbers.
func shuffledNames(r *rand.Rand, n int) [][]string {
	names := slices.Clone(keyNames)
	for i := len(names); i < n; i++ {
		names = append(names, []string{fmt.Sprint(300 + i), fmt.Sprint(300+i, "N")})
	}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:n]
}

// keyed returns the events of a history as those of the n-th key of a larger one.
// It has other processes, of the same owners.
func (s *subject) keyed(r *rand.Rand, n int, spellings []string) (lines []string) {
	number := func(process int) int { return process + n*1000*max(s.spec.Threads, 1) }
	for e := range jepsen.Event(len(s.h.Type)) {
		line := s.event(nil, e, number)
		line = append(append(append(line, " :value ["...), spellings[r.IntN(len(spellings))]...), ' ')
		line = append(s.h.Values.AppendText(line, s.h.Value[e]), ']')
		if key := s.h.Key(e); key != edn.Nil {
			line = s.h.Values.AppendText(append(line, " :key "...), key)
		}
		lines = append(lines, string(append(line, '}')))
	}
	return lines
}

// interleaved returns the lines of several histories as those of one.
func interleaved(r *rand.Rand, queues [][]string) string {
	var text strings.Builder
	for left := slices.DeleteFunc(slices.Clone(queues), func(q []string) bool { return len(q) == 0 }); len(left) > 0; {
		k := r.IntN(len(left))
		text.WriteString(left[k][0])
		text.WriteByte('\n')
		if left[k] = left[k][1:]; len(left[k]) == 0 {
			left = slices.Delete(left, k, k+1)
		}
	}
	return text.String()
}

// keeper collects histories until there are enough for the keys of one.
type keeper struct {
	alone []subject
	most  int
}

// add takes another history. It skips one that has an initial value of its own. All keys
// of a history are read in one way, so it starts over with one that is read in another way
// than the first. Once there are enough, it calls Keys.
func (k *keeper) add(c *Counts, r *rand.Rand, s subject) error {
	switch {
	case s.spec.Init != "":
		return nil
	case len(k.alone) == 0 || k.alone[0].spec != s.spec:
		k.alone = nil
		if k.most = 1 + r.IntN(5); r.IntN(8) == 0 {
			k.most = 10 + r.IntN(30)
		}
	}
	if len(k.alone) > 0 && k.alone[0].auto.Spec != s.auto.Spec {
		return nil
	}
	if k.alone = append(k.alone, s); len(k.alone) < k.most {
		return nil
	}
	alone := k.alone
	k.alone = nil
	return c.Keys(r, alone)
}
