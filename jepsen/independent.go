package jepsen

import (
	"cmp"
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/option"
)

// Keyed is a history of independent keys, whose values are [key value] tuples, as
// jepsen.independent writes them. It has one history per key. For a :cas, [key old new] is
// a tuple, too.
type Keyed struct {
	// Unwrapped is the whole history with every tuple's value in its place.
	Unwrapped *History
	// Keys are the keys, numbers first and in order.
	Keys []edn.ID

	of       []int32     // by operation: its row of Keys, None, or notChosen
	ops      []Operation // the operations with a key, key by key
	begin    []int32     // by row of Keys: where its operations begin in ops; and the end of all
	everyKey []Operation // the operations without a key, which every key shares
	rows     []int32     // by row of Keys: its row among the history's keys; nil if Keys has all of those
}

// KeyHistory is the history of one key. Operations without a key, where they are allowed,
// belong to every key.
type KeyHistory struct {
	*History
	WholeOp []Operation // by operation: the operation of the whole history
}

// maxCopies bounds the copies of operations without a key; every key has all of them.
const maxCopies = 50_000_000

// ErrNoTuples is the error of Independent for a history without any tuple: checking nothing
// must not pass for a verdict.
var ErrNoTuples error = noTuples{}

type noTuples struct{}

func (noTuples) Error() string {
	return option.Independent.String() + ", but no op has a value of the form [key value]"
}

// Independent splits a history by the keys of its values. A tuple is a vector of two, which
// is how Jepsen prints it. An operation belongs to the key in its invocation or completion.
// It is an error if there is no tuple at all, or if the two name different keys. It is also
// one if the value that counts for an operation is not a tuple. Linear time and space.
func (h *History) Independent() (*Keyed, error) { return h.keyed(false) }

// IndependentOrShared is Independent, except that an operation without a key belongs to
// every key, as in jepsen.independent. It takes linear time and space, plus the copies of
// such operations.
func (h *History) IndependentOrShared() (*Keyed, error) { return h.keyed(true) }

func (h *History) keyed(share bool) (*Keyed, error) {
	if h == nil || h.Values == nil {
		return nil, ErrNoHistory
	}
	whole := *h
	whole.Value = slices.Clone(h.Value)
	k := &Keyed{Unwrapped: &whole, of: make([]int32, h.Operations())}
	rows := make([]int32, h.Values.Len()) // by class of a key: 1 + its row, 0 if it has none
	row := func(key edn.ID) int32 {
		r := &rows[h.Values.Same(key)]
		if *r == 0 {
			k.Keys = append(k.Keys, key)
			*r = int32(len(k.Keys))
		}
		return *r - 1
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
		return nil, h.Errorf(lacking, "%s: expected [key value] for the value of %s (index %d), found %s; with %s, an operation without a key belongs to every key",
			option.Independent, h.Values.Text(h.F[lacking]), h.Index(lacking), h.Values.Text(h.Value[lacking]), option.Keyless)
	}
	k.sort()
	k.gather(share)
	if n := len(k.everyKey); n*len(k.Keys) > maxCopies {
		return nil, fmt.Errorf("%s: %d operations have no [key value] and count for each of %d keys; clew takes %d such copies",
			option.Independent, n, len(k.Keys), maxCopies)
	}
	return k, nil
}

// lacksKey returns the event whose value counts for an operation if that value is not a
// tuple, else None. Failed operations do not count.
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

// tuple returns the key and the value of an event if its value is a tuple. A :cas may also
// have [key old new], as some clients write it, for [key [old new]].
func (h *History) tuple(event Event) (key, value edn.ID, ok bool) {
	id := h.Value[event]
	if h.Values.Kind(id) != edn.KindVector {
		return 0, 0, false
	}
	switch items := h.Values.Items(id); {
	case len(items) == 2:
		return items[0], items[1], true
	case len(items) == 3 && h.F[event] == h.Values.InternKeyword("cas"):
		return items[0], h.Values.InternVector([]edn.ID{items[1], items[2]}), true
	}
	return 0, 0, false
}

