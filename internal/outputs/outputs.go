package outputs

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"clew/internal/option"
	"clew/internal/text"
	"clew/report"
)

// all lists the forms. The first one is the default.
var all = []Output{
	asText,
	asEDN,
	JSON,
	junit,
	sarif,
	github,
}

// Output is a form of results.
type Output struct {
	Name string
	For  Audience
	// Each returns what is printed when it is a result's turn. All returns what is
	// printed after the last result. One of them is nil.
	Each func(*Record, *Options) string
	All  func([]Record, *Options) string
	// Heading returns what is printed once, before the first result, or alone if there are
	// no results. It is nil if there is nothing.
	Heading func(*Options) string
	// Stream writes a single result that may be too long to hold. If it is nil, Each is used.
	Stream func(io.Writer, *report.Result) error
	// Compare returns what clew compare prints. If it is nil, clew compare does not have the form.
	Compare func(*report.Comparison, *Options) string

	Several *Output // prints the results of a store instead, unless it is nil
	Whole   bool    // prints a Record's Result, so it cannot print the records of clew merge
	Summary bool    // is followed by how many results have which verdict
	Colors  bool    // has colors of its own
	Help    string  // what the help says of a line, with %s for what the line is about
}

// Audience says who or what reads an output.
type Audience int

// The audiences. Where a signal came before some histories were begun, a person reads
// how many these are, a program gets a line about each, and a pipeline one case for all.
const (
	People Audience = iota
	Programs
	Pipelines
)

// Options say where and how results are shown.
type Options struct {
	Look  report.TextOptions
	Table *report.Table // nil unless the output is a table
	// PassUnknown says that a history which could not be decided does not count as a
	// failure, unless the check was interrupted.
	PassUnknown bool
	// Version is the version of the program.
	Version string
}

// Record holds what an Output prints about a history.
type Record struct {
	report.Line
	Run     report.Run
	Name    string         // of what is not in a file, else ""
	Details *Details       // for pipelines, nil if there are none
	Result  *report.Result // of outputs that are Whole, which need nothing else; else nil
}

// NewRecord returns the record of a result for an output. run says where the history
// stands, and err why it could not be read, or nil.
func (o *Output) NewRecord(run report.Run, r *report.Result, err error) *Record {
	if o.Whole {
		return &Record{Result: r}
	}
	x := &Record{Line: r.Line(), Run: run}
	if o.For == Pipelines {
		x.Details = NewDetails(r, err)
	}
	return x
}

// Text returns what is printed about all records.
func (o *Output) Text(records []Record, how *Options) string {
	var b strings.Builder
	if o.Heading != nil {
		b.WriteString(o.Heading(how))
	}
	if o.All != nil {
		return b.String() + o.All(records, how)
	}
	for i := range records {
		b.WriteString(o.Each(&records[i], how))
	}
	return b.String()
}

// Check returns the forms that clew check has.
func Check() []Output { return slices.Clone(all) }

// Merge returns the forms that clew merge has. It does not have forms that need more than a Record.
func Merge() (forms []Output) {
	for _, o := range all {
		if o.Several != nil {
			o = *o.Several
		}
		if !o.Whole {
			forms = append(forms, o)
		}
	}
	return forms
}

// Compare returns the forms that clew compare has.
func Compare() []Output {
	return slices.DeleteFunc(Check(), func(o Output) bool { return o.Compare == nil })
}

// Names returns the names of forms.
func Names(forms []Output) (names []string) {
	for _, o := range forms {
		names = append(names, o.Name)
	}
	return names
}

// Find returns the form with a name. The error lists the forms.
func Find(forms []Output, name string) (Output, error) {
	i := slices.IndexFunc(forms, func(o Output) bool { return o.Name == name })
	if i < 0 {
		return Output{}, fmt.Errorf("%s must be %s, not %q", option.Output, text.OneOf(Names(forms)), name)
	}
	return forms[i], nil
}

// Usage returns the help of --output. A thing is what a line is about.
func Usage(forms []Output, thing string) string {
	usage := "`FORMAT`: " + text.OneOf(Names(forms))
	var pipelines []string
	for _, o := range forms {
		if o.Help != "" {
			usage += fmt.Sprintf(" (%s: %s)", o.Name, fmt.Sprintf(o.Help, thing))
		}
		if o.For == Pipelines {
			pipelines = append(pipelines, o.Name)
		}
	}
	if pipelines != nil {
		usage += "; " + text.AllOf(pipelines) + " are for pipelines (docs/ci.md)"
	}
	return usage
}
