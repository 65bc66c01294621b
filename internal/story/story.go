// Package story tells from a core alone why it fails: what happened first, what must
// have happened, and what then contradicts it. It tries all orders of the core.
package story

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Bounds of a story.
const (
	maxOps    = 64    // operations of a core that is told
	maxNodes  = 5_000 // configurations that are tried
	maxListed = 5     // operations that are named one by one
	maxWhys   = 2     // reasons that are given
	maxWhy    = 160   // characters of each
)

// Tell tells why the rows of a core cannot be linearized up to the completion at an event, which is the first that
// fails. It returns false if the core is too large to be told. explained says that another sentence names the operations
// that contradict each other: then the story is only shown if one that had not returned must have happened.
//
// It tries all orders of the core. In a minimal core, every other operation happens before the failing one, or
// contradicts it if it comes later. The order that is told is one of those that work. It says that operations come one
// after the other only if no other order works. A crashed or open operation must have happened if no order works
// without it.
//
// Complexity: exponential in the operations of the core that are open at a time, up to maxNodes.
func Tell(ctx context.Context, ops *models.Operations, fail jepsen.Event, core []models.Row, explained bool) (report.Story, bool) {
	if len(core) > maxOps {
		return report.Story{}, false
	}
	s := newStoryteller(ctx, ops, fail, core, 0)
	s.some = slices.ContainsFunc(ops.Of, func(op jepsen.Operation) bool {
		return ops.History.Invocation[op] < fail && !slices.Contains(s.ops.Of, op)
	})
	if s.failing < 0 || !s.explore() {
		return report.Story{}, false
	}
	return s.tell(explained)
}

// storyteller knows every configuration of a core. A set of rows is a number with a bit for each.
type storyteller struct {
	ctx     context.Context
	ops     *models.Operations // the core, cut at the failing completion
	failing int                // its row
	some    bool               // the core has only some of the operations
	left    uint64             // the rows that are left out
	needed  uint64             // the rows that have returned, except the failing one
	before  []uint64           // by row: the rows that had returned when it was invoked
	byEnd   []int              // rows by completion, the open ones last
	nodes   []storyNode
	numbers map[string]int32 // of the nodes, by rows and state
}

// storyNode is a configuration.
type storyNode struct {
	done  uint64
	state models.State
	from  int32 // the node from which it was first reached
	row   int   // by this row, -1 for the first node
	next  []int32
	leads bool // the failing operation is not in it, and all that is needed can happen
}

// newStoryteller returns one who knows nothing yet. left are rows of the core that do not happen at all.
func newStoryteller(ctx context.Context, ops *models.Operations, fail jepsen.Event, core []models.Row, left uint64) *storyteller {
	s := &storyteller{ctx: ctx, ops: ops.Alone(core, int32(fail)).Operations, left: left, numbers: map[string]int32{}}
	s.failing = slices.Index(s.ops.Res, int32(fail))
	return s
}

// explore finds all configurations, in order of how many operations have happened. It returns false if there are too
// many.
func (s *storyteller) explore() bool {
	n := s.ops.Len()
	s.before = make([]uint64, n)
	for row := range n {
		s.byEnd = append(s.byEnd, row)
		if s.ops.Res[row] != models.Open && row != s.failing && s.left&(1<<row) == 0 {
			s.needed |= 1 << row
		}
		for other := range n {
			if s.ops.Res[other] < s.ops.Inv[row] && s.left&(1<<other) == 0 {
				s.before[row] |= 1 << other
			}
		}
	}
	slices.SortStableFunc(s.byEnd, func(a, b int) int { return int(s.ops.Res[a]) - int(s.ops.Res[b]) })
	s.node(0, s.ops.Model.Init(), -1, -1)
	for at := 0; at < len(s.nodes); at++ {
		if len(s.nodes) > maxNodes || s.ctx.Err() != nil {
			return false
		}
		for _, row := range s.byEnd {
			done := s.nodes[at].done
			if !s.enabled(done, row) {
				continue
			}
			for _, state := range models.SomeStates(s.ops.Model, maxNodes, s.nodes[at].state, s.ops.Op(models.Row(row))) {
				next := s.node(done|1<<row, state, int32(at), row)
				s.nodes[at].next = append(s.nodes[at].next, next)
			}
		}
	}
	for at := range slices.Backward(s.nodes) {
		x := &s.nodes[at]
		x.leads = x.done&(1<<s.failing) == 0 && (s.needed&^x.done == 0 || slices.ContainsFunc(x.next, func(to int32) bool { return s.nodes[to].leads }))
	}
	return s.nodes[0].leads
}

// enabled says whether a row may happen next.
func (s *storyteller) enabled(done uint64, row int) bool {
	return (done|s.left)&(1<<row) == 0 && s.before[row]&^done == 0
}

