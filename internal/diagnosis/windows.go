package diagnosis

import (
	"strings"

	"clew/internal/nemesis"
)

// Windows remembers what the nemesis did: what goes on, and the last windows that are over. An operation is judged once it
// is known how all those before it end, so windows that are over still matter for a while.
type Windows struct {
	nemesis.Tracker
	Seen int // events of processes that are not clients
}

// mostOver bounds the windows that are remembered after they are over.
const mostOver = 1024

// add notes an event, and returns the windows that have changed.
func (w *Windows) add(e nemesis.Event) []nemesis.Window {
	w.Seen++
	changed := w.Add(e)
	if len(w.Over) > 2*mostOver {
		w.Over = append([]nemesis.Window(nil), w.Over[len(w.Over)-mostOver:]...)
	}
	return changed
}

// Name returns the :f of a window as totals name it: "start-partition".
func Name(f string) string { return strings.TrimPrefix(f, ":") }
