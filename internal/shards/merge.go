package shards

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"clew/internal/files"
	"clew/internal/option"
	"clew/internal/outputs"
	"clew/internal/store"
	"clew/jepsen"
	"clew/report"
)

// Merger puts shards together. It holds all lines, some 2 kB each. The zero Merger has no shards.
type Merger struct {
	lines   []Line
	shards  []read
	cut     map[string]bool // the shards of which a part is known
	damaged []error
}

// read is a whole shard that has been read.
type read struct {
	Trailer
	shard store.Shard
	name  string // of its input
}

// Read reads the lines of one shard, or those of several in sequence. name stands for
// them in errors. The error is that of r; Lines reports what is wrong with the shards.
func (m *Merger) Read(r io.Reader, name string) error {
	in := bufio.NewReaderSize(r, 1<<16)
	part := &piece{m: m, name: name}
	for n := 1; ; n++ {
		line, err := readLine(in)
		if err == errLong {
			return fmt.Errorf("%s: line %d is longer than %d MB, so it is not of a shard", name, n, maxLine>>20)
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", name, files.Reason(err))
		}
		if err == io.EOF {
			part.end(n, line)
			return nil
		}
		if len(bytes.TrimSpace(line)) > 0 && !part.take(n, line) {
			return nil // part has noted the reason
		}
	}
}

// maxLine bounds a line. That of a history of a million failing keys has 20 MB.
const maxLine = 128 << 20

