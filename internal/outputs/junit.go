package outputs

import (
	"clew/internal/option"
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"
)

// JUnit has no standard except what Ant, Jenkins and GitLab read:
//
//	<testsuites> <testsuite tests failures errors skipped time>
//	  <testcase classname name file line time> <failure message type> TEXT
//
// A failure is a history that is not linearizable. An error is one that could not be read
// or decided. Skipped are vacuous histories, runs that are not judged, and undecided histories if these shall pass.
type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string         `xml:"classname,attr"`
	Name    string         `xml:"name,attr"`
	File    string         `xml:"file,attr,omitempty"`
	Line    int            `xml:"line,attr,omitempty"`
	Time    string         `xml:"time,attr,omitempty"`
	Reading *junitProperty `xml:"properties>property"`
	Failure *junitProblem  `xml:"failure"`
	Error   *junitProblem  `xml:"error"`
	Skipped *junitProblem  `xml:"skipped"`
}

// junitProperty says which of several readings of a history was taken.
type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

var junit = Output{Name: "junit", For: Pipelines, All: junitXML}

func junitXML(records []Record, o *Options) string {
	all, ms := casesOf(records), 0.0
	for _, r := range records {
		ms += r.Ms
	}
	suite := junitSuite{Name: "clew", Tests: len(all), Time: seconds(ms)}
	for _, c := range all {
		at := c.place()
		t := junitCase{Class: c.suite, Name: c.name, File: at.File, Line: at.Line}
		if c.ms > 0 {
			t.Time = seconds(c.ms)
		}
		if c.reading != "" {
			t.Reading = &junitProperty{"reading", c.reading}
		}
		p := &junitProblem{Message: c.says, Type: c.rule, Text: c.text()}
		switch {
		case c.outcome == passed:
		case c.outcome == failed:
			suite.Failures++
			t.Failure = p
		case c.passes(o):
			suite.Skipped++
			t.Skipped = &junitProblem{Message: c.says}
		default:
			suite.Errors++
			t.Error = p
		}
		suite.Cases = append(suite.Cases, t)
	}
	text, err := xml.MarshalIndent(junitSuites{Suite: suite}, "", "  ")
	if err != nil {
		panic(err) // it is numbers and text
	}
	return xml.Header + string(text) + "\n"
}

func seconds(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }

// text returns a case's sentence, where it fails, and its core.
func (c *testCase) text() string {
	var b strings.Builder
	b.WriteString(c.says + "\n")
	if at := c.place(); at.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d\n", cmp.Or(at.File, c.name), at.Line, at.Col)
	}
	switch {
	case c.Failure == nil:
	case c.Large > 0:
		fmt.Fprintf(&b, "\n%d operations fail by themselves (%s has them)\n", c.Large, option.Core)
	case len(c.Core) > 0:
		b.WriteString("\nThese operations fail by themselves:\n" + strings.Join(c.Core, "\n") + "\n")
	}
	return b.String()
}
