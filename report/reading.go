package report

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// Reading is what a verdict is about: as what the history was read, and who says so.
type Reading struct {
	Model   Part `json:"model"`
	Level   Part `json:"level"`         // of consistency
	Keys    Part `json:"keys"`          // "none", or "each": each key is a history of its own
	Init    Part `json:"init,omitzero"` // the initial value as EDN, or "the model's own"
	Nil     Part `json:"nil,omitzero"`
	Answers Part `json:"answers,omitzero"`
	KVKeys  Part `json:"kv-keys,omitzero"`
	Test    Part `json:"test,omitzero"` // what the map of the test says of the initial value without giving it, as EDN
}

// Part is a part of a reading.
type Part struct {
	Value  string
	Source Source
}

// MarshalJSON writes a part as [value, source].
func (p Part) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]string{p.Value, string(p.Source)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Part) UnmarshalJSON(text []byte) error {
	var two [2]string
	err := json.Unmarshal(text, &two)
	p.Value, p.Source = two[0], Source(two[1])
	return err
}

// Source says who says a part of a reading.
type Source string

// The sources, in the order in which they count.
const (
	Flag    Source = "flag"    // the caller, or a file of models
	Results Source = "results" // what a checker's result beside the history says
	Test    Source = "test"    // the map of the test
	Content Source = "history" // the history, which admits nothing else, or shows it
	Default Source = "default" // nothing: it is what docs/models.md names
)

// Sources are those of the parts of a reading that the fields of a Result do not tell; "": they do.
type Sources struct{ Model, Level, Keys, Init Source }

// Tell adds the sources that others tell.
func (s *Sources) Tell(more Sources) {
	s.Model, s.Level, s.Keys, s.Init = cmp.Or(more.Model, s.Model), cmp.Or(more.Level, s.Level), cmp.Or(more.Keys, s.Keys), cmp.Or(s.Init, more.Init)
}

// ModelsOwn is the initial value of a model whose default cannot be written as EDN.
const ModelsOwn = "the model's own"

// Reading returns what the verdict is about. It is the zero Reading if the history was not read as any model.
func (r *Result) Reading() (x Reading) {
	d, err := r.Spec.Definition()
	if err != nil || r.Model == "" {
		return x
	}
	x.Model = Part{r.Model, cmp.Or(r.From.Model, either(r.Inferred, Content, Flag))}
	x.Level = Part{string(cmp.Or(r.Level, "linearizable")), cmp.Or(r.From.Level, either(r.Level == "", Default, Flag))}
	x.Keys = Part{either(r.Keys != nil, "each", "none"), cmp.Or(r.From.Keys, either(r.Keys != nil, Flag, Default))}
	if r.History != nil && r.Init != "" && r.Init == r.History.Record().Init {
		r.From.Init = cmp.Or(r.From.Init, Content)
	}
	if d.NoInit == "" {
		x.Init = Part{cmp.Or(r.Init, d.Default, ModelsOwn), cmp.Or(r.From.Init, either(r.Init == "", Default, Flag))}
	}
	if d.Takes(models.ParamNilReads) {
		x.Nil = Part{either(r.Spec.NilReadsExact, "exact", "any"), either(r.Spec.NilReadsExact, Flag, Default)}
	}
	if said := r.Spec.FromTest(); said != "" && r.Spec.Init == "" {
		x.Test = Part{said, Test}
	}
	x.Answers, x.KVKeys = answered(r.Spec.Answers), answered(r.Spec.KVKeys)
	return x
}

// answered is the part of a reading that decides how answers are meant.
func answered(value string) Part {
	if value == "" {
		return Part{}
	}
	return Part{value, Content}
}

func either[T any](is bool, one, other T) T {
	if is {
		return one
	}
	return other
}

// String says the reading in a line, such as "register (inferred), one object (default), initially nil (default)".
func (x Reading) String() string {
	keys := "one object"
	if x.Keys.Value == "each" {
		keys = "each key by itself"
	}
	said := []string{x.Model.said(x.Model.Value), x.Keys.said(keys)}
	if x.Level.Source != Default {
		said = append(said, x.Level.said(x.Level.Value))
	}
	if init := x.Init.Value; init != "" && init != ModelsOwn {
		said = append(said, x.Init.said("initially "+text.Shorten(init, MaxInit)))
	}
	if x.Nil.Source == Flag {
		said = append(said, x.Nil.said("nil reads "+x.Nil.Value))
	}
	return text.Line(strings.Join(said, ", "))
}

// sourceWords are the sources as people know them.
var sourceWords = map[Source]string{Flag: "given", Results: "results.edn", Test: "test map", Content: "inferred", Default: "default"}

// said says a part and its source.
func (p Part) said(value string) string { return value + " (" + sourceWords[p.Source] + ")" }

// Words names which of several ways to understand answers was taken, such as "answers told", or "".
func (x Reading) Words() string {
	switch {
	case x.Answers.Value != "":
		return string(models.ParamAnswers) + " " + x.Answers.Value
	case x.KVKeys.Value != "":
		return string(models.ParamKVKeys) + " " + x.KVKeys.Value
	}
	return ""
}

// reading prints the map of a reading.
func (p *ednPrinter) reading(x Reading) func() {
	part := func(name string, part Part, value func()) field {
		return field{name, func() {
			p.out.WriteByte('[')
			value()
			p.out.WriteString(" :" + string(part.Source) + "]")
		}}
	}
	m := []field{part("model", x.Model, p.name(x.Model.Value)), part("level", x.Level, p.keyword(x.Level.Value)), part("keys", x.Keys, p.keyword(x.Keys.Value))}
	switch x.Init.Value {
	case "":
	case ModelsOwn:
		m = append(m, part("init", x.Init, p.string(ModelsOwn)))
	default:
		m = append(m, part("init", x.Init, p.raw(x.Init.Value)))
	}
	for name, optional := range map[string]Part{"nil": x.Nil, "answers": x.Answers, "kv-keys": x.KVKeys} {
		if optional.Value != "" {
			m = append(m, part(name, optional, p.keyword(optional.Value)))
		}
	}
	if x.Test.Value != "" {
		m = append(m, part("test", x.Test, p.raw(x.Test.Value)))
	}
	return func() { p.fields(m) }
}

var keyword = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.*+!?-]*$`)

// name prints the name of a model as a keyword, or as a string if a user's model has a name that is no keyword.
func (p *ednPrinter) name(model string) func() {
	if keyword.MatchString(model) {
		return p.keyword(model)
	}
	return p.string(model)
}

// Alternative is a value of a part of a reading for which nobody has given one, and the verdict with it.
type Alternative struct {
	Part    string         `json:"part"`  // "keys"
	Value   string         `json:"value"` // "each"
	Verdict jepsen.Verdict `json:"valid"`
	Flag    string         `json:"flag"` // says so
}

func (p *ednPrinter) alternative(a Alternative) {
	p.fields([]field{{"part", p.keyword(a.Part)}, {"value", p.keyword(a.Value)}, {"valid?", p.verdict(a.Verdict)}, {"flag", p.string(a.Flag)}})
}
