package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"clew/edn"
	"clew/internal/files"
	"clew/models"
)

// storeModel is how the histories of one test are read.
type storeModel struct {
	spec        models.Spec
	independent bool
}

// storeModels are the models of a store's tests, by the name of the test.
type storeModels map[string]storeModel

// flags are the model flags, wherever they come from.
type flags interface {
	String(name string) string
	Int(name string) int
	IsSet(name string) bool
}

// entryFlags are the flags of one test: its own, else the command line's.
type entryFlags struct {
	*cli.Context
	own map[string]string
}

func (f entryFlags) IsSet(name string) bool {
	_, own := f.own[name]
	return own || f.Context.IsSet(name)
}

func (f entryFlags) String(name string) string {
	if s, own := f.own[name]; own {
		return s
	}
	return f.Context.String(name)
}

func (f entryFlags) Int(name string) int {
	if s, own := f.own[name]; own {
		n := 0
		fmt.Sscan(s, &n) // what is no number is 0, which is refused as too small
		return n
	}
	return f.Context.Int(name)
}

// modelFlagNames are the keys of a test's map: the model flags.
var modelFlagNames = func() []string {
	var names []string
	for _, f := range modelFlags() {
		names = append(names, f.Names()[0])
	}
	return names
}()

// readStoreModels reads a file of models: a map from a test's name to a model's
// name, or to a map of model flags, such as
//
//	{"etcd" :cas-register, "redis" {:model :register, :init 0, :independent true}}
//
// Names are strings, keywords or symbols. What a test's map does not say is as
// on the command line.
func readStoreModels(file string, c *cli.Context) (storeModels, error) {
	f, err := files.Open(file)
	if err != nil {
		return nil, fmt.Errorf("--models: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("--models: %w", err)
	}
	v := edn.NewValues()
	id, err := v.Parse(text, edn.Pos{File: file, Line: 1, Col: 1})
	if err != nil {
		return nil, fmt.Errorf("--models: %w", err)
	}
	if v.Kind(id) != edn.KindMap {
		return nil, fmt.Errorf("--models: %s: expected a map from tests to models, found %s", file, v.Text(id))
	}
	all := storeModels{}
	for kvs := v.Items(id); len(kvs) > 0; kvs = kvs[2:] {
		test := name(v, kvs[0])
		m, err := readStoreModel(v, kvs[1], c)
		if err != nil {
			return nil, fmt.Errorf("--models: %s: %s: %w", file, test, err)
		}
		all[test] = m
	}
	return all, nil
}

func readStoreModel(v *edn.Values, id edn.ID, c *cli.Context) (storeModel, error) {
	own := map[string]string{}
	if v.Kind(id) != edn.KindMap {
		own["model"] = name(v, id)
	} else {
		for kvs := v.Items(id); len(kvs) > 0; kvs = kvs[2:] {
			flag, value := name(v, kvs[0]), name(v, kvs[1])
			if flag == "init" {
				value = v.Text(kvs[1]) // any EDN value
			}
			if !slices.Contains(modelFlagNames, flag) {
				return storeModel{}, fmt.Errorf("unknown key %s; it may have %s", v.Text(kvs[0]), ":"+strings.Join(modelFlagNames, ", :"))
			}
			own[flag] = value
		}
	}
	f := entryFlags{c, own}
	for _, flag := range modelFlags() {
		if choice, ok := flag.(*cli.StringFlag); ok && choice.Action != nil {
			if err := choice.Action(c, f.String(choice.Name)); err != nil {
				return storeModel{}, err
			}
		}
	}
	independent := c.Bool("independent")
	switch own["independent"] {
	case "":
	case "true", "false":
		independent = own["independent"] == "true"
	default:
		return storeModel{}, fmt.Errorf("--independent is true or false, not %s", own["independent"])
	}
	spec, err := modelSpec(f)
	return storeModel{spec, independent}, err
}

// name is the text of a keyword, symbol or string without what marks it as one.
func name(v *edn.Values, id edn.ID) string {
	if v.Kind(id) == edn.KindString {
		return v.Str(id)
	}
	return strings.TrimPrefix(v.Text(id), ":")
}

// unused is an error for a test that no history is of: it may be misspelled.
func (m storeModels) unused(jobs []*job) error {
	seen := map[string]bool{}
	for _, j := range jobs {
		seen[j.Test] = j.Stored || seen[j.Test]
	}
	var missing []string
	for test := range m {
		if !seen[test] {
			missing = append(missing, test)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("--models: no history is of the test %s", strings.Join(missing, ", nor of "))
}