var errLong = errors.New("the line is too long")

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		some, err := in.ReadSlice('\n')
		if line = append(line, some...); len(line) > maxLine {
			return nil, errLong
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// piece is a shard that is being read.
type piece struct {
	m     *Merger
	name  string
	any   bool // something was read
	older bool // it has been reported that lines have no checksum
	bad   int  // lines that make no sense
	shard string
	lines []Line
	Trailer
}

func (p *piece) wrong(format string, args ...any) {
	p.m.damaged = append(p.m.damaged, fmt.Errorf(format, args...))
}

// take takes a line, and says whether to continue.
func (p *piece) take(n int, text []byte) bool {
	var l struct {
		Line
		Trailer *Trailer `json:"trailer"`
	}
	p.any = true
	switch err := json.Unmarshal(text, &l); {
	case err != nil:
		return p.nonsense(n, err.Error())
	case l.Trailer != nil:
		p.finish(n, *l.Trailer)
		p.checked(n, "the trailer of shard "+l.Trailer.Shard, text)
		return true
	case l.Run.Shard == "":
		return p.nonsense(n, "it has no shard")
	case p.shard != "" && p.shard != l.Run.Shard:
		p.cutShort()
	}
	p.shard = l.Run.Shard
	p.lines = append(p.lines, l.Line)
	p.Count(&l.Line, p.checked(n, "a line of shard "+l.Run.Shard, text))
	return true
}

// checked returns the checksum of a line. It notes a line that was changed.
func (p *piece) checked(n int, what string, text []byte) Sum {
	sum, sealed, whole := unsealed(bytes.TrimSpace(text))
	switch {
	case sealed && !whole:
		p.wrong("%s:%d: %s is damaged: its checksum does not match; run the shard again", p.name, n, what)
	case !sealed && !p.older:
		p.older = true
		p.wrong("%s:%d: %s has no checksum, as those of older versions of clew; run the shard again", p.name, n, what)
	}
	return sum
}

// nonsense takes a line that is not from a shard, and says whether to continue.
// One such line may stand where a shard was cut off and another one follows;
// several mean that this is another file.
func (p *piece) nonsense(n int, why string) bool {
	at := ""
	if p.shard != "" {
		at = "shard " + p.shard + ": "
		p.m.lost(p.shard)
	}
	p.wrong("%s:%d: %sthis is not a line of %s: %s", p.name, n, at, option.Shard, why)
	p.shard, p.lines, p.Trailer = "", nil, Trailer{}
	p.bad++
	return p.bad == 1
}

// finish takes a trailer, which completes a shard.
func (p *piece) finish(n int, t Trailer) {
	if p.shard != "" && p.shard != t.Shard {
		p.cutShort()
	}
	counted := p.Trailer
	counted.Shard, counted.List, counted.Listed, counted.Settings, counted.Unwritten = t.Shard, t.List, t.Listed, t.Settings, t.Unwritten
	counted.Inputs, counted.Clew = t.Inputs, t.Clew
	sums := counted.Sums
	counted.Sums = t.Sums
	shard, err := store.ParseShard(t.Shard, func(string) string { return "" })
	if err != nil {
		p.wrong("%s:%d: the trailer has no shard: %w", p.name, n, err)
	} else {
		p.m.shards = append(p.m.shards, read{t, shard, p.name})
	}
	if counted != t {
		p.wrong("%s:%d: shard %s is damaged: its trailer counts %d lines (%d valid, %d invalid, %d unknown, %d unreadable), and there are %d (%d, %d, %d, %d)", p.name, n,
			t.Shard, t.Lines, t.Valid, t.Invalid, t.Unknown, t.Unreadable, counted.Lines, counted.Valid, counted.Invalid, counted.Unknown, counted.Unreadable)
	} else if sums != t.Sums {
		p.wrong("%s:%d: shard %s is damaged: its lines do not match its trailer; run it again", p.name, n, t.Shard)
	}
	p.m.lines = append(p.m.lines, p.lines...)
	p.shard, p.lines, p.Trailer = "", nil, Trailer{}
}

// cutShort notes that the current shard has no trailer.
func (p *piece) cutShort() {
	p.wrong("%s: shard %s was cut short after %d histories: it has no trailer; run it again", p.name, p.shard, p.Lines)
	p.m.lost(p.shard)
	p.shard, p.lines, p.Trailer = "", nil, Trailer{}
}

func (m *Merger) lost(shard string) {
	if m.cut == nil {
		m.cut = map[string]bool{}
	}
	m.cut[shard] = true
}

// end handles the end of the input, and the rest of a line without an end.
func (p *piece) end(n int, torn []byte) {
	torn = bytes.TrimSpace(torn)
	switch {
	case len(torn) > 0 && p.shard != "":
		p.wrong("%s:%d: shard %s was cut off in the middle of this line, after %d histories; run it again", p.name, n, p.shard, p.Lines)
		p.m.lost(p.shard)
	case len(torn) > 0:
		p.wrong("%s:%d: a shard was cut off in the middle of this line; run it again", p.name, n)
	case p.shard != "":
		p.cutShort()
	case !p.any:
		p.wrong("%s: it is empty: a shard was cut short before its first line; run it again", p.name)
	}
}

// Lines returns the whole list in its order, as if one run had checked it. The error
// joins everything that is wrong: shards that are missing, doubled, foreign or cut short.
func (m *Merger) Lines() ([]Line, error) {
	wrong := slices.Clone(m.damaged)
	if len(m.shards) > 0 {
		wrong = append(wrong, m.disagreements()...)
	}
	if len(m.shards)+len(m.damaged) == 0 {
		return nil, errors.New("there is no shard")
	}
	if len(wrong) > 0 || len(m.shards) == 0 {
		return nil, errors.Join(wrong...)
	}
	slices.SortStableFunc(m.lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Run.At, b.Run.At), cmp.Compare(a.Run.Member, b.Run.Member))
	})
	n := m.shards[0].Listed
	all := make([]Line, 0, max(n, len(m.lines)))
	want := Place{} // the place of the next history
	for rest := m.lines; len(rest) > 0; {
		first := rest[0].Run
		same := 1
		for same < len(rest) && rest[same].Run.Place == first.Place {
			same++
		}
		if want.Member == 0 {
			want.Members = first.Members
		}
		switch lines := m.expected(rest[:same]); {
		case first.Place != want || first.At >= n:
			return nil, fmt.Errorf("a line is that of %s of %d (%s), expected one of %s: these are not shards of one list", first.Place, n, rest[0].File, want)
		case same != lines:
			return nil, fmt.Errorf("%s of %d (%s) has %d lines, expected %d: these are not shards of one list", first.Place, n, rest[0].File, same, lines)
		}
		if err := differing(rest[:same]); err != nil {
			wrong = append(wrong, err)
		}
		all = append(all, together(rest[:same]))
		rest = rest[same:]
		if want.Member++; want.Member >= want.Members {
			want = Place{At: want.At + 1}
		}
	}
	if want != (Place{At: n}) {
		return nil, fmt.Errorf("%s of %d has no line: these are not shards of one list", want, n)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return all, nil
}

