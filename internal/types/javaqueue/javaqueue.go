package javaqueue

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/types/set"
	"clew/jepsen"
	"clew/models"
)

// Kinds of java-queue, those of a FIFOShape first: a history with only these is a queue's
// history. A is the element, an index into lists or texts, or the answer of size. B is the
// answer of operations that answer true or false. For javaNothing, B is the kind that found
// the queue empty.
const (
	javaOffer   = models.Enqueue
	javaPoll    = models.Dequeue
	javaPollAny = models.DequeueAny // crashed
	javaNothing = models.DequeueEmpty
	javaPeek    = models.Peek
	javaSize    = models.Size
)

const (
	javaRefused models.Kind = iota + models.Size + 1 // offer that answered false
	javaIsEmpty                                      // answered false
	javaClear
	javaContains
	javaRemove
	javaAddAll
	javaContainsAll
	javaRemoveAll
	javaRetainAll
	javaToArray
	javaToString
)

// Answers of the operations that answer true or false.
const (
	answersAny   int32 = -1 // crashed
	answersFalse int32 = 0
	answersTrue  int32 = 1
)

// javaFs names the kinds that an invocation can be.
var Fs = map[models.Kind]string{
	javaOffer: "offer", javaPoll: "poll", javaPeek: "peek", javaSize: "size",
	javaIsEmpty: "isEmpty", javaClear: "clear", javaContains: "contains", javaRemove: "remove", javaAddAll: "addAll", javaContainsAll: "containsAll",
	javaRemoveAll: "removeAll", javaRetainAll: "retainAll", javaToArray: "toArray", javaToString: "toString",
}

// javaQueue is java.util.Queue as an unbounded queue such as ConcurrentLinkedQueue
// implements it, with every method atomic. The value of an invocation is the method's
// argument, and the value of a completion is what the method returned:
//
//	:offer v -> true          :poll -> v, nil if it was empty      :peek -> the same
//	:size -> n                :isEmpty -> true or false            :clear -> anything
//	:contains v -> ..         :remove v -> .. (the first one)      :addAll [v ..] -> ..
//	:containsAll [v ..] -> .. :removeAll [v ..] -> ..              :retainAll [v ..] -> ..
//	:toArray -> [v ..]        :toString -> "[v, w]"
//
// Here .. stands for true or false; for addAll, removeAll and retainAll it says whether the
// queue changed. An operation that crashed may take effect, with any answer. The queue does
// not hold nil. A state holds the elements, the oldest first.
type javaQueue struct {
	home.Base
	kinds  map[edn.ID]models.Kind
	lists  [][]int32
	texts  []string // what toString returned
	beyond bool     // some operation is not one of a queue with offer, poll, peek and size
	sized  bool     // some operation is a size

	odd edn.ID // an element that Java prints in an unknown way, or Nil
}

var javaQueueDefinition = models.Definition{
	Name: "java-queue",
	Fs: ":offer v, :poll, :peek, :size, :isEmpty, :clear, :contains v, :remove v, " +
		":addAll [v ..], :containsAll, :removeAll, :retainAll, :toArray, :toString",
	NilOutputs: []string{"poll", "peek"},
	About:      "java.util.Queue, first in, first out",
	Default:    "[]",
	Record:     "clew.model.JavaQueue",
	Verbs:      map[string]string{":offer": "offered", ":poll": "polled", ":peek": "peeked at"},
	New:        newJavaQueue,
}

func newJavaQueue(b *models.Binding) (models.Reader, error) {
	m := &javaQueue{Base: home.NewBase(b), kinds: map[edn.ID]models.Kind{}, odd: edn.Nil}
	m.Offered = models.Traits{
		Shape: m.shape,
		Because: func(s models.State, _ models.Op) string {
			if len(s) == 0 {
				return "the queue is empty"
			}
			return "the queue holds " + m.V.Text(m.Vector(s))
		},
		Finish:    m.finish,
		Opening:   m.opening,
		Run:       m.run,
		Levels:    &models.Levels{Start: m.start, Moves: m.moves, Shows: m.shows, NotNegative: true, Whole: size},
		Anomaly:   m.anomaly,
		Hard:      m.hard,
		Droppable: &models.Droppable{Lasting: func() []int32 { return m.Initial }, Touches: m.touches},
	}
	for kind, f := range Fs {
		m.kinds[m.V.InternKeyword(f)] = kind
	}
	if b.InitID == nil {
		return m, nil
	}
	if _, ok := m.Sequence(*b.InitID); !ok {
		return nil, home.BadInit(b, "a vector of its elements such as [1 2]")
	}
	var err error
	if m.Initial, err = m.list(*b.InitID, true); err != nil {
		return nil, models.ParamErrorf("java-queue's %s: %v", models.ParamInit, err)
	}
	return m, nil
}

