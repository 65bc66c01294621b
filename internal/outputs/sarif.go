package outputs

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"clew/jepsen"
	"clew/models"
)

// These types hold the part of SARIF 2.1.0 that is needed: a log of one run with
// its rules. There is a result for each case that is not linearizable, undecided
// or vacuous, and a notification for each that could not be read.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Invocations []sarifInvocation    `json:"invocations"`
	Bases       map[string]sarifBase `json:"originalUriBaseIds"`
	Columns     string               `json:"columnKind"`
	Results     []sarifResult        `json:"results"`
}

type sarifDriver struct {
	Name          string      `json:"name"`
	Version       string      `json:"version,omitempty"`
	Rules         []sarifRule `json:"rules"`
	Notifications []sarifRule `json:"notifications"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Short sarifText `json:"shortDescription"`
	Full  sarifText `json:"fullDescription"`
	Help  sarifText `json:"help"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifBase struct {
	Description sarifText `json:"description"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Descriptor sarifReference  `json:"descriptor"`
	Level      string          `json:"level"`
	Message    sarifText       `json:"message"`
	Locations  []sarifLocation `json:"locations,omitempty"`
}

type sarifReference struct {
	ID    string `json:"id"`
	Index int    `json:"index"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
	Related   []sarifLocation `json:"relatedLocations,omitempty"`
}

type sarifLocation struct {
	ID       int           `json:"id,omitempty"`
	Physical sarifPhysical `json:"physicalLocation"`
	Message  *sarifText    `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	Line int `json:"startLine"`
	Col  int `json:"startColumn"`
}

// sarifRoot is GitHub's name for the root of a repository; other readers take any name.
const sarifRoot = "%SRCROOT%"

var sarif = Output{Name: "sarif", For: Pipelines, All: sarifLine}

func sarifLine(records []Record, o *Options) string {
	run := sarifRun{
		Invocations: []sarifInvocation{{Successful: true, Notifications: []sarifNotification{}}},
		Bases:       map[string]sarifBase{sarifRoot: {sarifText{"The folder that clew ran in."}}},
		Columns:     "unicodeCodePoints", Results: []sarifResult{},
	}
	driver, ran := &run.Tool.Driver, &run.Invocations[0]
	*driver = sarifDriver{Name: "clew", Version: o.Version, Rules: []sarifRule{}, Notifications: []sarifRule{}}
	for _, c := range casesOf(records) {
		message, at := sarifText{c.says}, locations(c.place())
		switch c.outcome {
		case unreadable:
			ran.Successful = false
			ran.Notifications = append(ran.Notifications, sarifNotification{
				Descriptor: sarifReference{c.rule, ruleOf(&driver.Notifications, &c)}, Level: "error", Message: message, Locations: at})
		case failed, undecided, vacuous, notJudged:
			result := sarifResult{RuleID: c.rule, RuleIndex: ruleOf(&driver.Rules, &c), Level: "error", Message: message, Locations: at}
			if c.passes(o) {
				result.Level = "warning"
			}
			if c.Failure != nil && c.file != "" {
				for i, op := range c.Named {
					l := location(Place{c.file, op.Line, op.Col})
					l.ID, l.Message = i+1, &sarifText{op.Name}
					result.Related = append(result.Related, l)
				}
			}
			run.Results = append(run.Results, result)
		}
	}
	return JSONLine(sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// ruleOf returns the index of a case's rule among all rules, and adds the rule if necessary.
func ruleOf(rules *[]sarifRule, c *testCase) int {
	i := slices.IndexFunc(*rules, func(r sarifRule) bool { return r.ID == c.rule })
	if i >= 0 {
		return i
	}
	words := strings.ReplaceAll(strings.TrimPrefix(c.rule, "unknown-"), "-", " ")
	not, fails, holds := "Not linearizable: "+words, "The history is not linearizable", "the history is linearizable"
	if level := string(c.level); level != "" { // then the rule is an anomaly's name
		not, fails, holds = "Not "+level+": "+c.rule, "The level "+level+" does not hold", "the level "+level+" holds"
	}
	about := map[outcome][2]string{
		failed:     {not, fails + ". The message says which operations contradict each other, or which one cannot happen."},
		undecided:  {"Undecided: " + words, "A limit was reached, or an interrupt came, before it was decided whether " + holds + "."},
		vacuous:    {"Vacuous", "The verdict is valid, but none of the answers says anything that could be wrong: the test may never have reached its system."},
		notJudged:  {"Not judged", "The run is skipped, it has no operations, or no model of clew is of its test. Nothing of it is lost."},
		unreadable: {"Not checked: " + words, "The history could not be read, or clew failed, so nothing is known of it."},
	}[c.outcome]
	if means := models.AnomalyOf(c.rule).Meaning(); means != "" && c.outcome == failed {
		about[1] = means + " " + about[1]
	}
	if c.rule == "unknown-"+string(jepsen.InitialValue) {
		about[1] = "The history is linearizable from the initial value that its first reads show, and not from the model's default: say which it had."
	}
	if c.rule == "unknown-"+string(jepsen.Reading) {
		about[1] = "The verdict depends on what nobody has said, such as whether the first elements of values are keys: the message says which flags say it."
	}
	*rules = append(*rules, sarifRule{c.rule, sarifText{about[0]}, sarifText{about[1]}, sarifText{about[1]}})
	return len(*rules) - 1
}

// locations returns the location of a place, or none if the place is not in a file.
func locations(at Place) []sarifLocation {
	if at.File == "" {
		return nil
	}
	return []sarifLocation{location(at)}
}

func location(at Place) sarifLocation {
	var l sarifLocation
	l.Physical.Artifact = artifact(at.File)
	if at.Line > 0 {
		l.Physical.Region = &sarifRegion{at.Line, at.Col}
	}
	return l
}

// artifact returns the URI of a file. A relative one is below a base.
func artifact(file string) sarifArtifact {
	if filepath.IsAbs(file) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(file, "/")}).String()}
	}
	a := sarifArtifact{URI: (&url.URL{Path: path.Clean(file)}).String(), Base: sarifRoot}
	if strings.HasPrefix(a.URI, "../") {
		a.Base = "" // it is not below the base
	}
	return a
}