// differing returns an error if parts belong to different histories. It skips a
// part that was not read to its end, which makes the whole unknown.
func differing(lines []Line) error {
	var first *Line
	for i := range lines {
		l := &lines[i]
		switch {
		case l.Run.Part == nil || l.Valid == jepsen.Unknown && l.Run.Part.Read == "":
		case first == nil:
			first = l
		case l.Run.Part.Read != first.Run.Part.Read:
			a, b := first.Run, l.Run
			return fmt.Errorf("%s: shards %s and %s read different histories under this name (SHA-256 %s and %s); check the same store again with one of them", l.File, a.Shard, b.Shard, a.Part.Read, b.Part.Read)
		}
	}
	return nil
}

// String returns a place in words.
func (p Place) String() string {
	if p.Members > 1 {
		return fmt.Sprintf("history %d (member %d of %d)", p.At+1, p.Member+1, p.Members)
	}
	return fmt.Sprint("history ", p.At+1)
}

// expected returns how many lines a history should have, given those that it has:
// one from each shard if all of them are about some of its keys.
func (m *Merger) expected(lines []Line) int {
	if slices.ContainsFunc(lines, func(l Line) bool { return l.Run.Part == nil }) {
		return 1
	}
	return m.shards[0].shard.Of
}

// Unwritten returns how much evidence the shards could not write.
func (m *Merger) Unwritten() int {
	n := 0
	for _, s := range m.shards {
		n += s.Unwritten
	}
	return n
}

func (m *Merger) disagreements() (wrong []error) {
	first := m.shards[0]
	in := make(map[int]string, len(m.shards)) // the input of each shard, by number
	for _, s := range m.shards {
		other := ""
		switch {
		case s.shard.Of != first.shard.Of:
			other = "expected shards of one N"
		case s.List != first.List || s.Listed != first.Listed:
			other = fmt.Sprintf("it belongs to a list of %d entries, not of %d; expected the same paths, with the same histories in them", s.Listed, first.Listed)
		case s.Clew != first.Clew:
			other = fmt.Sprintf("it was checked by clew %s, not by clew %s; expected one version", s.Clew, first.Clew)
		case s.Inputs != first.Inputs:
			other = "it belongs to another store, whose files have the same names but different contents; expected the same paths, with the same histories in them"
		case s.Settings != first.Settings:
			other = fmt.Sprintf("it was checked with %s, not with %s; expected the same %s", given(s.Settings), given(first.Settings), option.Given)
		case in[s.shard.I] != "":
			wrong = append(wrong, fmt.Errorf("shard %s occurs twice: in %s and in %s", s.shard, in[s.shard.I], s.name))
			continue
		default:
			in[s.shard.I] = s.name
			continue
		}
		wrong = append(wrong, fmt.Errorf("%s: shard %s does not match %s in %s: %s", s.name, s.shard, first.shard, first.name, other))
	}
	var missing []string
	for i := range first.shard.Of {
		if s := (store.Shard{I: i + 1, Of: first.shard.Of}); in[s.I] == "" && !m.cut[s.String()] {
			missing = append(missing, s.String())
		}
	}
	if len(missing) == 1 {
		wrong = append(wrong, fmt.Errorf("shard %s is missing", missing[0]))
	} else if len(missing) > 1 {
		wrong = append(wrong, fmt.Errorf("%d shards are missing: %s", len(missing), strings.Join(missing, ", ")))
	}
	return wrong
}

