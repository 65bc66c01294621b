package outputs

import (
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
// or decided. Skipped are vacuous histories, and undecided ones if these shall pass.
type testSuites struct {
	XMLName xml.Name  `xml:"testsuites"`
	Suite   testSuite `xml:"testsuite"`
}

type testSuite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Time     string     `xml:"time,attr"`
	Cases    []testCase `xml:"testcase"`
}

type testCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	File    string   `xml:"file,attr,omitempty"`
	Line    int      `xml:"line,attr,omitempty"`
	Time    string   `xml:"time,attr,omitempty"`
	Reading *reading `xml:"properties>property"`
	Failure *problem `xml:"failure"`
	Error   *problem `xml:"error"`
	Skipped *problem `xml:"skipped"`
}

// reading says which of several readings of a history was taken.
type reading struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// junit returns the report as JUnit's XML.
func (r *Report) junit() string {
	suite := testSuite{Name: "clew", Tests: len(r.all), Time: seconds(r.ms)}
	for _, c := range r.all {
		at := c.place()
		t := testCase{Class: c.suite, Name: c.name, File: at.File, Line: at.Line}
		if c.ms > 0 {
			t.Time = seconds(c.ms)
		}
		if c.reading != "" {
			t.Reading = &reading{"reading", c.reading}
		}
		p := &problem{Message: c.says, Type: c.rule, Text: c.text()}
		switch {
		case c.outcome == passed:
		case c.outcome == failed:
			suite.Failures++
			t.Failure = p
		case r.passes(&c):
			suite.Skipped++
			t.Skipped = &problem{Message: c.says}
		default:
			suite.Errors++
			t.Error = p
		}
		suite.Cases = append(suite.Cases, t)
	}
	text, err := xml.MarshalIndent(testSuites{Suite: suite}, "", "  ")
	if err != nil {
		panic(err) // it is numbers and text
	}
	return xml.Header + string(text) + "\n"
}

func seconds(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }

// text returns a case's sentence, where it fails, and its core.
func (c *kase) text() string {
	var b strings.Builder
	b.WriteString(c.says + "\n")
	if at := c.place(); at.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d\n", cmp.Or(at.File, c.name), at.Line, at.Col)
	}
	switch {
	case c.Failure == nil:
	case c.Large > 0:
		fmt.Fprintf(&b, "\n%d operations fail by themselves (--core FILE has them)\n", c.Large)
	case len(c.Core) > 0:
		b.WriteString("\nThese operations fail by themselves:\n" + strings.Join(c.Core, "\n") + "\n")
	}
	return b.String()
}
