package models

import (
	"clew/edn"
	"clew/jepsen"
)

// Shape is what a near-linear decision needs to know about a model besides the columns of
// its operations. It is the family of data types that the model belongs to, with its
// parameters. Package fastpath uses the shape and does not know any model by name.
//
// A model with a Shape promises that its kinds are those that the shape names.
type Shape interface{ shape() }

// ShapeOf returns a model's shape if it is of type S.
func ShapeOf[S Shape](m Model) (shape S, ok bool) {
	if of := m.Traits().Shape; of != nil {
		shape, ok = of().(S)
	}
	return shape, ok
}

// The shapes. The comment of each names the kinds of its operations.
type (
	// RegisterShape is one value: Read, Write, and also CAS if CAS is set. A FailedCAS fits
	// no near-linear decision.
	RegisterShape struct {
		Init int32 // the initial value class
		CAS  bool
	}

	// FIFOShape, LIFOShape and PriorityShape are containers of unique values: Enqueue,
	// Dequeue, DequeueAny, DequeueEmpty, Peek. B is the priority. A FIFOShape also has
	// Drain, whose A is a place in Drains, and DrainAny, and Size if Sizes is set. Sizes fit
	// no near-linear decision.
	FIFOShape struct {
		Init   []int32
		Drains [][]int32
		Sizes  bool
	}
	LIFOShape     struct{ Init []int32 }
	PriorityShape struct{ Init []int32 }

	// BagShape hands out its elements in any order. Its kinds are those of containers
	// without Peek.
	BagShape struct{ Init []int32 }

	// LookupSetShape is a set that is asked element by element: Insert to HasNot.
	LookupSetShape struct{ Init []int32 }

	// GrowSetShape is a set that only grows and is read as a whole: Add, ReadSet,
	// ReadNoSet. The A of a ReadSet is a place in Sets.
	GrowSetShape struct {
		Init []int32
		Sets []State
	}

	// SemaphoreShape is permits without owners: Acquire and Release of B permits. Held of
	// them are held initially. A mutex is one permit, and its B is 0.
	SemaphoreShape struct {
		Held, Permits int32
		Counted       bool // B is how many permits; otherwise it says nothing
	}

	// OwnerLockShape is a lock or semaphore that only the owner that holds it gives back:
	// Acquire and Release. A is the owner, and B is the number of permits. Holds is how
	// many permits one owner may hold (0: all that there are). Permits is how many all
	// owners may hold together (0: one owner at a time, and any number).
	OwnerLockShape struct{ Holds, Permits int32 }

	// FencedLockShape is a lock with an owner and growing fences: Acquire and Release; A is
	// the owner, B the fence.
	FencedLockShape struct{ Holds int32 }

	// VersionsShape is a register that counts its updates: Read, Write, CAS. A is the
	// version plus 1, or 0 if it is not known, and B is an index into Args.
	VersionsShape struct {
		First, Value int32 // initial version and value
		Nil          int32 // the value that says nothing
		Args         [][2]int32
	}

	// CounterShape is a number that is added to: Plus, Total, PlusTotal. The B of those
	// that show a number is a place in Totals.
	CounterShape struct {
		Init   int64
		Totals []int64
	}

	// IDsShape gives out ids: Generate. No two are the same, and none is one of Given, which
	// are sorted. If they grow, B is a place in Numbers, and each number is greater
	// than those before it.
	IDsShape struct {
		Growing bool
		Numbers []int64
		Given   []int32
	}

	// LogShape is a list that is appended to: AppendTo to ReadLog. The A of a ReadLog is a
	// place in Lists.
	LogShape struct {
		Init  []int32
		Lists [][]int32
	}

	// TxnListsShape is a map of lists: Txn, whose A is a transaction. It appends to lists, and reads them whole, at one
	// instant. Elements are numbered over all slots; a slot is a key.
	TxnListsShape struct {
		Slots, Elements int
		Init            [][]int32  // by slot, of the first slots: the list that is there initially
		Steps           []ListStep // of all transactions
		From            []int32    // by transaction, and one more: where its steps begin
		Longest         [][]int32  // by slot: the longest list, of which most reads show the beginning
		Odd             [][]int32  // lists that are not beginnings of the longest one of their slot

		// Failed returns the transactions of the history that failed, and the elements of each that some list shows.
		Failed func(h *jepsen.History) (txns []jepsen.Operation, elements [][]int32)
		// Appends returns which micro-operation of a transaction of the history, failed or not, appends an element to a slot, or -1.
		Appends func(h *jepsen.History, txn jepsen.Operation, slot, element int32) int32
		// Key and Value return the keys and values that are behind the numbers of slots and elements.
		Key, Value func(number int32) edn.ID
	}

	// TxnRegistersShape is a map of registers: Txn, whose A is a transaction. It reads and writes registers at one instant.
	// A slot is a key.
	TxnRegistersShape struct {
		Init func(slot int32) int32         // the initial value class, as it reads
		Of   func(txn int32) []RegisterStep // the steps of a transaction

		// Failed returns the transactions of the history that failed, and what each would have written to known slots.
		Failed func(h *jepsen.History) (txns []jepsen.Operation, writes [][]RegisterStep)
		// Key returns the key that is behind the number of a slot. The class of a value is its edn.ID.
		Key func(slot int32) edn.ID
	}
)

