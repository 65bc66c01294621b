package clew

import (
	"context"
	"errors"
	"fmt"
	"io"

	"clew/internal/certificate"
	"clew/internal/page"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// WitnessError says why a witness is not a linearization, and at which position: from 0, or the length of the witness
// if an operation is missing.
type WitnessError struct {
	Position int
	Msg      string
}

func (e *WitnessError) Error() string { return fmt.Sprintf("position %d: %s", e.Position, e.Msg) }

// Verify returns nil if a witness, operations of the history in order, is a linearization:
//
//   - every operation that succeeded is in it once, crashed ones at most once, and failed ones not at all unless the
//     model reads them;
//   - no operation comes after one that began after it had returned;
//   - the model can take every step, except those of crashed operations that change nothing, wherever they are.
//
// Verify shares nothing with the engines: it uses the model's sequential step and one pass over the witness. If the
// witness is not a linearization, the error is a *WitnessError. Any other error means that the history or the spec
// makes no sense. Linear time.
func Verify(h *jepsen.History, spec models.Spec, witness []jepsen.Operation) error {
	return verifyWithin(context.Background(), h, spec, witness)
}

// verifyWithin does what Verify does for as long as the context is not done: then the error is its cause.
func verifyWithin(ctx context.Context, h *jepsen.History, spec models.Spec, witness []jepsen.Operation) (err error) {
	if f := caught(nil, func() { err = replay(ctx, h, spec, witness) }); f != nil {
		return f
	}
	return err
}

// replay does what verifyWithin does, unless the model fails.
func replay(ctx context.Context, h *jepsen.History, spec models.Spec, witness []jepsen.Operation) error {
	spec, _, err := spec.Infer(h)
	if err != nil {
		return err
	}
	ops, err := spec.ReadWithin(ctx, h)
	if err != nil {
		return err
	}
	rowOf := ops.Rows()
	var rows, positions []int32
	err = inTime(h, witness, rowOf, func(i int, op jepsen.Operation) error {
		if rowOf[op] != jepsen.None {
			rows, positions = append(rows, rowOf[op]), append(positions, int32(i))
		}
		return nil
	})
	if err != nil {
		return err
	}
	var stuck *models.ReplayError
	apart(ops.Model, func() { _, err = models.Final(ctx, ops.Model, &ops.Columns, rows) })
	if errors.As(err, &stuck) {
		at := positions[stuck.Position]
		return &WitnessError{int(at), h.Name(witness[at]) + " cannot happen there: " + stuck.Why}
	}
	return err
}

// inTime returns an error unless each operation that succeeded is in a witness once, crashed ones at most once, and
// failed ones not at all. Failed ones that the model reads, whose readAs is not None, count like succeeded ones. No
// operation may come after one that began after it had returned. inTime calls take with each operation and its
// position. Linear time.
func inTime(h *jepsen.History, witness []jepsen.Operation, readAs []int32, take func(i int, op jepsen.Operation) error) error {
	seen := make([]bool, h.Operations())
	latest := jepsen.Operation(jepsen.None) // the operation that began last so far
	for i, op := range witness {
		switch {
		case op < 0 || int(op) >= len(seen):
			return &WitnessError{i, "the history has no such operation"}
		case seen[op]:
			return &WitnessError{i, h.Name(op) + " occurs in it twice"}
		case h.Status[op] == jepsen.Failed && readAs[op] == jepsen.None:
			return &WitnessError{i, h.Name(op) + " failed"}
		case latest >= 0 && h.Status[op] != jepsen.Crashed && h.Completion[op] < h.Invocation[latest]:
			return &WitnessError{i, fmt.Sprintf("%s had returned before %s began, yet comes after it", h.Name(op), h.Name(latest))}
		}
		seen[op] = true
		if latest < 0 || h.Invocation[op] > h.Invocation[latest] {
			latest = op
		}
		if err := take(i, op); err != nil {
			return err
		}
	}
	for op, done := range seen {
		if !done && (h.Status[op] == jepsen.Succeeded || h.Status[op] == jepsen.Failed && readAs[op] != jepsen.None) {
			return &WitnessError{len(witness), h.Name(jepsen.Operation(op)) + " is missing"}
		}
	}
	return nil
}

// CertificateOptions say how a history was read, as far as its result does not know.
type CertificateOptions struct {
	SHA256     string // of the history's file, in hexadecimal digits; "" if it is not known
	AllClients bool   // every process but :nemesis is a client
	Keyless    bool   // an operation without a key belongs to every independent key
}

// WriteCertificate writes a proof of a verdict, as lines of JSON, for checkers that share no code with clew. Its
// format is in docs/certificate.md. The error says what the result lacks, or is that of the writer or the cause that
// ended the context. Linear time for a witness.
func WriteCertificate(ctx context.Context, w io.Writer, r *report.Result, o CertificateOptions) error {
	return certificate.Write(ctx, w, r, certificate.Options(o))
}

// WritePage writes a page for a browser about a result: the verdict, an interactive drawing and the operations.
func WritePage(ctx context.Context, w io.Writer, r *report.Result, o report.WindowOptions) error {
	return page.Write(ctx, w, r, o)
}
