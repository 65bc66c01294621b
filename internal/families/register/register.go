package register

import (
	"strings"

	"clew/fastpath"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// # Register
//
// Decides: Read and Write of one register with an initial value.
//
// Precondition: every value that a completed read saw was written once,
// counting the initial value and crashed writes. Repeated writes of values
// that were never seen do no harm. If the precondition fails, the procedure
// for the cas-register decides, which is slower and rules out more.
//
// Cost: O(operations + ids), no sort.
//
// Rests on: Gibbons and Korach, "Testing shared memories" (SIAM J. Comput. 1997), and the lemma in
// zones.go. A write and its reads are a block. The initial value acts as a write before everything.
//
// Crashed operations: a crashed read says nothing and is dropped. A crashed write that was
// never seen can be left out of every linearization: all operations that followed it saw other
// values, so another write stands in between. A crashed write that was seen did happen. It
// never returned, so nothing is forced to come after it, exactly as if it returned at infinity.
//
// # Core
//
// A core is a choice of operations in which no read or cas is separated from what it may have seen.
// With each of them, the core holds the operations that wrote the value it saw and were invoked
// before it returned. It omits those that another completed write of the same value separates from
// it. (Otherwise a lone read would be a core whenever its write could be left out, and it would
// explain nothing.) A read of a value that had never been written is a core of its own. The core is
// minimal among the choices that, cut at the first failing completion, are not linearizable: none
// of these is a proper part of it.

var register = &fastpath.Algorithm{Decide: decideRegister, Needs: needsProducers, Step: stepRegister, Later: laterWriter}

// regValue holds what is known about the reads of a value.
type regValue struct {
	write          int32 // the write of it, plus 1; writtenAtFirst; or 0 for none
	reads          int32 // how many reads; for the witness, the position of the next one
	minRes, maxInv int32 // over the reads, later over the block
}

const writtenAtFirst = -1

func decideRegister(in fastpath.Input, witness bool) fastpath.Result {
	values := hugepages.Make[regValue](in.IDs)
	if bad := countReads(in, values); bad >= 0 {
		return fastpath.Result{Reason: fastpath.Unsupported.Of(bad)}
	}
	values[in.Init].write = writtenAtFirst
	z := zones(hugepages.Make[int32](int(in.Events) + countOpen(in))[:in.Events])
	if !placeWrites(in, values, z) {
		return decideCAS(in, witness)
	}
	for v := range values {
		if values[v].reads > 0 && values[v].write != writtenAtFirst {
			if orphan := placeBlock(in, &values[v], z); orphan {
				return neverWritten(in.OpReturning(values[v].minRes), values[v].minRes)
			}
		}
	}
	in.Poll()
	end := int32(-1)
	if values[in.Init].reads > 0 {
		end = values[in.Init].maxInv
	}
	if x, y, found := z.clash(end); found {
		return clashOfReads(in, x, y)
	}
	r := fastpath.Result{Verdict: jepsen.Valid}
	if witness {
		r.Witness = registerWitness(in, values, z)
	}
	return r
}

// countReads collects the completed reads of each value. It returns an
// operation that is neither a read nor a write, or -1.
func countReads(in fastpath.Input, values []regValue) int32 {
	for i, kind := range in.Kind {
		if kind != models.Read {
			if kind != models.Write {
				return int32(i)
			}
			continue
		}
		if in.Res[i] == models.Open {
			continue
		}
		v := &values[in.A[i]]
		if v.reads == 0 {
			v.minRes = models.Open
		}
		v.reads++
		v.minRes = min(v.minRes, in.Res[i])
		v.maxInv = in.Inv[i] // invocations ascend
	}
	return -1
}

// placeWrites records which writes wrote the values that were seen. It enters each completed write
// whose value was never seen as a block of its own. It reports whether the precondition holds.
func placeWrites(in fastpath.Input, values []regValue, z zones) bool {
	for i, kind := range in.Kind {
		if kind != models.Write {
			continue
		}
		v := &values[in.A[i]]
		switch {
		case v.reads == 0:
			if in.Res[i] != models.Open {
				z.add(block{in.Res[i], in.Inv[i]})
			}
		case v.write != 0:
			return false
		default:
			v.write = int32(i) + 1
		}
	}
	return true
}

// placeBlock enters the block of a value that was seen. It returns true if
// a read has no write, or returned before the write was invoked.
func placeBlock(in fastpath.Input, v *regValue, z zones) (orphan bool) {
	if v.write == 0 || in.Inv[v.write-1] > v.minRes {
		return true
	}
	w := v.write - 1
	v.minRes, v.maxInv = min(v.minRes, in.Res[w]), max(v.maxInv, in.Inv[w])
	z.add(block{v.minRes, v.maxInv})
	return false
}

// NeverWritten (reader, writer): reader saw a value that nothing had written when it
// returned. The writer is the first operation that wrote it later, or Missing.
var NeverWritten = &fastpath.Pattern{Name: "never-written", ChooseKind: fastpath.OrFuture, Choose: func(t models.Teller, v []models.Row) string {
	s := "{did 0}"
	if strings.Contains(t.Did(v[0]), "##NaN") {
		return s + ", and no write explains it: NaN equals nothing, not even itself"
	}
	s += ", but nothing had written it by then"
	if v[1] != fastpath.Missing {
		s += "; {did 1} only later"
	}
	return s
}}

// neverWritten returns the result for an operation that returned by event
// end, and saw a value that nothing had written by then.
func neverWritten(o, end int32) fastpath.Result {
	return fastpath.Result{Verdict: jepsen.Invalid, Keys: []int32{o}, End: end, Why: NeverWritten.Of(o, fastpath.Missing)}
}

// clashOfReads returns the result for two blocks that must stand before each other.
// The history has gone wrong once two things have happened: an operation of Y has
// returned (one of X had returned before), and the reads whose invocation matters
// have returned. If the invocation of a write matters, that write is known by then.
func clashOfReads(in fastpath.Input, x, y block) fastpath.Result {
	r := fastpath.Result{Verdict: jepsen.Invalid, Why: whyReplaced(in, x, y), End: y.minRes}
	for _, o := range r.Why.Rows {
		if in.Kind[o] == models.Read {
			r.End = max(r.End, in.Res[o])
		}
		r.Keys = append(r.Keys, o)
	}
	return r
}

// countOpen returns how many operations never returned.
func countOpen(in fastpath.Input) (n int) {
	for _, res := range in.Res {
		if res == models.Open {
			n++
		}
	}
	return n
}

// registerWitness puts the blocks in the order of their zones' starts, after the reads of
// the initial value. Each block is a write followed by its reads in order of invocation. The writes, plus 1, take the place
// of the zones, which are no longer needed. The order takes their place in turn, from its end on: no operation of a block
// returns before its zone starts, so those of the blocks from an event on fit behind it, with room for those that never return.
func registerWitness(in fastpath.Input, values []regValue, z zones) []int32 {
	for i, kind := range in.Kind {
		if kind != models.Write {
			continue
		}
		if v := &values[in.A[i]]; v.reads > 0 {
			z[block{v.minRes, v.maxInv}.start()] = int32(i) + 1
		} else if in.Res[i] != models.Open {
			z[in.Inv[i]] = int32(i) + 1
		}
	}
	order := z[:cap(z)]
	k := int32(len(order))
	for event := len(z) - 1; event >= 0; event-- {
		w := z[event]
		if w == 0 {
			continue
		}
		k--
		v := &values[in.A[w-1]]
		if v.reads > 0 {
			k, v.reads = k-v.reads, k-v.reads+1
		}
		order[k] = w - 1
	}
	if first := &values[in.Init]; first.write == writtenAtFirst {
		k -= first.reads
		first.reads = k
	}
	for i, kind := range in.Kind {
		if kind == models.Read && in.Res[i] != models.Open {
			v := &values[in.A[i]]
			order[v.reads] = int32(i)
			v.reads++
		}
	}
	return order[k:]
}
