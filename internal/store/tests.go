package store

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/text"
)

// Tests say how to read the histories of a store's tests, by the name of the test.
type Tests map[string]Reading

// ReadTests reads a file of models: a map from a test's name to a model's name, or to a map of model flags,
// such as
//
//	{"etcd" :cas-register, "redis" {:model :register, :init 0, :independent true}, "*" :set}
//
// :skip in place of a model leaves a test out. "*", if present, covers all other tests. Names are strings, keywords or symbols. If a test's map leaves something
// out, normal counts. The path of a model file is relative to the file of models.
func ReadTests(ctx context.Context, path string, memory int64, normal Settings) (Tests, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(limits.Whole(ctx, f, memory))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	v := edn.NewValues()
	id, err := v.Parse(text, edn.Pos{File: path, Line: 1, Col: 1})
	if err != nil {
		return nil, err
	}
	if v.Kind(id) != edn.KindMap {
		return nil, fmt.Errorf("%s: expected a map from tests to models, found %s", path, v.Text(id))
	}
	all := Tests{}
	for kvs := v.Items(id); len(kvs) > 0; kvs = kvs[2:] {
		test := name(v, kvs[0])
		if _, twice := all[test]; twice {
			return nil, fmt.Errorf("%s: expected a test once, found %s twice", path, test)
		}
		if v.Kind(kvs[1]) == edn.KindKeyword && name(v, kvs[1]) == skipped {
			all[test] = Reading{Skip: true}
			continue
		}
		own, err := settingsOf(v, kvs[1], normal)
		if file, given := own["model-file"]; given && file != normal["model-file"] && !filepath.IsAbs(file) {
			own["model-file"] = filepath.Join(filepath.Dir(path), file)
		}
		if err == nil {
			all[test], err = NewReading(own)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, test, err)
		}
	}
	return all, nil
}

// skipped, in place of a model, says that a test is not to be judged.
const skipped = "skip"

// otherTests stands for the tests that a file of models does not name.
const otherTests = "*"

// Of returns how to read a history, or false if the file does not say.
func (t Tests) Of(s Source) (own Reading, ok bool) {
	if t == nil {
		return own, false
	}
	if own, ok = t[s.TestName()]; !ok {
		own, ok = t[otherTests]
	}
	return own, ok
}

// settingsOf returns what a test's map says, and what normal says for everything else.
func settingsOf(v *edn.Values, id edn.ID, normal Settings) (Settings, error) {
	own := maps.Clone(normal)
	if v.Kind(id) != edn.KindMap {
		own.take("model", name(v, id))
		return own, nil
	}
	seen := map[string]bool{}
	for kvs := v.Items(id); len(kvs) > 0; kvs = kvs[2:] {
		flag := name(v, kvs[0])
		if seen[flag] {
			return nil, fmt.Errorf("expected a key once, found :%s twice", flag)
		}
		seen[flag] = true
		if !slices.Contains(SettingNames, flag) {
			return nil, fmt.Errorf("unknown key %s; it may have %s", v.Text(kvs[0]), ":"+strings.Join(SettingNames, ", :"))
		}
		own.take(flag, name(v, kvs[1]))
		if flag == "init" {
			own[flag] = v.Text(kvs[1]) // any EDN value
		}
	}
	return own, nil
}

// take sets a flag. A model and a model file replace each other.
func (s Settings) take(flag, value string) {
	switch flag {
	case "model":
		delete(s, "model-file")
	case "model-file":
		delete(s, "model")
	}
	s[flag] = value
}

// name returns the text of a keyword, symbol or string without the characters that mark it as one.
func name(v *edn.Values, id edn.ID) string {
	if v.Kind(id) == edn.KindString {
		return v.Str(id)
	}
	return strings.TrimPrefix(v.Text(id), ":")
}

// mostNames is how much of the names is told.
const mostNames = 200

// Unused returns an error about tests that are not among the names of those found: they may be misspelled.
func (t Tests) Unused(names []string) error {
	var missing []string
	for test := range t {
		if !slices.Contains(names, test) && test != otherTests {
			missing = append(missing, test)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	found := slices.Compact(slices.Sorted(slices.Values(names)))
	return fmt.Errorf("no history belongs to the test %s; the tests that were found are called %s", text.OneOf(missing),
		text.Shorten(strings.Join(found, ", "), mostNames))
}
