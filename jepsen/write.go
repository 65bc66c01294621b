package jepsen

import (
	"bufio"
	"bytes"
	"io"

	"clew/edn"
)

// WriteEDN writes the operations of a history, such as that of an independent key, so that
// they can be read somewhere else. It writes the op maps of their events in order, one to a
// line. The history read from that has the same verdict, failing operation and indices. It
// lacks the skipped events, and has lines of its own. If not all clients are integers, read
// it with AllClients again. It is an error if a process has several operations open at
// once. It is also one if a value is not EDN, as some JSON values are not. Linear time.
func (h *History) WriteEDN(w io.Writer) error {
	if h == nil || h.Values == nil {
		return ErrNoHistory
	}
	out, ops := bufio.NewWriter(w), h.OpPrinter()
	open := make([]bool, len(h.Processes)) // by process
	var line []byte
	for e := range Event(len(h.Type)) {
		op, process := h.OpOf[e], h.Process[e]
		switch {
		case h.Type[e] != Invoke:
			open[process] = false
		case open[process]:
			return h.Errorf(e, "process %s has another operation open, and op maps identify operations by their processes", h.ProcessName(op))
		default:
			open[process] = true
		}
		line = ops.AppendEvent(line[:0], e)
		if bytes.IndexByte(line, ';') >= 0 && !isOneMap(line) {
			return h.Errorf(e, "process %s's %s has a value that is not EDN", h.ProcessName(op), h.Values.Text(h.F[e]))
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// isOneMap says whether a text is a map and does not end in a comment.
func isOneMap(text []byte) bool {
	v := edn.NewValues()
	id, err := v.ParseLenient(text)
	return err == nil && v.Kind(id) == edn.KindMap
}