func (s *storyteller) node(done uint64, state models.State, from int32, row int) int32 {
	key := stateKey(binary.LittleEndian.AppendUint64(nil, done), state)
	number, known := s.numbers[string(key)]
	if !known {
		number = int32(len(s.nodes))
		s.numbers[string(key)] = number
		s.nodes = append(s.nodes, storyNode{done: done, state: state, from: from, row: row})
	}
	return number
}

// stateKey appends a state as bytes.
func stateKey(key []byte, state models.State) []byte {
	for _, x := range state {
		key = binary.LittleEndian.AppendUint32(key, uint32(x))
	}
	return key
}

// tell says what explore has found.
func (s *storyteller) tell(explained bool) (report.Story, bool) {
	var story report.Story
	end, must, may := -1, ^uint64(0), uint64(0)
	var whys []string
	for at, x := range s.nodes {
		if !x.leads || s.needed&^x.done != 0 {
			continue
		}
		if end < 0 {
			end = at
		}
		must, may = must&x.done, may|x.done
		if why := s.why(x, s.failing); !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
	}
	if whys == nil {
		return story, false
	}
	open := (1<<s.ops.Len() - 1) &^ s.needed &^ (1 << s.failing)
	never := open &^ may
	must, may = must&open, may&open&^must
	order := s.order(end)
	if len(order) > 0 {
		story.Last = jepsen.Some(s.ops.Of[order[len(order)-1]])
	}
	story.Alone = len(order) == 0
	if failing := s.ops.Op(models.Row(s.failing)); !story.Alone {
		story.End = &report.Step{Operation: s.ops.Of[s.failing], Why: strings.TrimRight(s.ops.Model.Why(s.nodes[end].state, failing), " "),
			Because: s.why(s.nodes[end], s.failing)}
	}
	story.Shown = must != 0 || !explained && (s.ops.Len() > 2 || open != 0)
	say := func(sentence string) { story.Sentences = append(story.Sentences, sentence) }
	if len(order) > 0 {
		say(s.happened(order))
	}
	if must != 0 {
		say(s.musts(order, must))
	}
	var others []string
	if may != 0 {
		others = append(others, s.names(rowsOf(may))+s.wasOpen(may)+" may have happened or not")
	}
	if never != 0 {
		others = append(others, s.names(rowsOf(never))+s.wasOpen(never)+" cannot have happened by then")
	}
	if others != nil {
		say(strings.Join(others, "; "))
	}
	if story.Alone {
		say(s.name(s.failing) + " cannot happen: " + report.NoOrder + " (" + s.reasons(whys) + ")")
	} else {
		say(s.contradiction(len(order), whys))
	}
	return story, true
}

// order returns the rows that lead to a node.
func (s *storyteller) order(at int) []int {
	var rows []int
	for ; s.nodes[at].row >= 0; at = int(s.nodes[at].from) {
		rows = append(rows, s.nodes[at].row)
	}
	slices.Reverse(rows)
	return rows
}

// happened says in which order operations happened.
func (s *storyteller) happened(order []int) string {
	of := ""
	if s.some {
		of = "of the operations that matter, "
	}
	return of + s.first(order)
}

func (s *storyteller) first(order []int) string {
	if len(order) == 1 {
		return s.name(order[0]) + " happened first"
	}
	inOrder := true
	for i := range order[1:] {
		inOrder = inOrder && s.forced(order[i], order[i+1])
	}
	switch {
	case !inOrder:
		if last := order[len(order)-1]; len(order) > maxListed {
			return s.others(order) + ", the last of them " + s.name(last) + ", happened first, in this order or another"
		}
		return s.names(order) + " happened first, in this order or another"
	case len(order) <= maxListed:
		said := s.name(order[0]) + " happened first"
		for _, row := range order[1:] {
			said += ", then " + s.name(row)
		}
		return said
	default:
		last := len(order) - 1
		return fmt.Sprintf("%s happened first, then %s, and then %s", s.name(order[0]), s.others(order[1:last]), s.name(order[last]))
	}
}

// forced says whether one row comes before another in all orders that work.
func (s *storyteller) forced(first, second int) bool {
	for _, x := range s.nodes {
		if x.leads && x.done&(1<<second) != 0 && x.done&(1<<first) == 0 {
			return false
		}
	}
	return true
}

// others counts rows, with the range of their indices.
func (s *storyteller) others(rows []int) string {
	h := s.ops.History
	from, to := int64(0), int64(0)
	for i, row := range rows {
		index := h.LastIndex(s.ops.Of[row])
		if i == 0 {
			from, to = index, index
		}
		from, to = min(from, index), max(to, index)
	}
	return fmt.Sprintf("%d operations (index %d to %d)", len(rows), from, to)
}

