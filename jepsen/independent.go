package jepsen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"clew/edn"
)

// Keyed is a history of independent keys, whose values are [key value] tuples,
// as jepsen.independent writes them: one history per key.
type Keyed struct {
	// Unwrapped is the whole history with every tuple's value in its place.
	Unwrapped *History
	// Keys are the keys, numbers first and in order.
	Keys []edn.ID

	of       []int32       // by operation: its row of Keys, or None
	keyOps   [][]Operation // by row of Keys: its operations
	everyKey []Operation   // the operations without a key, which every key shares
}

// KeyHistory is the history of one key. Operations without a key, if there may be
// any, are those of every key.
type KeyHistory struct {
	*History
	WholeOp []Operation // by operation: the operation of the whole history
}

// maxCopies bounds the copies of operations without a key, all of which every
// key has.
const maxCopies = 50_000_000

// ErrNoTuples is the error of Independent for a history without any tuple:
// checking nothing must not pass for a verdict.
var ErrNoTuples = errors.New("independent: no op has a value of the form [key value]")

// Independent parts a history by the keys of its values. A tuple is a vector of
// two, which is how Jepsen prints it. An operation belongs to the key in its
// invocation or completion. It is an error if there is no tuple at all, if the two
// name different keys, or if the value that counts for an operation is no tuple.
// Linear time and space.
func (h *History) Independent() (*Keyed, error) { return h.keyed(false) }

// IndependentOrShared is Independent, but that an operation without a key belongs
// to every key, as jepsen.independent has it. Linear time and space, but for
// those.
func (h *History) IndependentOrShared() (*Keyed, error) { return h.keyed(true) }

func (h *History) keyed(share bool) (*Keyed, error) {
	if h == nil || h.Values == nil {
		return nil, ErrNoHistory
	}
	whole := *h
	whole.Value = slices.Clone(h.Value)
	k := &Keyed{Unwrapped: &whole, of: make([]int32, h.Operations())}
	rows := map[edn.ID]int32{}
	row := func(key edn.ID) int32 {
		r, seen := rows[h.Values.Same(key)]
		if !seen {
			r = int32(len(k.Keys))
			rows[h.Values.Same(key)] = r
			k.Keys = append(k.Keys, key)
		}
		return r
	}
	lacking := Event(None) // the first event that must have a tuple and has none
	for op := range k.of {
		inv, res := h.Invocation[op], h.Completion[op]
		key, value, begun := h.tuple(inv)
		if begun {
			whole.Value[inv] = value
		}
		k.of[op] = None
		if lacking == None && !share {
			lacking = h.lacksKey(Operation(op))
		}
		if res != None {
			ended, value, isTuple := h.tuple(res)
			switch {
			case isTuple && begun && h.Values.Same(ended) == h.Values.Same(key):
				whole.Value[res] = value
			case h.Status[op] != Succeeded: // the completion's value does not count
			case isTuple && begun:
				return nil, h.Errorf(res, "the op's key is %s (index %d), but its invocation's is %s (%s)",
					h.Values.Text(ended), h.Index(res), h.Values.Text(key), h.Where(inv))
			case isTuple:
				whole.Value[res], key, begun = value, ended, true
			}
		}
		if begun {
			k.of[op] = row(key)
		}
	}
	if len(k.Keys) == 0 {
		return nil, ErrNoTuples
	}
	if lacking != None {
		return nil, h.Errorf(lacking, "independent: expected [key value] for the value of %s (index %d), found %s; with keyless every, an operation without a key is one of every key",
			h.Values.Text(h.F[lacking]), h.Index(lacking), h.Values.Text(h.Value[lacking]))
	}
	k.sort(rows)
	k.keyOps = make([][]Operation, len(k.Keys))
	for op, r := range k.of {
		switch {
		case r == None && share:
			k.everyKey = append(k.everyKey, Operation(op))
		case r != None: // without a key it failed
			k.keyOps[r] = append(k.keyOps[r], Operation(op))
		}
	}
	if n := len(k.everyKey); n*len(k.Keys) > maxCopies {
		return nil, fmt.Errorf("independent: %d operations have no [key value] and count for each of %d keys; clew takes %d such copies",
			n, len(k.Keys), maxCopies)
	}
	return k, nil
}

// lacksKey is the event whose value counts for an operation if that is no tuple,
// else None. What failed counts for nothing.
func (h *History) lacksKey(op Operation) Event {
	event := h.Invocation[op]
	switch h.Status[op] {
	case Failed:
		return None
	case Succeeded:
		event = h.Completion[op]
	}
	if _, _, isTuple := h.tuple(event); isTuple {
		return None
	}
	return event
}

