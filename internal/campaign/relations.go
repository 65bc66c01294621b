package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"clew"
	"clew/edn"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
)

// relation is a change of a history that must not change its verdict, nor at which event
// it fails.
type relation struct {
	name string
	// change gives the changed history, and for each of its lines the line that it was,
	// -1 if it is new. It is nil if the history cannot be changed like that.
	change func(r *rand.Rand, spec *models.Spec, h *jepsen.History, ops *models.Operations, lines []string) (changed []string, was []int)
	// late says that the changed history may have late news of what it lacks, and then
	// cannot be read.
	late bool
}

var relations = []relation{
	{name: "processes renumbered", change: renumbered},
	{name: "values renamed", change: renamed},
	{name: "failed operations added", change: failuresAdded},
	{name: "what crashed without effect dropped", change: dropped, late: true},
}

// ErrNoRelation is the error of Relations if no change fits the history.
var ErrNoRelation = errors.New("no change fits the history")

// Relations says what is wrong with the verdict on a history that was changed in a way
// that must not matter.
func (c *Counts) Relations(r *rand.Rand, spec models.Spec, text string) error {
	h, ops, err := ReadText(spec, text)
	if err != nil {
		return err
	}
	auto, err := Checked(h, spec, "auto")
	if err != nil {
		return err
	}
	return c.relations(r, subject{spec, text, h, ops, auto})
}

func (c *Counts) relations(r *rand.Rand, s subject) error {
	spec, h, ops, want := s.spec, s.h, s.ops, s.auto
	lines := strings.Split(strings.Trim(s.text, "[]\n"), "\n")
	for _, rel := range relations {
		changedSpec := spec
		changed, was := rel.change(r, &changedSpec, h, ops, lines)
		if changed == nil {
			continue
		}
		whole := strings.Join(changed, "\n") + "\n"
		again, _, err := ReadText(changedSpec, whole)
		var unreadable *edn.Error
		if rel.late && errors.As(err, &unreadable) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", rel.name, err, whole)
		}
		got, err := Checked(again, changedSpec, "auto")
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", rel.name, err, whole)
		}
		fails := -1
		if got.Verdict == jepsen.Invalid {
			fails = was[again.Line(got.FailEvent)-1] + 1
		}
		before := -1
		if want.Verdict == jepsen.Invalid {
			before = h.Line(want.FailEvent)
		}
		if got.Verdict != want.Verdict || fails != before {
			return fmt.Errorf("%s: %s at line %d, and %s at line %d before:\n%s", rel.name, got.Verdict, fails, want.Verdict, before, whole)
		}
		c.compare(rel.name)
	}
	return nil
}

var (
	process = regexp.MustCompile(`:process (\d+)`)
	index   = regexp.MustCompile(`:index \d+,? ?`)
)

// renumbered gives every process another number.
func renumbered(r *rand.Rand, spec *models.Spec, _ *jepsen.History, _ *models.Operations, lines []string) ([]string, []int) {
	if spec.Threads > 0 { // the process modulo that is the owner
		return nil, nil
	}
	mask := 1 + r.IntN(31)
	changed := slices.Clone(lines)
	for i, line := range changed {
		changed[i] = process.ReplaceAllStringFunc(line, func(p string) string {
			n, _ := strconv.Atoi(strings.TrimPrefix(p, ":process "))
			return fmt.Sprint(":process ", n^mask)
		})
	}
	return changed, each(lines)
}

// each is the numbers of lines.
func each(lines []string) []int {
	was := make([]int, len(lines))
	for i := range was {
		was[i] = i
	}
	return was
}

// opaque are the models for which it only matters whether values are equal, or which is
// the greater.
var opaque = append([]string{"register", "cas-register", "set", "lookup-set"}, Containers...)

var (
	plainValue = regexp.MustCompile(`:value [^.,"/\\M#E]*[,}]`)
	number     = regexp.MustCompile(`-?\d+`)
)

// renamed gives every integer among the values another one, in the same order.
func renamed(r *rand.Rand, spec *models.Spec, _ *jepsen.History, _ *models.Operations, lines []string) ([]string, []int) {
	if !slices.Contains(opaque, spec.Name) || strings.ContainsAny(spec.Init, `.,"/\M#E`) {
		return nil, nil
	}
	times, more := 1+r.IntN(300), r.IntN(1000)
	rename := func(text string) string {
		return number.ReplaceAllStringFunc(text, func(n string) string {
			x, _ := strconv.Atoi(n)
			return strconv.Itoa(x*times + more)
		})
	}
	changed := slices.Clone(lines)
	for i, line := range changed {
		if strings.Contains(line, ":value") && !plainValue.MatchString(line) || strings.Contains(line, "#") {
			return nil, nil
		}
		changed[i] = plainValue.ReplaceAllStringFunc(line, rename)
	}
	if spec.Init == "" && strings.HasSuffix(spec.Name, "register") {
		spec.Init = "nil" // as it was
	}
	spec.Init = rename(spec.Init)
	return changed, each(lines)
}

