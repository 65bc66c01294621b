package pipeline

import (
	"context"
	"encoding/json"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"clew/jepsen"
	"clew/report"
)

func init() {
	register.Combiner3[Summary, report.Line, Summary](&summaryFn{})
	register.Function1x2(summaryText)
}

// Summary counts the outcomes of the histories.
type Summary struct {
	Histories int            `json:"histories"`
	Valid     int            `json:"valid"`
	Invalid   int            `json:"invalid"`
	Unknown   int            `json:"unknown"`
	Causes    map[string]int `json:"causes"` // of the unknown ones
}

// summaryFn sums up lines.
type summaryFn struct{}

func (*summaryFn) CreateAccumulator() Summary { return Summary{Causes: map[string]int{}} }

func (*summaryFn) AddInput(s Summary, l report.Line) Summary {
	s.Histories++
	switch l.Valid {
	case jepsen.Valid:
		s.Valid++
	case jepsen.Invalid:
		s.Invalid++
	default:
		s.Unknown++
		if s.Causes == nil {
			s.Causes = map[string]int{}
		}
		s.Causes[string(l.Cause)]++
	}
	return s
}

func (f *summaryFn) MergeAccumulators(a, b Summary) Summary {
	sum := Summary{a.Histories + b.Histories, a.Valid + b.Valid, a.Invalid + b.Invalid, a.Unknown + b.Unknown, map[string]int{}}
	for _, s := range []Summary{a, b} {
		for cause, n := range s.Causes {
			sum.Causes[cause] += n
		}
	}
	return sum
}

func (*summaryFn) ExtractOutput(s Summary) Summary { return s }

// summaryText returns a summary as JSON.
func summaryText(s Summary) (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}

// The metrics of a job: how many histories have each verdict.
var (
	validCount   = beam.NewCounter("clew", "valid")
	invalidCount = beam.NewCounter("clew", "invalid")
	unknownCount = beam.NewCounter("clew", "unknown")
)

// lineFn turns a line into JSON, and counts it.
type lineFn struct{}

func (*lineFn) ProcessElement(ctx context.Context, l report.Line) (string, error) {
	switch l.Valid {
	case jepsen.Valid:
		validCount.Inc(ctx, 1)
	case jepsen.Invalid:
		invalidCount.Inc(ctx, 1)
	default:
		unknownCount.Inc(ctx, 1)
	}
	text, err := json.Marshal(l)
	return string(text), err
}
