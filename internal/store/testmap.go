package store

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"clew/edn"
	"clew/internal/fressian"
	"clew/internal/limits"
	"clew/internal/opmap"
	"clew/internal/option"
	"clew/internal/samerun"
	"clew/internal/testfile"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// The map of a test says what the test asked for. Jepsen keeps it in test.jepsen, older versions in test.fressian, and
// prints it at the beginning of jepsen.log.

// testMaps are the files that have the map of a test. If two of them differ in what they ask for, none counts. One that is of
// another test than the history does not count either.
var testMaps = []string{"test.jepsen", logFile, "test.edn", "test.fressian"}

// TestMap is what the map of a test says.
type TestMap struct {
	By      string         // the file
	Level   models.Level   // the level of consistency that the test asked for, "" if it does not say
	Unknown string         // all levels, if clew does not decide some of them, or not all at once; Level is "" then
	As      string         // what the map calls the level
	Implied []models.Level // levels that clew decides, and that hold wherever the Unknown do
	Differs string         // what another map says, which differs; "" if none does
	Init    string         // the initial value as EDN, "" if it does not say
	Name    string         // of the test
	Start   time.Time      // of the test, zero if that is not known
	Named   []Named        // the first events of its history, if the file has it
	Wrong   string         // why the file does not count, or ""
	get     func(key string) (edn.Value, bool)
}

// tells returns what a map says to a model of the initial value without giving it, or "".
func (m *TestMap) tells(d *models.Definition) string {
	if d.FromTest == nil || m.get == nil {
		return ""
	}
	return d.FromTest(m.get)
}

// says names the levels of a map.
func (m *TestMap) says() string { return cmp.Or(m.Unknown, string(m.Level)) }

// with returns what a map says together with the next one.
func (m *TestMap) with(next *TestMap) *TestMap {
	switch {
	case m == nil || next == nil:
		return cmp.Or(m, next)
	case m.Differs != "":
	case m.otherTest(next) != "":
		m.Differs = m.otherTest(next)
		m.Level, m.Implied = "", nil
	case next.says() == "":
	case m.says() == "":
		next.Name, next.Start = cmp.Or(next.Name, m.Name), either(next.Start.IsZero(), m.Start, next.Start)
		return next
	case next.says() != m.says():
		m.Differs = fmt.Sprintf("it asked for %s according to %s, and for %s according to %s", m.says(), m.By, next.says(), next.By)
		m.Level, m.Implied = "", nil
	}
	return m
}

func either[T any](is bool, one, other T) T {
	if is {
		return one
	}
	return other
}

// otherTest says how two maps show that they are of different tests, or "".
func (m *TestMap) otherTest(next *TestMap) string {
	switch {
	case m.By == next.By: // a log has the options of the test and the test, which may have other names
	case m.Name != "" && next.Name != "" && m.Name != next.Name:
		return fmt.Sprintf("it is called %s according to %s, and %s according to %s", text.Shorten(m.Name, maxTestName), m.By, text.Shorten(next.Name, maxTestName), next.By)
	case !m.Start.IsZero() && !next.Start.IsZero() && !m.Start.Equal(next.Start):
		return fmt.Sprintf("it began at %s according to %s, and at %s according to %s", m.Start.UTC().Format(shownTime), m.By, next.Start.UTC().Format(shownTime), next.By)
	}
	return ""
}

const (
	maxTestName = 60 // characters of it in a message
	shownTime   = "2006-01-02 15:04:05.000"
)

// startTimes are the forms of the time at which a test began: in names of folders, and as it is printed.
var startTimes = []string{"20060102T150405.000Z0700", "20060102T150405Z0700", "2006-01-02T15:04:05.000Z07:00", "2006-01-02T15:04:05Z07:00"}

// startOf reads the time at which a test began. It is zero if that cannot be read.
func startOf(printed string) time.Time {
	for _, form := range startTimes {
		if at, err := time.Parse(form, printed); err == nil {
			return at
		}
	}
	return time.Time{}
}

