package usage

import (
	"fmt"
	"strings"
)

// Section is a section of a man page: a title, and paragraphs. Indented text, such as
// examples and tables, stays unchanged.
type Section struct{ Title, Text string }

// Man returns the program's man page in roff, with more sections at its end.
func (p Program) Man(more ...Section) string {
	m := &page{}
	m.request(".TH %s 1 %q %q %q", strings.ToUpper(p.Name), "", p.Name+" "+p.Version, "User Commands")
	m.request(".SH NAME")
	m.text(p.Name + " - " + p.Usage)
	m.request(".SH SYNOPSIS")
	for _, c := range p.Commands {
		m.request(".B %s", escaped(p.Name+" "+c.Name))
		args := c.Args
		if len(c.Flags) > 0 {
			args = strings.TrimSpace("[flags] " + args)
		}
		m.text(args)
		m.request(".br")
	}
	m.request(".SH DESCRIPTION")
	m.text(p.Description)
	m.flags(p.Flags)
	for _, c := range p.Commands {
		m.request(".SH %s", escaped(strings.ToUpper(p.Name+" "+c.Name)))
		m.text(strings.TrimSpace(c.Usage))
		if c.Description != "" {
			m.request(".PP")
			m.text(c.Description)
		}
		m.flags(c.Flags)
	}
	for _, s := range more {
		m.request(".SH %s", escaped(strings.ToUpper(s.Title)))
		m.text(s.Text)
	}
	return m.b.String()
}

type page struct{ b strings.Builder }

func (m *page) request(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

func (m *page) text(text string) {
	example := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n ")
		indented := strings.HasPrefix(line, "   ")
		switch {
		case indented && !example:
			m.request(".PP\n.EX")
		case !indented && example:
			m.request(".EE")
		}
		if example = indented; line == "" {
			m.request(".PP")
			continue
		}
		m.request("%s", escaped(line))
	}
	if example {
		m.request(".EE")
	}
}

func (m *page) flags(flags []Flag) {
	for _, f := range flags {
		m.request(".TP")
		name := `\fB` + escaped(f.Name) + `\fR`
		if f.Value != "" {
			name += ` \fI` + escaped(f.Value) + `\fR`
		}
		m.request("%s", name)
		m.text(f.About)
	}
}

// escaped returns a line of text in which roff finds no requests.
func escaped(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "'", `\(aq`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, `\(aq`) {
		line = `\&` + line
	}
	return line
}
