package store

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"clew/edn"
	"clew/internal/fressian"
	"clew/internal/limits"
	"clew/internal/testfile"
	"clew/internal/text"
	"clew/models"
)

// The map of a test says what the test asked for. Jepsen keeps it in test.jepsen, older versions in test.fressian, and
// prints it at the beginning of jepsen.log.

// testMaps are the files that have the map of a test. If two of them differ in what they ask for, none counts.
var testMaps = []string{"test.jepsen", "jepsen.log", "test.edn", "test.fressian"}

// TestMap is what the map of a test says.
type TestMap struct {
	By      string       // the file
	Level   models.Level // the level of consistency that the test asked for, "" if it does not say
	Unknown string       // all levels, if clew does not decide some of them, or not all at once; Level is "" then
	Differs string       // what another map says, which differs; "" if none does
}

// says names the levels of a map.
func (m *TestMap) says() string { return cmp.Or(m.Unknown, string(m.Level)) }

// with returns what a map says together with the next one.
func (m *TestMap) with(next *TestMap) *TestMap {
	switch {
	case m == nil:
		return next
	case next != nil && m.Differs == "" && next.says() != m.says():
		m.Differs = fmt.Sprintf("for %s according to %s, and for %s according to %s", m.says(), m.By, next.says(), next.By)
		m.Level = ""
	}
	return m
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
		return fmt.Sprintf("its test asked %s; clew decides %s", m.Differs, models.StrictSerializable)
	case m.Unknown != "":
		return fmt.Sprintf("according to %s its test asked for %s, which clew does not decide; it decides %s", m.By, m.Unknown, models.StrictSerializable)
	}
	return ""
}

// testMap returns what the map of the test says about a history, or nil. What cannot be read says nothing.
func (s Source) testMap(ctx context.Context, memory int64) (all *TestMap) {
	if s.Path == "-" || !IsOfRun(filepath.ToSlash(s.Path)) {
		return nil
	}
	for _, name := range testMaps {
		beside, ok := s.beside(name)
		if !ok {
			continue
		}
		asked := beside.asked
		if !beside.InOrder {
			asked = beside.readTestMap(ctx, name, memory)
		}
		all = all.with(asked)
	}
	return all
}

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
	return testMapIn(name, m, v)
}

// readTestMap reads a file with one of the names of testMaps, except a test.jepsen.
func readTestMap(ctx context.Context, name string, in io.Reader) *TestMap {
	v := edn.NewValues()
	in = limits.Reader(ctx, in, 0)
	if name == "jepsen.log" {
		var all *TestMap
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
		return nil
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
	for _, key := range levelKeys {
		if said, ok := v.Get(m, v.InternKeyword(key)); ok && said != edn.Nil {
			if found := levelsSaid(by, said, v); found != nil {
				return found
			}
		}
	}
	return nil
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
		} else if level != "" {
			known = append(known, level)
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
		m.Level, m.Unknown = "", text.AllOf(unknown)
	}
	return m
}