// AllTuples says whether every value that counts is a tuple, as if there were independent
// keys. The value of a :cas has to be a key and [old new], or [key old new].
func (h *History) AllTuples() bool {
	cas := h.Values.InternKeyword("cas")
	tuples := 0
	for op, inv := range h.Invocation {
		value := h.OpValue(Operation(op))
		if value == edn.Nil || h.Status[op] == Failed {
			continue
		}
		if items := h.Values.Items(value); h.F[inv] == cas && len(items) == 3 && h.Values.Kind(value) == edn.KindVector {
			tuples++ // [key old new]
			continue
		}
		if !isPair(h.Values, value) || h.F[inv] == cas && !isPair(h.Values, h.Values.Items(value)[1]) {
			return false
		}
		tuples++
	}
	return tuples > 1
}

// MayHaveKeys reports whether every operation is called with a value [key value], as jepsen.independent records all of them,
// even a read as [key nil], and succeeds with the same key. It takes linear time.
func (h *History) MayHaveKeys() bool {
	cas := h.Values.InternKeyword("cas")
	for op, inv := range h.Invocation {
		key, value, is := h.tuple(inv)
		if h.Status[op] == Succeeded {
			if ended, _, too := h.tuple(h.Completion[op]); too && h.Values.Same(ended) != h.Values.Same(key) {
				return false
			}
		}
		if !is || h.F[inv] == cas && (h.Values.Kind(value) != edn.KindVector && h.Values.Kind(value) != edn.KindList || len(h.Values.Items(value)) != 2) {
			return false
		}
	}
	return len(h.Invocation) > 0
}

func isPair(v *edn.Values, id edn.ID) bool {
	return v.Kind(id) == edn.KindVector && len(v.Items(id)) == 2
}

// sort puts the keys in order: numbers by size, then everything else by text.
func (k *Keyed) sort() {
	v := k.Unwrapped.Values
	type sortable struct {
		n     int64
		text  string // of keys that are not numbers
		isInt bool
		row   int32 // so far
	}
	keys := make([]sortable, len(k.Keys))
	for i, key := range k.Keys {
		keys[i].row = int32(i)
		if keys[i].n, keys[i].isInt = v.Int(key); !keys[i].isInt {
			keys[i].text = v.Text(key)
		}
	}
	slices.SortFunc(keys, func(a, b sortable) int {
		switch {
		case a.isInt && b.isInt:
			return cmp.Compare(a.n, b.n)
		case a.isInt:
			return -1
		case b.isInt:
			return 1
		}
		return cmp.Compare(a.text, b.text)
	})
	before := slices.Clone(k.Keys)
	now := make([]int32, len(k.Keys))
	for i, key := range keys {
		k.Keys[i], now[key.row] = before[key.row], int32(i)
	}
	for op, r := range k.of {
		if r != None {
			k.of[op] = now[r]
		}
	}
}

// gather puts the operations of each key together. An operation without a key is shared, or
// it failed.
func (k *Keyed) gather(share bool) {
	k.begin = make([]int32, len(k.Keys)+1)
	for _, r := range k.of {
		if r != None {
			k.begin[r+1]++
		}
	}
	for r := range k.Keys {
		k.begin[r+1] += k.begin[r]
	}
	k.ops = make([]Operation, k.begin[len(k.Keys)])
	next := slices.Clone(k.begin)
	for op, r := range k.of {
		switch {
		case r != None:
			k.ops[next[r]] = Operation(op)
			next[r]++
		case share:
			k.everyKey = append(k.everyKey, Operation(op))
		}
	}
}

func (k *Keyed) own(row int) []Operation {
	end := k.begin[row+1]
	return k.ops[k.begin[row]:end:end]
}

// notChosen stands for the row of a key that was not chosen.
const notChosen = -2

// Only returns the chosen keys in the same order; there may be none. They are part of what
// several machines decide together. Operations of other keys do not belong to any of them.
func (k *Keyed) Only(chosen func(key edn.Value) bool) *Keyed {
	only := &Keyed{Unwrapped: k.Unwrapped, everyKey: k.everyKey, begin: []int32{0}, rows: []int32{}, of: make([]int32, len(k.of))}
	for op, row := range k.of {
		if only.of[op] = None; row != None {
			only.of[op] = notChosen
		}
	}
	for row, key := range k.Keys {
		if !chosen(k.Unwrapped.Values.Value(key)) {
			continue
		}
		for _, op := range k.own(row) {
			only.of[op] = int32(len(only.Keys))
		}
		only.Keys, only.rows = append(only.Keys, key), append(only.rows, int32(k.Row(row)))
		only.ops = append(only.ops, k.own(row)...)
		only.begin = append(only.begin, int32(len(only.ops)))
	}
	return only
}