func (m *javaQueue) Read(o models.Operation) (models.Op, bool, error) {
	kind, known := m.kinds[o.FID]
	if !known {
		return models.Op{}, false, models.ErrUnknownF
	}
	op := models.Op{Kind: kind, B: answersAny}
	if err := m.argument(&op, o.GivenID); err != nil {
		return op, false, err
	}
	if o.Status != jepsen.Crashed {
		if err := m.answer(&op, o.ValueID); err != nil {
			return op, false, err
		}
	} else if kind == javaPoll {
		op.Kind = javaPollAny
	}
	kept := o.Status != jepsen.Crashed || m.Mutates(op)
	m.beyond = m.beyond || kept && op.Kind >= javaRefused
	m.sized = m.sized || kept && op.Kind == javaSize
	return op, kept, nil
}

// shape returns a queue's shape while the operations are only those of a queue.
func (m *javaQueue) shape() models.Shape {
	if m.beyond {
		return nil
	}
	return models.FIFOShape{Init: m.Initial, Sizes: m.sized}
}

// hard names the operations that only a search decides.
func (m *javaQueue) hard() models.Hard {
	h := models.Hard{Once: "use each value only once", Change: []string{"use more queues with fewer operations each"}}
	switch {
	case m.beyond:
		h.Why = "operations other than :offer, :poll, :peek and :size, which only a search decides"
	case m.sized:
		h.Why = ":size, which only a search decides"
	}
	if h.Why != "" {
		h.Change[0] = "check :offer, :poll and :peek in a test of their own, with few of the other operations in another"
	}
	return h
}

// argument reads the method's argument.
func (m *javaQueue) argument(op *models.Op, given edn.ID) (err error) {
	switch op.Kind {
	case javaOffer, javaContains, javaRemove:
		op.A, err = m.element(given, op.Kind == javaOffer)
	case javaAddAll, javaContainsAll, javaRemoveAll, javaRetainAll:
		if k := m.V.Kind(given); !set.IsCollection(k) {
			return fmt.Errorf("expected [v ..], a collection of elements, in the invocation, found %s", m.V.Text(given))
		}
		var list []int32
		list, err = m.list(given, op.Kind == javaAddAll)
		op.A = m.newList(list)
	}
	return err
}

// element returns the class of an element. Only a value that is added has to be an element.
func (m *javaQueue) element(id edn.ID, added bool) (int32, error) {
	if added {
		switch m.V.Kind(id) {
		case edn.KindNil:
			return 0, errors.New("expected an element, found nil, which a java.util.Queue does not hold")
		case edn.KindInt:
			if _, fits := m.V.Int(id); !fits {
				m.odd = id
			}
		case edn.KindBool, edn.KindString, edn.KindKeyword, edn.KindSymbol:
		default:
			m.odd = id
		}
	}
	return m.Class(id), nil
}