// tuple is the key and the value of an event, if its value is a tuple.
func (h *History) tuple(event Event) (key, value edn.ID, ok bool) {
	id := h.Value[event]
	if h.Values.Kind(id) != edn.KindVector {
		return 0, 0, false
	}
	items := h.Values.Items(id)
	if len(items) != 2 {
		return 0, 0, false
	}
	return items[0], items[1], true
}

// sort puts the keys in order: numbers by size, then everything else by text.
func (k *Keyed) sort(rows map[edn.ID]int32) {
	v := k.Unwrapped.Values
	slices.SortFunc(k.Keys, func(a, b edn.ID) int {
		m, isInt := v.Int(a)
		n, alsoInt := v.Int(b)
		switch {
		case isInt && alsoInt:
			return cmp.Compare(m, n)
		case isInt != alsoInt:
			return map[bool]int{true: -1, false: 1}[isInt]
		}
		return cmp.Compare(v.Text(a), v.Text(b))
	})
	now := make([]int32, len(k.Keys))
	for i, key := range k.Keys {
		now[rows[v.Same(key)]] = int32(i)
	}
	for op, r := range k.of {
		if r != None {
			k.of[op] = now[r]
		}
	}
}

// Shared is the number of operations without a key.
func (k *Keyed) Shared() int { return len(k.everyKey) }

// Positions says for each key, given by its row of Keys, at which positions of a
// list its operations stand. What is no operation of the history stands nowhere.
func (k *Keyed) Positions(list []Operation) func(row int) []int {
	of := make([][]int, len(k.Keys))
	var shared []int
	for at, op := range list {
		switch {
		case op < 0 || int(op) >= len(k.of):
		case k.of[op] == None:
			shared = append(shared, at)
		default:
			of[k.of[op]] = append(of[k.of[op]], at)
		}
	}
	return func(row int) []int {
		if len(shared) == 0 {
			return of[row]
		}
		positions := slices.Concat(of[row], shared)
		slices.Sort(positions)
		return positions
	}
}

// History is the history of one key, given by its row of Keys. Like the whole
// history it counts the skipped events, which belong to every key.
func (k *Keyed) History(row int) *KeyHistory {
	whole := k.Unwrapped
	ops := slices.Concat(k.keyOps[row], k.everyKey)
	slices.Sort(ops)
	events := make([]Event, 0, 2*len(ops))
	for _, op := range ops {
		events = append(events, whole.Invocation[op])
		if c := whole.Completion[op]; c != None {
			events = append(events, c)
		}
	}
	slices.Sort(events)
	h := &History{File: whole.File, Values: whole.Values, Processes: whole.Processes, built: whole.built,
		Events: len(events) + whole.Skipped, Skipped: whole.Skipped, whole: whole, wholeEvent: events}
	h.room(len(events), len(ops))
	for _, e := range events {
		ev, op := Event(len(h.Type)), whole.OpOf[e]
		at, _ := slices.BinarySearch(ops, op) // both are numbered in order of invocation
		if whole.Type[e] == Invoke {
			h.Invocation = append(h.Invocation, ev)
			h.Completion = append(h.Completion, None)
			h.Status = append(h.Status, whole.Status[op])
		} else {
			h.Completion[at] = ev
		}
		h.copyEvent(whole, e, Operation(at))
	}
	return &KeyHistory{h, ops}
}

// room makes room for so many events and operations.
func (h *History) room(events, operations int) {
	h.Type = make([]Type, 0, events)
	h.Process = make([]int32, 0, events)
	h.F = make([]edn.ID, 0, events)
	h.Value = make([]edn.ID, 0, events)
	h.OpOf = make([]Operation, 0, events)
	h.Invocation = make([]Event, 0, operations)
	h.Completion = make([]Event, 0, operations)
	h.Status = make([]Status, 0, operations)
}

// copyEvent appends an event of another history to the columns.
func (h *History) copyEvent(from *History, e Event, op Operation) {
	h.Type = append(h.Type, from.Type[e])
	h.Process = append(h.Process, from.Process[e])
	h.F = append(h.F, from.F[e])
	h.Value = append(h.Value, from.Value[e])
	h.OpOf = append(h.OpOf, op)
	place := from.places.at(e)
	h.setKey(h.places.n, from.Key(e))
	h.places.add(place.index, place.line, place.col)
}
