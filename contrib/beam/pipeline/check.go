package pipeline

import (
	"context"
	"errors"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"clew"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

func init() {
	register.DoFn3x1[context.Context, string, func(Found), error](&findFn{})
	register.DoFn3x1[context.Context, Found, func(report.Line), error](&checkFn{})
	register.DoFn4x1[context.Context, Found, func(Key), func(report.Line), error](&splitFn{})
	register.DoFn2x2[context.Context, Key, string, Answer](&keyFn{})
	register.Combiner3[Answers, Answer, report.Line](&togetherFn{})
	register.DoFn2x2[context.Context, report.Line, string, error](&lineFn{})
	register.Emitter1[Found]()
	register.Emitter1[Key]()
	register.Emitter1[report.Line]()
}

// Check checks every history that the options name. Its output is a report.Line for each, in no order.
func Check(s beam.Scope, o Options) beam.PCollection {
	s = s.Scope("clew")
	found := beam.Reshuffle(s, beam.ParDo(s, &findFn{}, beam.Reshuffle(s, beam.CreateList(s, o.Inputs))))
	if !o.Independent {
		return beam.ParDo(s, &checkFn{Options: o}, found)
	}
	keys, lines := beam.ParDo2(s, &splitFn{Options: o}, found)
	together := beam.CombinePerKey(s, &togetherFn{}, beam.ParDo(s, &keyFn{Options: o}, beam.Reshuffle(s, keys)))
	return beam.Flatten(s, lines, beam.DropKey(s, together))
}

// Write writes lines to a file as JSON lines, and their summary to another one, unless that is "". It counts
// verdicts, as metrics.
func Write(s beam.Scope, lines beam.PCollection, output, summary string) {
	textio.Write(s, output, beam.ParDo(s, &lineFn{}, lines))
	if summary != "" {
		textio.Write(s, summary, beam.ParDo(s, summaryText, beam.Combine(s, &summaryFn{}, lines)))
	}
}

// findFn finds the histories that a glob matches.
type findFn struct{}

func (*findFn) ProcessElement(ctx context.Context, glob string, emit func(Found)) error {
	return find(ctx, glob, emit)
}

// checkFn checks a history.
type checkFn struct {
	Options Options
	spec    models.Spec
}

// Setup makes the model on each worker.
func (f *checkFn) Setup() (err error) {
	f.spec, err = f.Options.spec()
	return err
}

func (f *checkFn) ProcessElement(ctx context.Context, found Found, emit func(report.Line)) error {
	if told := found.checked(ctx, f.Options.MemoryLimit); told != nil {
		if o, spec, more := f.Options.completed(told); more {
			if r := o.try(ctx, found, spec, told); r.Cause != jepsen.Unreadable {
				r.ToldBy = strings.TrimSuffix(told.By+" and "+r.ToldBy, " and ")
				emit(r.Line())
				return nil
			}
		}
	}
	emit(f.Options.try(ctx, found, f.spec, nil).Line())
	return nil
}

// try returns the result of a history. A history that does not fit what is told about it is unreadable.
func (o Options) try(ctx context.Context, found Found, spec models.Spec, told *store.Checked) *report.Result {
	read := func(ctx context.Context) (*jepsen.History, error) {
		h, err := found.read(ctx, o.pairing(spec))
		if err != nil || told == nil {
			return h, err
		}
		return h, unfit(h, spec, told)
	}
	check := o.check()
	check.Independent, check.Keyless = o.Independent, o.Keyless
	return clew.Try(ctx, found.Path(), read, spec, check)
}

// unfit returns an error if what is told cannot be about a history.
func unfit(h *jepsen.History, spec models.Spec, told *store.Checked) error {
	as, _, err := spec.Infer(h)
	if err == nil && !told.Fits(h, as.Name) {
		err = errors.New("the results are of another history")
	}
	return err
}