func (m *javaQueue) list(id edn.ID, added bool) (list []int32, err error) {
	for _, item := range m.V.Items(id) {
		x, err := m.element(item, added)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

func (m *javaQueue) newList(list []int32) int32 {
	m.lists = append(m.lists, list)
	return int32(len(m.lists) - 1)
}

// answer reads what the method returned.
func (m *javaQueue) answer(op *models.Op, value edn.ID) error {
	switch op.Kind {
	case javaPoll, javaPeek:
		if op.A = m.Class(value); value == edn.Nil {
			op.Kind, op.B = javaNothing, int32(op.Kind)
		}
		return nil
	case javaClear:
		return nil
	case javaSize:
		n, ok := m.V.Int(value)
		if !ok || n != int64(int32(n)) {
			return fmt.Errorf("expected a number of elements, found %s", m.V.Text(value))
		}
		op.A = int32(n)
		return nil
	case javaToArray:
		if _, ok := m.Sequence(value); !ok {
			return fmt.Errorf("expected [v ..], the elements in order, found %s", m.V.Text(value))
		}
		list, err := m.list(value, false)
		op.A = m.newList(list)
		return err
	case javaToString:
		if m.V.Kind(value) != edn.KindString {
			return fmt.Errorf(`expected a string such as "[1, 2]", found %s`, m.V.Text(value))
		}
		m.texts = append(m.texts, m.V.Str(value))
		op.A = int32(len(m.texts) - 1)
		return nil
	}
	switch value {
	case edn.True:
		op.B = answersTrue
	case edn.False:
		op.B = answersFalse
	default:
		return fmt.Errorf("expected true or false, found %s", m.V.Text(value))
	}
	switch {
	case op.Kind == javaIsEmpty && value == edn.True:
		op.Kind, op.A, op.B = javaNothing, int32(edn.Nil), int32(javaIsEmpty)
	case op.Kind == javaOffer && value == edn.False:
		op.Kind = javaRefused
	}
	return nil
}

// finish refuses toString if some element prints in an unknown way: equal elements such as
// [1] and (1) print differently.
func (m *javaQueue) finish(c *models.Columns) (int32, error) {
	if i := slices.Index(c.Kind, javaToString); i >= 0 && m.odd != edn.Nil {
		return int32(i), fmt.Errorf("expected elements that are integers, strings, keywords, symbols or booleans, found %s among them", m.V.Text(m.odd))
	}
	return 0, nil
}

func (m *javaQueue) Mutates(op models.Op) bool {
	switch op.Kind {
	case javaOffer, javaPoll, javaPollAny, javaClear:
		return true
	case javaRemove, javaAddAll, javaRemoveAll, javaRetainAll:
		return op.B != answersFalse
	}
	return false
}

func (m *javaQueue) Step(dst []models.State, s models.State, op models.Op) []models.State {
	next, possible := s, false
	switch op.Kind {
	case javaOffer:
		next, possible = append(slices.Clone(s), op.A), true
	case javaPoll:
		if possible = len(s) > 0 && s[0] == op.A; possible {
			next = s[1:]
		}
	case javaPollAny:
		if possible = true; len(s) > 0 {
			next = s[1:]
		}
	case javaPeek:
		possible = len(s) > 0 && s[0] == op.A
	case javaNothing:
		possible = len(s) == 0
	case javaSize:
		possible = int(op.A) == len(s)
	case javaIsEmpty:
		possible = len(s) > 0
	case javaClear:
		next, possible = nil, true
	case javaContains:
		possible = says(op, slices.Contains(s, op.A))
	case javaRemove:
		i := slices.Index(s, op.A)
		if possible = says(op, i >= 0); i >= 0 {
			next = slices.Delete(slices.Clone(s), i, i+1)
		}
	case javaAddAll:
		next, possible = slices.Concat(s, m.lists[op.A]), says(op, len(m.lists[op.A]) > 0)
	case javaContainsAll:
		possible = says(op, !slices.ContainsFunc(m.lists[op.A], func(x int32) bool { return !slices.Contains(s, x) }))
	case javaRemoveAll, javaRetainAll:
		next = slices.DeleteFunc(slices.Clone(s), func(x int32) bool { return slices.Contains(m.lists[op.A], x) == (op.Kind == javaRemoveAll) })
		possible = says(op, len(next) < len(s))
	case javaToArray:
		possible = slices.Equal(s, m.lists[op.A])
	case javaToString:
		possible = m.prints(s, m.texts[op.A])
	}
	if possible {
		dst = append(dst, next)
	}
	return dst
}

// says reports whether the operation may have returned an answer.
func says(op models.Op, answer bool) bool {
	return op.B == answersAny || (op.B == answersTrue) == answer
}

// prints says whether java.util.AbstractCollection.toString turns the elements into this
// text.
func (m *javaQueue) prints(s models.State, text string) bool {
	rest, ok := strings.CutPrefix(text, "[")
	for i, x := range s {
		if i > 0 && ok {
			rest, ok = strings.CutPrefix(rest, ", ")
		}
		if ok {
			rest, ok = strings.CutPrefix(rest, m.text(edn.ID(x)))
		}
	}
	return ok && rest == "]"
}

// text returns an element as its own toString prints it.
func (m *javaQueue) text(x edn.ID) string {
	if n, fits := m.V.Int(x); fits {
		return strconv.FormatInt(n, 10) // however it is spelled
	}
	return home.Text(m.V, x)
}

func (m *javaQueue) touches(op models.Op) (values []int32, all bool) {
	switch op.Kind {
	case javaOffer, javaPoll, javaPeek, javaContains, javaRemove:
		return []int32{op.A}, false
	case javaAddAll, javaContainsAll, javaRemoveAll:
		return m.lists[op.A], false
	case javaSize, javaIsEmpty, javaRetainAll, javaToArray, javaToString:
		return nil, true
	}
	return nil, false
}

func (m *javaQueue) Why(s models.State, op models.Op) string {
	answer, kind := "nil", op.Kind
	switch op.Kind {
	case javaPoll, javaPeek:
		answer = m.Text(op.A)
	case javaSize:
		answer = strconv.Itoa(int(op.A))
	case javaToArray:
		answer = m.V.Text(m.Vector(m.lists[op.A]))
	case javaToString:
		answer = strconv.Quote(m.texts[op.A])
	case javaNothing:
		if kind = models.Kind(op.B); kind == javaIsEmpty {
			answer = "true"
		}
	case javaRefused:
		kind, answer = javaOffer, "false"
	default:
		answer = strconv.FormatBool(op.B == answersTrue)
	}
	return fmt.Sprintf("%s can't return %s from %s", Fs[kind], answer, m.V.Text(m.Vector(s)))
}

func (m *javaQueue) Record(s models.State) edn.Value {
	return m.Print("items", m.Vector(s))
}

func (m *javaQueue) opening() models.Opening {
	return &home.Taken{
		Callers: home.Callers{},
		Adds: func(op models.Op) []int32 {
			if op.Kind == javaAddAll {
				return m.lists[op.A]
			}
			return nil
		},
		Start: m.Vector,
	}
}