// contradicts says why a map is not of the test of a history in a folder, or "".
func (m *TestMap) contradicts(s Source, h *jepsen.History) string {
	if m.Wrong != "" {
		return m.Wrong
	}
	run, err := filepath.Abs(filepath.Dir(filepath.FromSlash(s.Path)))
	if err != nil {
		return ""
	}
	run = filepath.ToSlash(run)
	if began := startOf(path.Base(run)); !began.IsZero() && !m.Start.IsZero() {
		if !began.Equal(m.Start) {
			return fmt.Sprintf("it is of a test that began at %s", m.Start.UTC().Format(shownTime))
		}
	} else if test := path.Base(path.Dir(run)); IsRunFolder(path.Base(run)) && m.Name != "" && inFolder(m.Name) != inFolder(test) {
		return fmt.Sprintf("it is of the test %s", text.Shorten(m.Name, maxTestName))
	}
	if missing := missingFrom(h, m.Named); len(missing) > 0 {
		return "it is of another history, with " + missing[0].Text
	}
	return ""
}

// inFolder returns the letters and digits of the name of a test, which the name of its folder also has.
func inFolder(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// levelKeys are the keys under which tests have their level. The first one counts: :isolation may be only what the
// database was set to.
var levelKeys = []string{"consistency-models", "consistency-model", "expected-consistency-model", "isolation"}

// Limits of what is read of the map of a test.
const (
	maxTestMap  = 16 << 20 // bytes of a test.edn or test.fressian; longer ones are ignored
	maxLogHead  = 1 << 20  // bytes of a jepsen.log
	maxLogLines = 200      // before its map
)

// warning says which levels are not decided, or "".
func (m *TestMap) warning() string {
	switch {
	case m.Differs != "":
		return fmt.Sprintf("the files beside it contradict each other about its test: %s; clew decides %s", m.Differs, models.StrictSerializable)
	case m.Unknown != "" && len(m.Implied) > 0:
		return fmt.Sprintf("according to %s its test asked for %s, which clew does not decide; without %s it decides %s, which that implies", m.By, m.Unknown, option.Consistency, m.Implied[0])
	case m.Unknown != "":
		return fmt.Sprintf("according to %s its test asked for %s, which clew does not decide; only %s would imply it", m.By, m.Unknown, models.StrictSerializable)
	}
	return ""
}

// testMaps returns what the files beside a history say of its test. What cannot be read says nothing.
func (s Source) testMaps(ctx context.Context, h *jepsen.History, memory int64) (all []*TestMap) {
	if s.Path == "-" || !IsOfRun(filepath.ToSlash(s.Path)) {
		return nil
	}
	for _, name := range testMaps {
		beside, ok := s.beside(name)
		if !ok {
			continue
		}
		m := beside.asked
		if !beside.InOrder {
			m = beside.readTestMap(ctx, name, memory)
			if m != nil && m.Wrong == "" && name == logFile && h.File != beside.Path {
				m.Wrong = beside.logOfAnother(ctx, h)
			}
		}
		if m != nil {
			all = append(all, m)
		}
	}
	return all
}

// mostCompared bounds the events at the beginning of a log that are compared with those of the history.
const mostCompared = 1000

// logOfAnother says that the events at the beginning of a log are not those of a history, or "". A log that prints none, or
// that cannot be read, says nothing.
func (s Source) logOfAnother(ctx context.Context, h *jepsen.History) string {
	in, err := s.openRegular(ctx)
	if err != nil {
		return ""
	}
	defer in.Close()
	head, err := io.ReadAll(limits.Reader(ctx, io.LimitReader(in, maxLogHead), 0))
	if err != nil {
		return ""
	}
	head = head[:bytes.LastIndexByte(head, '\n')+1]
	logged, err := forms.ReadWithin(ctx, bytes.NewReader(head), s.Path, jepsen.Options{})
	if err != nil || !everyEvent(logged) || !everyEvent(h) || len(logged.Type) == 0 {
		return ""
	}
	if !samerun.Begins(h, samerun.First(logged, mostCompared, h.Values)) {
		return "the events that it printed are not those of the history"
	}
	return ""
}

// everyEvent reports whether a history has every event of a client that its file has.
func everyEvent(h *jepsen.History) bool { return h.Events-h.Skipped == len(h.Type) }

// beside returns a file with another name in the folder of a history.
func (s Source) beside(name string) (Source, bool) {
	switch {
	case s.sibling != nil:
		return s.sibling(name)
	case s.open != nil && !s.local || s.stdin != nil:
		return Source{}, false
	}
	beside := Source{Path: filepath.Join(filepath.Dir(s.Path), name)}
	info, err := os.Stat(beside.Path)
	return beside, err == nil && info.Mode().IsRegular()
}

func (s Source) readTestMap(ctx context.Context, name string, memory int64) *TestMap {
	in, err := s.openRegular(ctx)
	if err != nil {
		return nil
	}
	defer in.Close()
	if name != "test.jepsen" {
		return readTestMap(ctx, name, in)
	}
	f, isFile := in.(*os.File)
	if !isFile {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	test, err := testfile.Open(ctx, f, info.Size(), s.Path, memory)
	if err != nil {
		return nil
	}
	v := edn.NewValues()
	m, err := test.Test(v)
	if err != nil {
		return nil
	}
	found := testMapIn(name, m, v)
	if found != nil {
		found.Named = firstOf(test)
	}
	return found
}

// errEnough ends the reading of a test.jepsen.
var errEnough = errors.New("enough was read")

// firstOf returns the first events of clients in a test.jepsen.
func firstOf(test *testfile.File) (first []Named) {
	v := edn.NewValues()
	err := test.Events(v, func(e *opmap.Event) error {
		if v.Kind(e.Process) != edn.KindInt {
			return nil
		}
		n := Named{Process: v.Text(e.Process), F: v.Text(e.F), Value: v.Text(e.Value), Index: e.Index, HasIndex: e.Has&opmap.HasIndex != 0}
		n.Text = text.Shorten(fmt.Sprintf("%s of %s by process %s at index %d", n.F, n.Value, n.Process, n.Index), maxNamedText)
		if first = append(first, n); len(first) == maxNamed {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil
	}
	return first
}

// readTestMap reads a file with one of the names of testMaps, except a test.jepsen.
func readTestMap(ctx context.Context, name string, in io.Reader) *TestMap {
	v := edn.NewValues()
	in = limits.Reader(ctx, in, 0)
	if name == logFile {
		var all *TestMap
		head := bufio.NewReader(in)
		if begins, _ := head.Peek(1); len(begins) > 0 && begins[0] == 0 {
			return &TestMap{By: name, Wrong: "it begins with bytes that are 0, so what was there is lost"}
		}
		in = head
		for _, printed := range printedMaps(in) {
			if m, err := v.ParseLenient(printed); err == nil {
				all = all.with(testMapIn(name, m, v))
			}
		}
		return all
	}
	all, err := io.ReadAll(io.LimitReader(in, maxTestMap+1))
	if err != nil || len(all) > maxTestMap {
		return nil
	}
	m := edn.Nil
	if name == "test.edn" {
		m, err = v.ParseLenient(all)
	} else {
		r := fressian.NewReader(all, edn.Pos{File: name}, v)
		m, err = r.Value(), r.Err()
	}
	if err != nil {
		return &TestMap{By: name, Wrong: fmt.Sprintf("it cannot be read: %v", err)}
	}
	return testMapIn(name, m, v)
}

// printedMaps returns the maps that Jepsen printed at the beginning of a log: the options of the test, and the test.
// Behind the line that announces a map, all lines are indented or begin with its bracket.
func printedMaps(in io.Reader) (maps [][]byte) {
	lines := bufio.NewScanner(io.LimitReader(in, maxLogHead))
	lines.Buffer(nil, maxLogHead)
	var m []byte
	announced := false
	end := func() {
		if len(m) > 0 {
			maps = append(maps, bytes.Clone(m))
		}
		m, announced = nil, false
	}
	for n := 0; n < maxLogLines && lines.Scan(); {
		line := lines.Bytes()
		if announced && len(line) > 0 && (line[0] == ' ' || line[0] == '{' && len(m) == 0) {
			m = append(append(m, line...), '\n')
			continue
		}
		n++
		end()
		announced = bytes.HasSuffix(line, []byte("Running test:")) || bytes.HasSuffix(line, []byte("Test options:"))
	}
	end()
	return maps
}

// testMapIn returns what the map of a test says, or nil.
func testMapIn(by string, m edn.ID, v *edn.Values) *TestMap {
	if v.Kind(m) == edn.KindTagged {
		m = v.Items(m)[0]
	}
	if v.Kind(m) != edn.KindMap {
		return nil
	}
	found := &TestMap{By: by}
	for _, key := range levelKeys {
		if said, ok := v.Get(m, v.InternKeyword(key)); ok && said != edn.Nil {
			if asks := levelsSaid(by, said, v); asks != nil {
				found = asks
				break
			}
		}
	}
	found.get = func(key string) (edn.Value, bool) {
		id, ok := v.Get(m, v.InternKeyword(key))
		return v.Value(id), ok
	}
	if name, ok := v.Get(m, v.InternKeyword("name")); ok && v.Kind(name) == edn.KindString {
		found.Name = v.Str(name)
	}
	if init, ok := v.Get(m, v.InternKeyword("initial-value")); ok {
		found.Init = v.Text(init)
	}
	start, _ := v.Get(m, v.InternKeyword("start-time"))
	found.Start = startOf(lastString(v, start))
	if history, ok := v.Get(m, v.InternKeyword("history")); ok {
		c := claims{v: v}
		for _, e := range v.Items(history) {
			if n, is := c.event(c.fields(e), false); is && v.Kind(history) != edn.KindMap && len(found.Named) < maxNamed {
				found.Named = append(found.Named, n)
			}
		}
	}
	return found
}

// lastString returns a string, or the last one in a form that stands for an object.
func lastString(v *edn.Values, id edn.ID) (last string) {
	if v.Kind(id) == edn.KindString {
		return v.Str(id)
	}
	for _, item := range v.Items(id) {
		if s := lastString(v, item); s != "" {
			last = s
		}
	}
	return last
}

// levelsSaid returns the level that one name or a collection of them asks for: of several, the one that implies the
// others.
func levelsSaid(by string, said edn.ID, v *edn.Values) *TestMap {
	var names []edn.ID
	switch v.Kind(said) {
	case edn.KindKeyword, edn.KindString, edn.KindSymbol:
		names = []edn.ID{said}
	case edn.KindVector, edn.KindList, edn.KindSet:
		names = v.Items(said)
	}
	m := &TestMap{By: by}
	var known []models.Level
	var unknown []string
	for _, id := range names {
		name := strings.TrimPrefix(v.Text(id), ":")
		if v.Kind(id) == edn.KindString {
			name = v.Str(id)
		}
		if level, err := models.ParseLevel(name); err != nil {
			unknown = append(unknown, text.Shorten(name, 40))
			m.imply(models.Implied(name))
		} else if level != "" {
			known = append(known, level)
			m.imply(level)
			m.As = name
		}
	}
	for _, level := range known {
		if m.Level == "" || level.Implies(m.Level) {
			m.Level = level
		}
	}
	for _, level := range known {
		if !m.Level.Implies(level) {
			unknown = append(unknown, string(level))
		}
	}
	if len(known)+len(unknown) == 0 {
		return nil
	}
	if len(unknown) > 0 {
		if m.Level != "" {
			unknown = append([]string{string(m.Level)}, unknown...)
		}
		m.Level, m.Unknown, m.As = "", text.AllOf(unknown), text.AllOf(unknown)
	} else if len(known) > 1 {
		m.As = string(m.Level)
	}
	return m
}

// imply notes a level that holds if what was asked for does, the strongest first.
func (m *TestMap) imply(level models.Level) {
	switch {
	case level == "":
	case len(m.Implied) > 0 && level.Implies(m.Implied[0]):
		m.Implied = slices.Insert(m.Implied, 0, level)
	default:
		m.Implied = append(m.Implied, level)
	}
}
