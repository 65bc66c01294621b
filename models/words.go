package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
)

// maxWords bounds the words of an operation, in characters.
const maxWords = 40

// Operations that return something. What crashed ones would have returned is not known.
var (
	reads = []string{"read", "get", "peek"}
	takes = []string{"dequeue", "pop", "poll", "take"}
)

// Words returns an operation of a history as people say it, with its result if it
// succeeded. Examples are "read 471", "cas 3→5", "dequeue → empty" and "transfer 5 a→b". A
// model's Label comes first, unless it fails (see Unlabeled). The text has at most maxWords
// characters.
func (s Spec) Words(ctx context.Context, h *jepsen.History, op jepsen.Operation) string {
	label, err := s.label(ctx, h, op)
	if err != nil {
		label = ""
	}
	return said(h, op, cmp.Or(label, words(h, op)))
}

// Unlabeled returns how the model's Label fails on the first of some operations on which it
// does, or nil. The error names the operation. If the context is done, it is nil as well.
func (s Spec) Unlabeled(ctx context.Context, h *jepsen.History, ops []jepsen.Operation) error {
	if d, unknown := s.Definition(); unknown != nil || d.Label == nil {
		return nil
	}
	for _, op := range ops {
		_, err := s.label(ctx, h, op)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CallOf returns what an operation did: as the model's Label says it, or as
// jepsen.History.Call does, with the nil that a read returned or that counts for a write.
// A Label that fails says nothing.
func (s Spec) CallOf(h *jepsen.History, op jepsen.Operation) string {
	if label, err := s.label(context.Background(), h, op); err == nil && label != "" {
		return said(h, op, label)
	}
	call := h.Call(op)
	name := short(h.Values, h.F[h.Invocation[op]])
	if h.Status[op] == jepsen.Succeeded && h.OpValue(op) == edn.Nil && !h.AnswersTo(op) && (name == "write" || slices.Contains(reads, name)) {
		call += " nil"
	}
	return call
}

// label returns what the model's Label says of an operation, "" if it has none. An error
// names the operation, unless the context is done.
func (s Spec) label(ctx context.Context, h *jepsen.History, op jepsen.Operation) (label string, err error) {
	d, unknown := s.Definition()
	if unknown != nil || d.Label == nil {
		return "", nil
	}
	o := OperationOf(h, op)
	if o.Status == jepsen.Failed {
		o.Status = jepsen.Crashed // what it would have returned is not known either
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: in label: panic: %w", d.Name, panicked(p))
		}
		switch {
		case err != nil && ctx.Err() != nil:
			err = context.Cause(ctx)
		case err != nil:
			err = &Failure{Err: fmt.Errorf("%w, on %v", err, o)}
		}
	}()
	return d.Label(ctx, o)
}

// said completes the words for an operation, and bounds them.
func said(h *jepsen.History, op jepsen.Operation, words string) string {
	if h.Status[op] == jepsen.Failed {
		words = "failed " + words
	}
	return text.Middle(text.Line(words), maxWords)
}

// words returns an operation in words that do not depend on the model.
func words(h *jepsen.History, op jepsen.Operation) string {
	v, inv := h.Values, h.Invocation[op]
	value, f := h.OpValue(op), h.F[inv]
	name := short(v, f)
	words := name
	if key := h.Key(inv); key != edn.Nil {
		words += " " + v.Text(key)
	}
	items := v.Items(value)
	switch gives := slices.Contains(takes, name); {
	case value == edn.Nil && h.Status[op] != jepsen.Succeeded && (gives || slices.Contains(reads, name)):
		words += " ?"
	case gives && (value == edn.Nil || v.Kind(value) == edn.KindKeyword && v.Str(value) == "empty"):
		words += " → empty"
	case value == edn.Nil && name != "write" && !slices.Contains(reads, name) && !h.AnswersTo(op):
	case strings.HasPrefix(name, "cas") && isList(v, value) && len(items) >= 2:
		words += " " + change(v, items)
	case name == "transfer" && v.Kind(value) == edn.KindMap:
		words += transferred(v, value)
	case steps(v, value) != "":
		words = steps(v, value)
	default:
		if h.AnswersTo(op) {
			words += " " + text.Shorten(h.ValueText(h.Value[inv]), maxWords/2) + " →"
		}
		words += " " + h.ValueText(value)
	}
	return words
}

func isList(v *edn.Values, id edn.ID) bool {
	return v.Kind(id) == edn.KindVector || v.Kind(id) == edn.KindList
}

// change says what a cas does: "3→5", or "k 3→5" if its value begins with a key.
func change(v *edn.Values, items []edn.ID) string {
	if inner := items[1]; isList(v, inner) && len(v.Items(inner)) == 2 {
		return v.Text(items[0]) + " " + change(v, v.Items(inner))
	}
	return v.Text(items[0]) + "→" + v.Text(items[1])
}

// short returns a name without the colon of a keyword.
func short(v *edn.Values, id edn.ID) string {
	if v.Kind(id) == edn.KindKeyword {
		return v.Str(id)
	}
	return v.Text(id)
}

// transferred says what a transfer does: " 5 a→b".
func transferred(v *edn.Values, value edn.ID) string {
	get := func(name string) string {
		x, _ := v.Get(value, v.InternKeyword(name))
		return short(v, x)
	}
	return " " + get("amount") + " " + get("from") + "→" + get("to")
}

// steps returns the steps of a transaction: "r x 1, w y 2"; "" if it is not a transaction.
func steps(v *edn.Values, value edn.ID) string {
	if !isList(v, value) {
		return ""
	}
	var all []string
	for _, step := range v.Items(value) {
		items := v.Items(step)
		if !isList(v, step) || len(items) != 3 || v.Kind(items[0]) != edn.KindKeyword {
			return ""
		}
		all = append(all, v.Str(items[0])+" "+short(v, items[1])+" "+v.Text(items[2]))
	}
	return strings.Join(all, ", ")
}