// musts says which open operations must have happened, and what else could not have happened.
func (s *storyteller) musts(order []int, must uint64) string {
	row := rowsOf(must)[0]
	said := s.names(rowsOf(must)) + s.wasOpen(must) + " must have happened"
	if bits.OnesCount64(must) > 1 {
		return said
	}
	state := s.ops.Model.Init()
	for _, other := range order {
		if other == row {
			continue
		}
		op := s.ops.Op(models.Row(other))
		next := models.SomeStates(s.ops.Model, 1, state, op)
		if len(next) == 0 {
			if s.happensWithout(other, row) {
				return said
			}
			return said + ", or else " + s.name(other) + " could not have: " + s.shorten(models.Because(s.ops.Model, state, op))
		}
		state = next[0]
	}
	return said
}

// happensWithout says whether a row happens before another and the failing one, in any order.
func (s *storyteller) happensWithout(row, other int) bool {
	return slices.ContainsFunc(s.nodes, func(x storyNode) bool { return x.done&(1<<row) != 0 && x.done&(1<<other|1<<s.failing) == 0 })
}

// wasOpen says why it is open whether rows happened.
func (s *storyteller) wasOpen(rows uint64) string {
	h, crashed, all := s.ops.History, 0, rowsOf(rows)
	for _, row := range all {
		if h.Status[s.ops.Of[row]] == jepsen.Crashed {
			crashed++
		}
	}
	switch {
	case crashed == len(all):
		return ", which crashed,"
	case crashed == 0:
		return ", which was still open,"
	}
	return ", which had crashed or not returned,"
}

// contradiction says why the failing operation cannot happen.
func (s *storyteller) contradiction(before int, whys []string) string {
	name := s.name(s.failing)
	if early := s.early(); early >= 0 {
		x := s.nodes[early]
		for _, row := range s.byEnd {
			if s.needed&(1<<row) != 0 && s.enabled(x.done, row) {
				why := s.reasons(s.whysAfter(row))
				if s.needed&^s.before[s.failing] == 1<<row { // it is before this one, or after all
					return fmt.Sprintf("if %s came before %s, then that could not happen: %s; after it, it cannot happen itself: %s", name, s.name(row), why, s.reasons(whys))
				}
				return fmt.Sprintf("if %s came earlier, not all others could happen, such as %s: %s; at the end, it cannot happen itself: %s", name, s.name(row), why, s.reasons(whys))
			}
		}
	}
	switch {
	case s.needed&^s.before[s.failing] == 0 && before == bits.OnesCount64(s.needed):
		began := "began after that had returned"
		if before == 2 {
			began = "began after both had returned"
		} else if before > 2 {
			began = "began after all of these had returned"
		}
		return name + " " + began + ", and it cannot happen: " + s.reasons(whys)
	}
	return "then " + name + " cannot happen: " + s.reasons(whys)
}

// whysAfter returns why a row cannot happen once the failing operation has, in every state in which it could be next.
func (s *storyteller) whysAfter(row int) (whys []string) {
	for _, x := range s.nodes {
		if x.done&(1<<s.failing) == 0 || !s.enabled(x.done, row) || len(models.SomeStates(s.ops.Model, 1, x.state, s.ops.Op(models.Row(row)))) > 0 {
			continue
		}
		if why := s.why(x, row); !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
	}
	return whys
}

// early returns the node in which most has happened after the failing operation, or -1 if that can never happen.
func (s *storyteller) early() int {
	best, most := -1, -1
	for at, x := range s.nodes {
		if n := bits.OnesCount64(x.done & s.needed); x.done&(1<<s.failing) != 0 && n > most {
			best, most = at, n
		}
	}
	return best
}

func (s *storyteller) why(x storyNode, row int) string {
	return models.Because(s.ops.Model, x.state, s.ops.Op(models.Row(row)))
}

// reasons lists reasons that hold in different states.
func (s *storyteller) reasons(whys []string) string {
	shown := whys[:min(len(whys), maxWhys)]
	var all []string
	for _, why := range shown {
		all = append(all, s.shorten(why))
	}
	said := strings.Join(all, ", or ")
	if more := len(whys) - len(shown); more > 0 {
		said += ", or the like from " + text.Count(more, "other state")
	}
	return said
}

func (s *storyteller) shorten(why string) string { return text.Shorten(text.Line(why), maxWhy) }

func (s *storyteller) name(row int) string { return text.Line(s.ops.History.Name(s.ops.Of[row])) }

// names lists rows.
func (s *storyteller) names(rows []int) string {
	var all []string
	for i, row := range rows {
		if i == maxListed-1 && len(rows) > maxListed {
			all = append(all, s.others(rows[i:]))
			break
		}
		all = append(all, s.name(row))
	}
	if last := len(all) - 1; last > 0 {
		return strings.Join(all[:last], ", ") + " and " + all[last]
	}
	return all[0]
}

// rowsOf returns the rows of a set.
func rowsOf(set uint64) (rows []int) {
	for ; set != 0; set &= set - 1 {
		rows = append(rows, bits.TrailingZeros64(set))
	}
	return rows
}
