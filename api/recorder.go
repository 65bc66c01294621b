package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// recorder records what clients do, as lines of JSON that clew check reads.
type recorder struct {
	mu      sync.Mutex
	began   time.Time
	lines   bytes.Buffer
	open    map[int64]string // the f of the operation that a process has open
	options checkOptions     // of its checks
}

// openRequest opens a recorder.
type openRequest struct {
	head
	checkOptions
}

func openRecorder(c *call) (any, error) {
	var r openRequest
	if err := c.into(&r); err != nil {
		return nil, err
	}
	if _, err := r.terms(); err != nil {
		return nil, err
	}
	return open(&recorder{began: time.Now(), open: map[int64]string{}, options: r.checkOptions})
}

func (r *recorder) close() {}

// eventRequest records that a client begins an operation or ends it.
type eventRequest struct {
	handleRequest
	Process *int64                     `json:"process"`
	Type    string                     `json:"type"` // of a completion
	F       string                     `json:"f"`    // of an invocation
	Value   json.RawMessage            `json:"value"`
	With    map[string]json.RawMessage `json:"with"` // other keys of the event
}

func (c *call) event() (r *recorder, e *eventRequest, err error) {
	e = new(eventRequest)
	if err = c.into(e); err != nil {
		return nil, nil, err
	}
	if e.Process == nil {
		return nil, nil, refused("expected \"process\", the number of the client")
	}
	r, err = of[*recorder](e.Handle)
	return r, e, err
}

func recorderInvoke(c *call) (any, error) {
	r, e, err := c.event()
	if err != nil {
		return nil, err
	}
	if e.F == "" || e.Type != "" {
		return nil, refused("expected \"f\", what the operation is called, and no \"type\"")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, busy := r.open[*e.Process]; busy {
		return nil, &failure{Kind: kindOrder, Message: fmt.Sprintf("process %d invokes %s while its %s is open; expected one operation at a time for each process", *e.Process, e.F, f)}
	}
	if err := r.add(e, "invoke", e.F); err != nil {
		return nil, err
	}
	r.open[*e.Process] = e.F
	return nothing{}, nil
}

// completions are the types of completions.
var completions = []string{"ok", "fail", "info"}

func recorderComplete(c *call) (any, error) {
	r, e, err := c.event()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(completions, e.Type) || e.F != "" {
		return nil, refused("expected \"type\", which is %s, and no \"f\"; found %q", text.OneOf(completions), e.Type)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f, busy := r.open[*e.Process]
	if !busy {
		return nil, &failure{Kind: kindOrder, Message: fmt.Sprintf("process %d completes an operation, but has none open; expected an invocation first", *e.Process)}
	}
	if err := r.add(e, e.Type, f); err != nil {
		return nil, err
	}
	delete(r.open, *e.Process)
	return nothing{}, nil
}

// placed are the keys of an event that have a place of their own.
var placed = []string{"process", "type", "f", "value"}

// add records an event. Its time is that since the recorder was opened, unless it has one.
func (r *recorder) add(e *eventRequest, kind, f string) error {
	fields := []field{{"process", *e.Process}, {"type", kind}, {"f", f}, {"value", e.Value}}
	if _, given := e.With["time"]; !given {
		fields = append(fields, field{"time", time.Since(r.began).Nanoseconds()})
	}
	for _, key := range slices.Sorted(maps.Keys(e.With)) {
		if slices.Contains(placed, key) {
			return refused("%q cannot be among \"with\": it has a place of its own", key)
		}
		fields = append(fields, field{key, e.With[key]})
	}
	line := lineOf(fields)
	if len(line) > edn.MaxDepth || bytes.ContainsRune(line[1:], '{') {
		fields[1].value = "invoke" // which is a history by itself
		if err := readable(lineOf(fields)); err != nil {
			return err
		}
	}
	r.lines.Write(line)
	return nil
}

// lineOf returns an event as a line of JSON.
func lineOf(fields []field) []byte {
	var line bytes.Buffer
	for i, x := range fields {
		line.WriteByte("{,"[min(i, 1)])
		line.Write(bytes.TrimSpace(encoded(x.key)))
		line.WriteByte(':')
		line.Write(bytes.TrimSpace(encoded(x.value)))
	}
	line.WriteString("}\n")
	return line.Bytes()
}

// readable returns an error if clew check could not read an event. Only objects, which may hold EDN, and long texts need to be
// read for that. It takes about a millisecond.
func readable(line []byte) error {
	_, err := forms.Read(bytes.NewReader(line), "", jepsen.Options{})
	if at := (*edn.Error)(nil); errors.As(err, &at) {
		return refused("%s", at.Msg)
	}
	return err
}

// field is a key of an event.
type field struct {
	key   string
	value any
}

// text returns what has been recorded.
func (r *recorder) text() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.lines.Bytes())
}

// recorderOf returns the recorder whose handle is all that a call says.
func recorderOf(c *call) (*recorder, error) {
	var e handleRequest
	if err := c.into(&e); err != nil {
		return nil, err
	}
	return of[*recorder](e.Handle)
}

func recorderHistory(c *call) (any, error) {
	r, err := recorderOf(c)
	if err != nil {
		return nil, err
	}
	return map[string]string{"history": string(r.text())}, nil
}

// recorderCheck checks what has been recorded by now. Operations that are open count as crashed.
func recorderCheck(c *call) (any, error) {
	r, err := recorderOf(c)
	if err != nil {
		return nil, err
	}
	t, err := r.options.terms()
	if err != nil {
		return nil, err
	}
	return t.check(r.options.File, r.text(), c.progress)
}
