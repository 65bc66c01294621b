package certificate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"

	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Options say how a history was read where its result does not know.
type Options struct {
	SHA256     string // of the file, in hexadecimal digits; "" if it is not known
	AllClients bool   // every process but :nemesis is a client
	Keyless    bool   // an operation without a key belongs to every independent key
}

type header struct {
	Version     int                     `json:"clew-certificate"`
	SHA256      string                  `json:"sha256,omitempty"`
	Operations  int                     `json:"operations"`
	Model       string                  `json:"model"`
	Parameters  map[models.Param]string `json:"parameters"`
	Independent bool                    `json:"independent"`
	Keyless     bool                    `json:"keyless,omitempty"`
	Clients     string                  `json:"clients"`
	Valid       jepsen.Verdict          `json:"valid"`
	Consistency models.Level            `json:"consistency,omitempty"`
}

// section is the line about one key, or about the whole history.
type section struct {
	Key   *string        `json:"key"`
	Valid jepsen.Verdict `json:"valid"`

	// These are set for a failure.
	Fails       *jepsen.Operation `json:"fails,omitempty"` // whose completion is the first failing one
	Analyzer    string            `json:"analyzer,omitempty"`
	Pattern     string            `json:"pattern,omitempty"`
	Explanation string            `json:"explanation,omitempty"`
	Named       []named           `json:"named,omitempty"`

	// These list operations of the whole history.
	Order  []jepsen.Operation `json:"order,omitzero"`
	Before []jepsen.Operation `json:"before,omitzero"`
	Core   []jepsen.Operation `json:"core,omitempty"`

	// These are about a level of consistency.
	Points       []jepsen.Operation `json:"points,omitzero"` // snapshots and commits
	Anomaly      string             `json:"anomaly,omitempty"`
	Cycle        []step             `json:"cycle,omitempty"`
	At           [][]int32          `json:"at,omitempty"`
	Transactions []jepsen.Operation `json:"transactions,omitempty"`
}

// named is an operation of the explanation, with the indices of its invocation and completion.
type named struct {
	Operation  jepsen.Operation `json:"operation"`
	Invocation int64            `json:"invocation"`
	Completion *int64           `json:"completion"`
}

const version = 1

// Lacks returns why there is no certificate of a result, or "" if there is one.
func Lacks(r *report.Result) string {
	switch failing := r.FirstFailing(); {
	case r.Keys != nil && perKey(r.Spec):
		return keysDiffer
	case r.Verdict == jepsen.Unknown || r.History == nil:
		return "the history is " + r.Verdict.String()
	case levelOf(r) != "" && (r.Ops == nil || !onLists(r.Ops.Model)) && !certain(r, levelOf(r)):
		return uncertain
	case levelOf(r) != "":
		return ""
	case r.Verdict == jepsen.Invalid && (failing.Core == nil || failing.Prior == nil):
		return failing.Missing
	case failing.Kind == models.BrokenGuarantee:
		return "a guarantee is broken that no step shows"
	case r.Verdict == jepsen.Invalid && !sameParameters(failing, r):
		return "the initial value of a key is taken from its first reads, and a certificate has one for all keys; " + models.ParamInit.String() + " gives one"
	}
	return ""
}

// keysDiffer says why keys that begin with different values have no certificate.
const keysDiffer = "a certificate has one initial value for all keys, and here each key has its own"

func perKey(spec models.Spec) bool {
	_, perKey := spec.ByKey()
	return perKey
}

// sameParameters says whether the failure of a key is one with the parameters of the whole history.
func sameParameters(key, whole *report.Result) bool {
	return maps.Equal(key.Spec.Given(), whole.Spec.Given())
}

// Write writes the certificate of a verdict: lines of JSON, of which it never holds more
// than one. A key has no section if it is undecided, or if there is no linearization of what
// precedes its failure. Linear time, plus the time to decide a core again to which something
// was added. The error says what the result lacks, or is that of the writer or the cause that
// ended the context.
func Write(ctx context.Context, w io.Writer, r *report.Result, o Options) error {
	if lacks := Lacks(r); lacks == uncertain || lacks == keysDiffer || r.History == nil || r.Verdict == jepsen.Unknown || r.FailureKind() == models.BrokenGuarantee {
		return errors.New("a certificate proves a verdict; found none: " + lacks)
	}
	c := &writer{out: bufio.NewWriter(w), ctx: ctx}
	head := header{Version: version, SHA256: o.SHA256, Operations: r.History.Operations(), Model: r.Model,
		Parameters: r.Spec.Given(), Independent: r.Keys != nil, Keyless: o.Keyless && r.Keys != nil, Clients: "integers", Valid: r.Verdict}
	if o.AllClients {
		head.Clients = "all"
	}
	head.Consistency = levelOf(r)
	c.line(head)
	switch {
	case head.Consistency != "":
		c.level(r, head.Consistency)
	case r.Keys == nil:
		c.section(r, nil, r.Witness)
	}
	for _, k := range r.Keys {
		key := k.Key.String()
		switch k.Verdict {
		case jepsen.Valid:
			c.section(nil, &key, k.Witness())
		case jepsen.Invalid:
			if own := k.Result(); own.Prior != nil && sameParameters(own, r) {
				c.section(own, &key, nil)
			}
		}
	}
	if c.err != nil {
		return c.err
	}
	return c.out.Flush()
}

// writer writes a certificate up to the first error.
type writer struct {
	out *bufio.Writer
	ctx context.Context
	err error
}

func (c *writer) line(of any) {
	if c.err == nil && c.ctx.Err() != nil {
		c.err = context.Cause(c.ctx)
	}
	if c.err != nil {
		return
	}
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // it is made of numbers and text
	}
	_, c.err = c.out.Write(append(text, '\n'))
}

// section writes the line about a valid key, which has only a witness, or about a result.
func (c *writer) section(r *report.Result, key *string, witness []jepsen.Operation) {
	if r == nil || r.Verdict == jepsen.Valid {
		if witness == nil {
			witness = []jepsen.Operation{}
		}
		c.line(section{Key: key, Valid: jepsen.Valid, Order: witness})
		return
	}
	h := r.History
	whole := func(op jepsen.Operation) jepsen.Operation { return h.WholeOperation(op) }
	fails := whole(h.OpOf[r.FailEvent.OrNone()])
	s := section{Key: key, Valid: r.Verdict, Fails: &fails, Analyzer: r.Analyzer, Pattern: r.Pattern, Explanation: r.Explanation}
	for _, op := range r.Named {
		x := named{Operation: whole(op), Invocation: h.Index(h.Invocation[op])}
		if c := h.Completion[op]; c != jepsen.None {
			index := h.Index(c)
			x.Completion = &index
		}
		s.Named = append(s.Named, x)
	}
	var err error
	if s.Core, err = closed(c.ctx, r); c.err == nil {
		c.err = err
	}
	for i, op := range s.Core {
		s.Core[i] = whole(op)
	}
	s.Before = make([]jepsen.Operation, len(r.Prior))
	for i, op := range r.Prior {
		s.Before[i] = whole(op)
	}
	c.line(s)
}