func given(settings string) string { return cmp.Or(settings, "no "+option.Given.String()) }

// together returns the answer for a history from the answers about some of its
// keys each. It takes the answer about the key that cannot be read; otherwise
// about the one that fails first, the first undecided one, or the first one.
func together(lines []Line) Line {
	whole := slices.MinFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(order(a), order(b)))
	})
	if whole.Run.Part == nil || rank(whole) < failed {
		return whole // the answer does not depend on keys
	}
	type failure struct {
		row int
		key string
	}
	var failures []failure
	keys, depth, verified, ms := 0, 0, true, 0.0
	var told *outputs.Keys
	for _, l := range lines {
		ms += l.Ms
		if l.Run.Details != nil {
			told = told.Join(l.Run.Details.Keys)
		}
		verified = verified && l.Verified != nil && *l.Verified
		if l.Keys != nil {
			keys += *l.Keys
		}
		for i, key := range l.Failures[:min(len(l.Failures), len(l.Run.Part.Failures))] {
			failures = append(failures, failure{l.Run.Part.Failures[i], key})
		}
		if l.Valid == jepsen.Valid && l.Run.Part.Depth > depth {
			depth = l.Run.Part.Depth
			if whole.Valid == jepsen.Valid {
				whole.Explanation = l.Explanation
			}
		}
		if whole.Valid == jepsen.Valid {
			whole.Vacuous = report.Text(report.VacuousTogether(string(whole.Vacuous), string(l.Vacuous)))
		}
		for _, w := range l.Warnings {
			if !slices.Contains(whole.Warnings, w) {
				whole.Warnings = append(slices.Clip(whole.Warnings), w)
			}
		}
	}
	whole.Ms, whole.Failures = math.Round(ms*1000)/1000, nil
	if told != nil {
		var details outputs.Details
		if whole.Run.Details != nil { // missing only in lines of an older clew
			details = *whole.Run.Details
		}
		details.Keys = told
		whole.Run.Details = &details
	}
	slices.SortFunc(failures, func(a, b failure) int { return cmp.Compare(a.row, b.row) })
	for _, f := range failures {
		whole.Failures = append(whole.Failures, f.key)
	}
	if whole.Verified != nil {
		whole.Verified = &verified
	}
	if whole.Keys != nil {
		whole.Keys = &keys
	}
	return whole
}

// failed is the rank of an invalid history. After it comes one of which it is not known where it fails.
const failed = 2

// rank orders answers so that the one that decides about a history comes first.
func rank(l Line) int {
	switch cause := jepsen.Cause(l.Cause); {
	case l.Valid == jepsen.Valid:
		return failed + 4
	case l.Valid == jepsen.Invalid && l.OpIndex == nil:
		return failed + 1
	case l.Valid == jepsen.Invalid:
		return failed
	case cause == jepsen.Unreadable:
		return 0
	case cause == jepsen.Panicked:
		return 1
	case cause == jepsen.SelfCheckFailed:
		return failed + 2
	}
	return failed + 3
}

// order says which of two answers of the same rank comes first. Only a history
// that could not be read, or one without keys, has an answer without a key. An
// answer about what could not be read has a place in the file, if that is known.
func order(l Line) int {
	switch p := l.Run.Part; {
	case p != nil && rank(l) < failed && l.Run.Details != nil && l.Run.Details.At != nil:
		return l.Run.Details.At.Line
	case p == nil || l.Valid == jepsen.Unknown && p.First < 0:
		return -1
	case l.Valid == jepsen.Invalid:
		return p.Event
	case p.First < 0:
		return math.MaxInt
	default:
		return p.First
	}
}
