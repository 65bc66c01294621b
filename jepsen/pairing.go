package jepsen

import (
	"fmt"

	"clew/edn"
)

func (b *Builder) pair(ev Event) error {
	h, p := b.h, b.h.Process[ev]
	if h.Type[ev] == Invoke {
		if open := b.open[p]; open != None {
			return h.Errorf(ev, "%s (index %d) begins while its %s is still open; expected a completion first",
				b.name(ev), h.Index(ev), b.cite(h.Invocation[open]))
		}
		b.open[p] = h.begin(ev)
		return nil
	}
	op := b.open[p]
	if op == None {
		return b.unpaired(ev)
	}
	if inv := h.Invocation[op]; h.F[inv] != h.F[ev] && !(b.opts.AnyFailedF && h.Type[ev] == Fail) {
		return h.Errorf(ev, "%s (index %d) completes its %s with a different :f; expected %s",
			b.name(ev), h.Index(ev), b.cite(inv), h.Values.Text(h.F[inv]))
	}
	h.end(op, ev)
	b.open[p], b.last[p] = None, op
	return nil
}

// begin adds the operation that an event begins. It has crashed until it ends.
func (h *History) begin(ev Event) Operation {
	op := Operation(len(h.Invocation))
	h.OpOf[ev] = op
	h.Invocation = append(h.Invocation, ev)
	h.Completion = append(h.Completion, None)
	h.Status = append(h.Status, Crashed)
	return op
}

// end ends an operation with an event.
func (h *History) end(op Operation, ev Event) {
	h.OpOf[ev] = op
	h.Completion[op] = ev
	h.Status[op] = [...]Status{OK: Succeeded, Fail: Failed, Info: Crashed}[h.Type[ev]]
}

// unpaired handles a completion whose process has nothing open. A late completion of a
// crashed operation says nothing, except :ok, which contradicts the :info.
func (b *Builder) unpaired(ev Event) error {
	h, t := b.h, b.h.Type[ev]
	last := b.last[h.Process[ev]]
	crashed := last != None && h.Status[last] == Crashed
	if b.forgot { // perhaps that one, too
		last, crashed = None, t == Fail
	}
	if t == Info || t == Fail && crashed {
		why := "has no invocation"
		if crashed && last != None {
			why = fmt.Sprintf("comes after its own %s", b.cite(h.Completion[last]))
		}
		if b.lost == (edn.Pos{}) {
			b.lost = h.pos(ev)
		}
		b.warn("%s%s (index %d) %s; ignored", b.line(h.Line(ev)), b.name(ev), h.Index(ev), why)
		b.dropLast()
		return nil
	}
	switch {
	case crashed:
		return h.Errorf(ev, "%s (index %d) comes after its own %s; expected an invocation",
			b.name(ev), h.Index(ev), b.cite(h.Completion[last]))
	case last != None:
		return h.Errorf(ev, "%s (index %d) has no invocation: the process's last operation was completed by its %s",
			b.name(ev), h.Index(ev), b.cite(h.Completion[last]))
	}
	why := ": it is the first event of its process"
	if b.forgot {
		why = " that has not been completed"
	}
	return h.Errorf(ev, "%s (index %d) has no invocation%s", b.name(ev), h.Index(ev), why)
}

func (b *Builder) dropLast() {
	h, n := b.h, len(b.h.Type)-1
	h.Type, h.Process, h.F, h.Value, h.OpOf = h.Type[:n], h.Process[:n], h.F[:n], h.Value[:n], h.OpOf[:n]
	h.keys = h.keys[:min(n, len(h.keys))]
	h.places.dropLast()
	h.texts.DropLast()
}

// name returns an event in the words that errors begin with: "process 3's :ok :read".
func (b *Builder) name(ev Event) string {
	h := b.h
	return fmt.Sprintf("process %s's %s %s", h.Values.Text(h.Processes[h.Process[ev]]), h.Type[ev], h.Values.Text(h.F[ev]))
}

// cite names an earlier event of the same process: ":invoke :write (index 0, line 1)".
func (b *Builder) cite(ev Event) string {
	return fmt.Sprintf("%s %s (%s)", b.h.Type[ev], b.h.Values.Text(b.h.F[ev]), b.h.Where(ev))
}
