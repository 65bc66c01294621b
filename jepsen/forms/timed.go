package forms

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/huge"
	"clew/jepsen/forms/internal/scan"
)

// timedOps are the operations of a text form with times.
type timedOps struct {
	start, end []int64
	ops        []timedOp
}

// timedOp is what else the text says of one.
type timedOp struct {
	process, value, to int64 // to: what value became
	method, line, col  int32
	answer             edn.ID // Nil if there is none
}

// empty is what a removal from an empty container returns in fastlin and fptlin.
const empty = -1

// timed reads fastlin and fptlin: all operations, whose ends are then put in order of
// time. O(n) time unless the times of very many operations are in disorder.
func (r *textReader) timed() error {
	var all timedOps
	for {
		if err := r.more(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		read := r.fptlin
		if r.form == Fastlin {
			read = r.fastlin
		}
		if err := read(&all); err != nil {
			return err
		}
		if len(all.ops) == math.MaxInt32/2 {
			return r.fail("more operations than clew can number (2^30)")
		}
	}
	if r.form == Fastlin {
		r.answers(all.ops)
	}
	ops := make([]int32, len(all.ops))
	for i := range ops {
		ops[i] = int32(i)
	}
	calls, returns := ops, slices.Clone(ops)
	scan.ByTime(calls, all.start)
	scan.ByTime(returns, all.end)
	r.in.b.Expect(int64(2 * len(ops))) // in events
	for n := int64(0); len(returns) > 0; n++ {
		if n%4096 == 0 && r.in.ctx.Err() != nil {
			return fmt.Errorf("%s: %w", r.in.file, context.Cause(r.in.ctx))
		}
		// Returns come first.
		ends := len(calls) == 0 || all.end[returns[0]] <= all.start[calls[0]]
		from := &calls
		if ends {
			from = &returns
		}
		op := &all.ops[(*from)[0]]
		*from = (*from)[1:]
		e := r.event(op.process, op.method, ends, op.line, op.col)
		e.Value = r.timedValue(op, ends)
		e.End = n
		if err := r.in.take(e); err != nil {
			return err
		}
	}
	return nil
}

// timedValue is the value of the call or the return of an operation.
func (r *textReader) timedValue(op *timedOp, returns bool) edn.ID {
	v, method := r.in.values, &r.methods[op.method]
	switch {
	case method.f == ":cas":
		return v.InternVector([]edn.ID{v.InternInt(op.value), v.InternInt(op.to)})
	case r.isCounted(method) && !returns:
		return edn.Nil
	case r.isCounted(method):
		return op.answer
	case op.answer != edn.Nil && returns:
		return v.InternVector([]edn.ID{v.InternInt(op.value), op.answer})
	case op.answer != edn.Nil || method.adds:
		return v.InternInt(op.value)
	case !returns || op.value == empty:
		return edn.Nil
	}
	return v.InternInt(op.value)
}

func (r *textReader) fastlin(all *timedOps) error {
	words := r.split()
	if len(words) != 4 {
		return r.fail("expected METHOD VALUE START END, found %s", scan.Clip(r.line))
	}
	return r.operation(all, int64(len(all.ops)), words[0], words[1:2], words[2], words[3])
}

func (r *textReader) fptlin(all *timedOps) error {
	words := r.split()
	if len(words) != 5 && len(words) != 6 {
		return r.fail("expected PROCESS START END METHOD VALUE, found %s", scan.Clip(r.line))
	}
	process, ok := integer(words[0])
	if !ok || process < 0 {
		return r.fail("expected a process such as 0, found %s", scan.Clip(words[0]))
	}
	return r.operation(all, process, words[3], words[4:], words[1], words[2])
}

// integer reads an integer that fits in an int64.
func integer(text []byte) (n int64, ok bool) {
	if n, ok = scan.Int(text); ok {
		return n, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}

// operation adds an operation that is given by its times.
func (r *textReader) operation(all *timedOps, process int64, method []byte, values [][]byte, start, end []byte) error {
	from, ok := integer(start)
	if !ok {
		return r.fail("expected a time as an integer, found %s", scan.Clip(start))
	}
	to, ok := integer(end)
	if !ok || to <= from {
		return r.fail("expected a time after %d, found %s", from, scan.Clip(end))
	}
	n, ok := integer(values[0])
	if !ok {
		return r.fail("expected an integer for the value, found %s", scan.Clip(values[0]))
	}
	m := r.method(method)
	if m < 0 {
		return r.fail("expected a method such as enq, found %s", scan.Clip(method))
	}
	op := timedOp{process: process, value: n, method: m, line: int32(r.lines.N), col: int32(r.col)}
	switch f := &r.methods[m]; {
	case f.f == ":cas":
		if op.to, ok = integer(values[len(values)-1]); !ok || len(values) != 2 {
			return r.fail("expected what %s read and what it wrote, two integers, found %s", scan.Clip(method), scan.Clip(bytes.Join(values, []byte(" "))))
		}
	case r.isCounted(f):
		if op.answer, ok = answer(values[0]); !ok || len(values) != 1 {
			return r.fail("expected 0 or 1 for the answer, found %s", scan.Clip(bytes.Join(values, []byte(" "))))
		}
	case len(values) == 2:
		if op.answer, ok = answer(values[1]); !ok {
			return r.fail("expected 0 or 1 for the answer, found %s", scan.Clip(values[1]))
		}
	}
	all.start, all.end, all.ops = huge.Append(all.start, from), huge.Append(all.end, to), huge.Append(all.ops, op)
	return nil
}

func answer(text []byte) (answer edn.ID, ok bool) {
	switch string(text) {
	case "0":
		return edn.False, true
	case "1":
		return edn.True, true
	}
	return edn.Nil, false
}

// isCounted says whether a method is one of fptlin's semaphores.
func (r *textReader) isCounted(m *method) bool {
	return r.object == countingSemaphore && (m.f == ":incr" || m.f == ":decr")
}

// answers gives the operations of a set in fastlin their answers, which the names of
// its methods say.
func (r *textReader) answers(ops []timedOp) {
	known := make([]edn.ID, len(r.methods))
	isSet := r.object == "set"
	for m, method := range r.methods {
		switch strings.ToLower(method.word) {
		case "contains_true":
			known[m] = edn.True
		case "contains_false":
			known[m] = edn.False
		}
		isSet = isSet || r.object == "" && known[m] != edn.Nil
	}
	for m, method := range r.methods {
		if isSet && (method.f == ":insert" || method.f == ":remove") {
			known[m] = edn.True
		}
	}
	for i := range ops {
		ops[i].answer = known[ops[i].method]
	}
}
