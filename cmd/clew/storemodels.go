package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
)

// storeModels says how to read the histories of a store's tests, by the name of the test.
type storeModels map[string]reading

// givenModels returns what --models says, or nil if it is not given.
func givenModels(ctx context.Context, c *cli.Context, memory int64) (storeModels, error) {
	file := c.String("models")
	if file == "" {
		return nil, nil
	}
	all, err := readStoreModels(ctx, file, memory, given(c))
	if err != nil {
		return nil, fmt.Errorf("--models: %w", err)
	}
	return all, nil
}

// readStoreModels reads a file of models: a map from a test's name to a model's name, or to a map of model flags,
// such as
//
//	{"etcd" :cas-register, "redis" {:model :register, :init 0, :independent true}, "*" :set}
//
// "*", if present, covers all other tests. Names are strings, keywords or symbols. If a test's map leaves something
// out, the command line counts. The path of a model file is relative to the file of models.
func readStoreModels(ctx context.Context, path string, memory int64, normal settings) (storeModels, error) {
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
	all := storeModels{}
	for kvs := v.Items(id); len(kvs) > 0; kvs = kvs[2:] {
		test := name(v, kvs[0])
		if _, twice := all[test]; twice {
			return nil, fmt.Errorf("%s: expected a test once, found %s twice", path, test)
		}
		own, err := testSettings(v, kvs[1], normal)
		if file, given := own["model-file"]; given && file != normal["model-file"] && !filepath.IsAbs(file) {
			own["model-file"] = filepath.Join(filepath.Dir(path), file)
		}
		if err == nil {
			all[test], err = modelSpec(own)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, test, err)
		}
	}
	return all, nil
}

// otherTests stands for the tests that a file of models does not name.
const otherTests = "*"

// of returns how to read a history, or false if the file does not say.
func (m storeModels) of(s store.Source) (own reading, ok bool) {
	if m == nil {
		return own, false
	}
	if own, ok = m[s.TestName()]; !ok {
		own, ok = m[otherTests]
	}
	return own, ok
}

// testSettings returns what a test's map says, and what normal says for everything else.
func testSettings(v *edn.Values, id edn.ID, normal settings) (settings, error) {
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
		if !slices.Contains(modelFlagNames, flag) {
			return nil, fmt.Errorf("unknown key %s; it may have %s", v.Text(kvs[0]), ":"+strings.Join(modelFlagNames, ", :"))
		}
		own.take(flag, name(v, kvs[1]))
		if flag == "init" {
			own[flag] = v.Text(kvs[1]) // any EDN value
		}
	}
	return own, nil
}

// take sets a flag. A model and a model file replace each other.
func (s settings) take(flag, value string) {
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

// unused returns an error about tests that no history belongs to: they may be misspelled.
func (m storeModels) unused(jobs []*job) error {
	seen := map[string]bool{}
	for _, j := range jobs {
		seen[j.TestName()] = true
	}
	var missing []string
	for test := range m {
		if !seen[test] && test != otherTests {
			missing = append(missing, test)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("--models: no history belongs to the test %s", strings.Join(missing, ", nor of "))
}

// The results of a stored test may say what the command line does not say about its history: its model, the initial
// value, whether there are keys.

// completed returns how to read a job's history: as the command line says, and where it does not, as the results
// beside the history do.
func (r *runner) completed(ctx context.Context, j *job) reading {
	if r.ownResults || j.Path == "-" || !j.incomplete() {
		return j.reading
	}
	told := j.Checked(ctx, r.memory)
	both, more := told.With(j.settings)
	if !more {
		return j.reading
	}
	how, err := modelSpec(known(both))
	if err != nil {
		return j.reading
	}
	how.settings, how.toldBy, how.told = j.settings, told.By, told
	return how
}

// readFile reads the history of a file as clew check does, and returns how to read it further.
func (r *runner) readFile(ctx context.Context, path string) (*jepsen.History, reading, error) {
	source := store.File(path)
	how := r.completed(ctx, &job{Source: source, reading: r.reading})
	o := how.pairing()
	o.Memory = r.memory
	reading, shown := r.showReading(ctx, path)
	defer shown()
	h, err := source.Read(reading, o)
	if err == nil && how.toldBy != "" && !how.fits(h) {
		how = r.reading
	}
	return h, how, err
}

// incomplete reports whether the model or the initial value is not given.
func (r *reading) incomplete() bool {
	if r.modelFile != "" {
		return false
	}
	if r.spec.Name == "" {
		return true
	}
	d, err := r.spec.Definition()
	return err == nil && r.spec.Init == "" && d.Takes(models.ParamInit)
}

// known returns the settings that clew has flags for: a later version may write more.
func known(all settings) settings {
	s := settings{}
	for _, name := range modelFlagNames {
		if value, ok := all[name]; ok {
			s[name] = value
		}
	}
	return s
}

// fits reports whether what results say can be about a history.
func (r *reading) fits(h *jepsen.History) bool {
	spec, _, err := r.spec.Infer(h)
	return err == nil && r.told.Fits(h, spec.Name)
}

// complete sets how to read a job's history.
func (j *job) complete(how reading) {
	if how.toldBy != "" {
		given := j.reading
		j.given, j.reading = &given, how
	}
}