// Row returns the row of a key among all keys of the history.
func (k *Keyed) Row(row int) int {
	if k.rows == nil {
		return row
	}
	return int(k.rows[row])
}

// Shared returns the number of operations without a key.
func (k *Keyed) Shared() int { return len(k.everyKey) }

// Positions returns, for each key given by its row of Keys, the positions of its operations
// in a list. Entries that are not operations of the history have no position.
func (k *Keyed) Positions(list []Operation) func(row int) []int {
	of := make([][]int, len(k.Keys))
	var shared []int
	for at, op := range list {
		switch {
		case op < 0 || int(op) >= len(k.of) || k.of[op] == notChosen:
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

// History returns the history of one key, given by its row of Keys. Skipped events belong
// to every key, so it counts them like the whole history.
func (k *Keyed) History(row int) *KeyHistory { return k.Histories([]int{row})[0] }

// Histories is History of several keys, for callers that go through many. Their columns are
// parts of the same arrays, so holding on to one of them holds all of them.
func (k *Keyed) Histories(rows []int) []*KeyHistory {
	n := 0
	for _, row := range rows {
		n += len(k.own(row)) + len(k.everyKey)
	}
	all := History{
		Type: make([]Type, 0, 2*n), Process: make([]int32, 0, 2*n), F: make([]edn.ID, 0, 2*n), Value: make([]edn.ID, 0, 2*n),
		OpOf: make([]Operation, 0, 2*n), wholeEvent: make([]Event, 0, 2*n),
		Invocation: make([]Event, 0, n), Completion: make([]Event, 0, n), Status: make([]Status, 0, n),
	}
	list, histories := make([]*KeyHistory, len(rows)), make([]History, len(rows))
	for i, row := range rows {
		ops := k.own(row)
		if len(k.everyKey) > 0 {
			ops = slices.Concat(ops, k.everyKey)
			slices.Sort(ops)
		}
		k.copyOperations(&histories[i], &all, ops)
		list[i] = &KeyHistory{&histories[i], ops}
	}
	return list
}

// copyOperations makes h the history of some operations of the whole. ops ascend. Its
// columns are the next parts of the columns of all.
func (k *Keyed) copyOperations(h, all *History, ops []Operation) {
	whole := k.Unwrapped
	from, fromOp := len(all.Type), len(all.Status)
	for _, op := range ops {
		all.wholeEvent = append(all.wholeEvent, whole.Invocation[op])
		if c := whole.Completion[op]; c != None {
			all.wholeEvent = append(all.wholeEvent, c)
		}
	}
	events := slices.Clip(all.wholeEvent[from:])
	slices.Sort(events)
	for i, e := range events {
		op := whole.OpOf[e]
		at, _ := slices.BinarySearch(ops, op) // both are numbered in order of invocation
		if whole.Type[e] == Invoke {
			all.Invocation = append(all.Invocation, Event(i))
			all.Completion = append(all.Completion, None)
			all.Status = append(all.Status, whole.Status[op])
		} else {
			all.Completion[fromOp+at] = Event(i)
		}
		all.Type = append(all.Type, whole.Type[e])
		all.Process = append(all.Process, whole.Process[e])
		all.F = append(all.F, whole.F[e])
		all.Value = append(all.Value, whole.Value[e])
		all.OpOf = append(all.OpOf, Operation(at))
	}
	*h = History{
		File: whole.File, Values: whole.Values, Processes: whole.Processes, built: whole.built,
		Events: len(events) + whole.Skipped, Skipped: whole.Skipped, whole: whole, wholeEvent: events,
		Type: slices.Clip(all.Type[from:]), Process: slices.Clip(all.Process[from:]), F: slices.Clip(all.F[from:]),
		Value: slices.Clip(all.Value[from:]), OpOf: slices.Clip(all.OpOf[from:]),
		Invocation: slices.Clip(all.Invocation[fromOp:]), Completion: slices.Clip(all.Completion[fromOp:]), Status: slices.Clip(all.Status[fromOp:]),
	}
}
