package isolation

import (
	"slices"

	"clew/jepsen"
	"clew/models"
)

// # The micro-operations behind evidence
//
// Decides: which micro-operations show that a step of a cycle holds, and which show another anomaly.
//
// Precondition: ReadLists made the Lists.
//
// Cost: linear in the micro-operations of the transactions that are concerned, and in the lists that they read.
//
// docs/certificate.md says what each of them shows. Reads are of transactions that returned, which keep all their
// micro-operations as steps. So the place of a read is that of its step.

// Micro is a micro-operation: an operation, and a place in its value.
type Micro struct {
	Op    jepsen.Operation
	Place int32
}

// Behind returns the two micro-operations behind a step, or ok false if it does not hold. Steps of Process and Time rest on
// whole operations.
func (l *Lists) Behind(s Step) (from, to Micro, ok bool) {
	returned := l.Res[s.From] != models.Open && l.Res[s.From] < l.Inv[s.To]
	switch s.Why {
	case Process, Time:
		return l.wholeOp(s.From), l.wholeOp(s.To), returned && (s.Why == Time || l.Process[s.From] == l.Process[s.To])
	case KeyTime:
		from, begins := l.concerns(s.From, s.Key)
		to, ends := l.concerns(s.To, s.Key)
		return from, to, begins && ends && returned
	case WR:
		to, ok = l.reader(s.To, s.Key, func(list []int32) bool {
			outside := l.outside(s.To, list)
			return outside > 0 && list[outside-1] == s.Value
		})
		return l.append(s.From, s.Key, s.Value), to, ok && l.owner[s.Value] == s.From
	case WW:
		before, ok := l.appendsBefore(s.From, s.Key, s.Value)
		return before, l.append(s.To, s.Key, s.Value), ok && l.owner[s.Value] == s.To
	}
	from, ok = l.reader(s.From, s.Key, func(list []int32) bool { return !slices.Contains(list, s.Value) })
	if s.Why == First {
		ok = ok && slices.ContainsFunc(l.steps(s.From), func(x models.ListStep) bool { return x.Append && x.Slot == s.Key })
	}
	return from, l.append(s.To, s.Key, s.Value), ok && l.owner[s.Value] == s.To
}

// Shown returns the micro-operations that show an anomaly, in the order of docs/certificate.md. It returns none for a LostUpdate,
// which follows from cycles.
func (l *Lists) Shown(a *Anomaly) []Micro {
	read := Micro{l.op(a.Txn), a.Step}
	switch {
	case a.Kind == LostUpdate:
		return nil
	case a.Kind == FutureRead:
		return []Micro{read, l.append(a.Txn, a.Key, a.Element)}
	case a.Kind == AbortedRead:
		return []Micro{read, l.appendOf(l.Failed[a.Failed], a.Key, a.Element)}
	case a.Kind == HalfRead:
		return []Micro{read, l.append(a.Other, a.Key, a.Element), l.append(a.Other, a.Key, l.lastAppended(a.Other, a.Key))}
	case a.Kind == DirtyUpdate:
		list := l.order[a.Key]
		at := slices.IndexFunc(list, func(e int32) bool { return l.owner[e] == failedOwner-a.Failed }) // the element follows, perhaps again
		return []Micro{l.longest(a.Key), l.appendOf(l.Failed[a.Failed], a.Key, list[at]), l.append(a.Txn, a.Key, a.Element)}
	case a.Kind == Incompatible && a.Within:
		return []Micro{l.longest(a.Key), l.append(a.Other, a.Key, l.misplaced(a)), l.append(a.Other, a.Key, a.Element)}
	case a.Kind == Incompatible && a.Element >= 0 && l.Shower[a.Key] >= 0:
		return []Micro{read, l.longest(a.Key)}
	}
	return []Micro{read}
}

func (l *Lists) op(txn int32) jepsen.Operation { return l.ops.Of[txn] }

func (l *Lists) wholeOp(txn int32) Micro { return Micro{l.op(txn), -1} }

// append returns the micro-operation of a transaction that appends an element.
func (l *Lists) append(txn, key, element int32) Micro { return l.appendOf(l.op(txn), key, element) }

func (l *Lists) appendOf(op jepsen.Operation, key, element int32) Micro {
	return Micro{op, l.shape.Appends(l.ops.History, op, key, element)}
}

// concerns returns a micro-operation of a transaction that concerns a key.
func (l *Lists) concerns(txn, key int32) (Micro, bool) {
	for i, s := range l.steps(txn) {
		switch {
		case s.Slot == key && s.Append:
			return l.append(txn, key, s.Value), true
		case s.Slot == key:
			return Micro{l.op(txn), int32(i)}, true
		}
	}
	return Micro{}, false
}

// reader returns the first micro-operation of a transaction that reads a list of a key such as that.
func (l *Lists) reader(txn, key int32, as func(list []int32) bool) (Micro, bool) {
	i := slices.IndexFunc(l.steps(txn), func(s models.ListStep) bool { return !s.Append && s.Slot == key && as(l.shape.List(s)) })
	return Micro{l.op(txn), int32(i)}, i >= 0 && l.Res[txn] != models.Open
}

// appendsBefore returns a micro-operation of a transaction that appends what is before an element in the order of versions.
func (l *Lists) appendsBefore(txn, key, element int32) (Micro, bool) {
	at := l.known(element, key)
	for _, s := range l.steps(txn) {
		if before := l.known(s.Value, key); s.Append && s.Slot == key && before > 0 && (at == 0 || before < at) {
			return l.append(txn, key, s.Value), true
		}
	}
	return Micro{}, false
}

// lastAppended returns what a transaction appends last to a key.
func (l *Lists) lastAppended(txn, key int32) int32 {
	last := int32(-1)
	for _, s := range l.steps(txn) {
		if s.Append && s.Slot == key {
			last = s.Value
		}
	}
	return last
}

// misplaced returns what a transaction appends before the element of an anomaly that is Within, and what is not before it in the order.
func (l *Lists) misplaced(a *Anomaly) int32 {
	for _, s := range l.steps(a.Other) {
		if !s.Append || s.Slot != a.Key {
			continue
		}
		if at := l.position[s.Value]; at == 0 || at > l.position[a.Element] {
			return s.Value
		}
	}
	return -1
}

// longest returns the read that shows the order of the versions of a key.
func (l *Lists) longest(key int32) Micro {
	read, _ := l.reader(l.Shower[key], key, func(list []int32) bool { return slices.Equal(list, l.order[key]) })
	return read
}