// failuresAdded puts operations that failed among the others.
func failuresAdded(r *rand.Rand, spec *models.Spec, h *jepsen.History, _ *models.Operations, lines []string) ([]string, []int) {
	if spec.ObserveFailedCAS || spec.Threads > 0 || h.Operations() == 0 {
		return nil, nil
	}
	like := h.Invocation[r.IntN(h.Operations())]
	var changed []string
	var was []int
	put := func(typ string, i int) {
		op := fmt.Sprintf("{:process 9999, :type %s, :f %s, :value %s", typ, h.Values.Text(h.F[like]), h.Values.Text(h.Value[like]))
		if key := h.Key(like); key != edn.Nil {
			op += ", :key " + h.Values.Text(key)
		}
		changed, was = append(changed, op+"}"), append(was, i)
	}
	from := r.IntN(len(lines) + 1)
	to := from + r.IntN(len(lines)+1-from)
	for i := range len(lines) + 1 {
		if i == from {
			put(":invoke", -1)
		}
		if i == to {
			put(":fail", -1)
		}
		if i < len(lines) {
			changed, was = append(changed, lines[i]), append(was, i)
		}
	}
	return changed, was
}

// dropped leaves out what crashed and changes nothing, such as a read.
func dropped(_ *rand.Rand, spec *models.Spec, h *jepsen.History, ops *models.Operations, lines []string) ([]string, []int) {
	if len(lines) != h.Events { // some lines are no events of their own
		return nil, nil
	}
	matters := map[jepsen.Operation]bool{}
	for _, op := range ops.Of {
		matters[op] = true
	}
	skip := map[int]bool{}
	for e, op := range h.OpOf {
		if h.Status[op] == jepsen.Crashed && !matters[op] {
			skip[h.Line(jepsen.Event(e))-1] = true
		}
	}
	if len(skip) == 0 {
		return nil, nil
	}
	changed, was := []string{}, []int{}
	for i, line := range lines {
		if !skip[i] {
			changed, was = append(changed, line), append(was, i)
		}
	}
	return changed, was
}

// Keys says what is wrong with the verdict on several histories as the keys of one.
func (c *Counts) Keys(r *rand.Rand, spec models.Spec, o gen.Options) error {
	var queue [][]string
	var verdicts []jepsen.Verdict
	for key := range 3 {
		h, _, err := ReadText(spec, gen.New(r, o).Text)
		if err != nil {
			return err
		}
		one, err := Checked(h, spec, "auto")
		if err != nil {
			return err
		}
		var lines []string
		name := h.Values.Value(h.Values.InternInt(int64(key)))
		for e := range jepsen.Event(len(h.Type)) {
			line := h.KeyedEventMap(e, name).String()
			line = process.ReplaceAllStringFunc(line, func(p string) string {
				n, _ := strconv.Atoi(strings.TrimPrefix(p, ":process "))
				return fmt.Sprint(":process ", n+key*1000*max(spec.Threads, 1)) // each key has its own, of the same owners
			})
			lines = append(lines, index.ReplaceAllString(line, ""))
		}
		if len(lines) > 0 {
			queue, verdicts = append(queue, lines), append(verdicts, one.Verdict)
		}
	}
	var text strings.Builder
	for left := slices.Clone(queue); len(left) > 0; {
		k := r.IntN(len(left))
		fmt.Fprintln(&text, left[k][0])
		if left[k] = left[k][1:]; len(left[k]) == 0 {
			left = slices.Delete(left, k, k+1)
		}
	}
	if len(queue) == 0 {
		return ErrNoRelation
	}
	h, err := clew.Read(strings.NewReader(text.String()), "", jepsen.Options{})
	if err != nil {
		return fmt.Errorf("keys together: %w\n%s", err, text.String())
	}
	got, err := together(h, spec)
	if err != nil {
		return fmt.Errorf("keys together: %w\n%s", err, text.String())
	}
	if !slices.Equal(got, verdicts) {
		return fmt.Errorf("keys together: %v, and each alone %v:\n%s", got, verdicts, text.String())
	}
	c.compare("keys together")
	return nil
}

// together are the verdicts on the keys of a history.
func together(h *jepsen.History, spec models.Spec) (verdicts []jepsen.Verdict, err error) {
	r, err := clew.Check(context.Background(), h, spec, clew.Options{Independent: true})
	if err != nil {
		return nil, err
	}
	for _, key := range r.Keys {
		verdicts = append(verdicts, key.Verdict)
	}
	return verdicts, nil
}