// ListStep is a step of a transaction on lists: it appends the element Value, or reads a list. Then Value is the length of
// the list, or -1 minus its place in Odd.
type ListStep struct {
	Slot, Value int32
	Append      bool
}

// RegisterStep is a step of a transaction on registers: it reads or writes a value class. Other transactions matter only to
// outer steps. A read is outer unless it reads the transaction's own write. A write is outer unless the transaction
// overwrites it.
type RegisterStep struct {
	Slot, Value  int32
	Write, Outer bool
}

// Of returns the steps of a transaction.
func (s *TxnListsShape) Of(txn int32) []ListStep { return s.Steps[s.From[txn]:s.From[txn+1]] }

// List returns the list that a step reads.
func (s *TxnListsShape) List(step ListStep) []int32 {
	if step.Value < 0 {
		return s.Odd[-1-step.Value]
	}
	return s.Longest[step.Slot][:step.Value]
}

// Alone returns the shape for some of all transactions that were invoked up to event t. Elements that others of these append
// are not in its lists, and are not appended. So an element counts if all that append it are among the transactions, and also
// if nothing appends it. Linear in the steps of all transactions and in the lists of those that are left.
func (s *TxnListsShape) Alone(all, some *Columns, t int32) TxnListsShape {
	own, out := make([]bool, len(s.From)), make([]bool, s.Elements)
	for _, txn := range some.A {
		own[txn] = true
	}
	for row, txn := range all.A {
		if all.Inv[row] > t || own[txn] {
			continue
		}
		for _, step := range s.Of(txn) {
			if step.Append {
				out[step.Value] = true
			}
		}
	}
	kept := func(list []int32) (left []int32) {
		for _, e := range list {
			if !out[e] {
				left = append(left, e)
			}
		}
		return left
	}
	a := TxnListsShape{Slots: s.Slots, Elements: s.Elements, From: make([]int32, 1, len(s.From)),
		Longest: make([][]int32, s.Slots), Odd: make([][]int32, len(s.Odd)), Failed: s.Failed, Appends: s.Appends, Key: s.Key, Value: s.Value}
	for _, list := range s.Init {
		a.Init = append(a.Init, kept(list))
	}
	before := make([][]int32, s.Slots) // by slot that is read, and length of a list: how many of its elements are left
	for txn := range len(s.From) - 1 {
		if own[txn] {
			for _, step := range s.Of(int32(txn)) {
				switch {
				case step.Append && out[step.Value]:
					continue
				case step.Append:
				case step.Value < 0:
					a.Odd[-1-step.Value] = kept(s.List(step))
				default:
					longest := s.Longest[step.Slot]
					if before[step.Slot] == nil {
						counts := make([]int32, len(longest)+1)
						for i, e := range longest {
							if counts[i+1] = counts[i]; !out[e] {
								counts[i+1]++
							}
						}
						a.Longest[step.Slot], before[step.Slot] = kept(longest), counts
					}
					step.Value = before[step.Slot][step.Value]
				}
				a.Steps = append(a.Steps, step)
			}
		}
		a.From = append(a.From, int32(len(a.Steps)))
	}
	return a
}

func (RegisterShape) shape()   {}
func (FIFOShape) shape()       {}
func (LIFOShape) shape()       {}
func (PriorityShape) shape()   {}
func (BagShape) shape()        {}
func (LookupSetShape) shape()  {}
func (GrowSetShape) shape()    {}
func (SemaphoreShape) shape()  {}
func (OwnerLockShape) shape()  {}
func (FencedLockShape) shape() {}
func (VersionsShape) shape()   {}
func (CounterShape) shape()    {}
func (IDsShape) shape()        {}
func (LogShape) shape()        {}
func (TxnListsShape) shape()   {}

func (TxnRegistersShape) shape() {}
