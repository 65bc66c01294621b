package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"clew/internal/checking"
	"clew/internal/outputs"
	"clew/internal/store"
	"clew/internal/text"
	"clew/models"
	"clew/models/modelfile"
)

// Options are options of a request, by the names of flags. The value of a flag is a string, a number, or true or false.
type options map[string]json.RawMessage

// limitNames are the options that every call with a history has.
var limitNames = []string{"time-limit", "memory-limit"}

// known returns an error about an option that is not one of these.
func (o options) known(names []string) error {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(names, name) {
			return wrongOptions("unknown option %q; %sthe options have the names of flags (docs/api.md)", name, text.DidYouMean(name, names))
		}
	}
	return nil
}

func wrongOptions(format string, args ...any) error {
	return failed(kindOptions, fmt.Errorf(format, args...))
}

// texts returns the named options as texts, as a command line has them. An option that is null is not given.
func (o options) texts(names []string) (store.Settings, error) {
	s := store.Settings{}
	for _, name := range names {
		value := string(o[name])
		switch {
		case value == "", value == "null":
		case value[0] == '"':
			var given string
			if err := json.Unmarshal(o[name], &given); err != nil {
				return nil, err
			}
			s[name] = given
		case strings.ContainsAny(value[:1], "[{"):
			return nil, wrongOptions("%q must be a string, a number, true or false, not %s", name, text.Shorten(value, 40))
		default:
			s[name] = value
		}
	}
	return s, nil
}

// is reports whether an option is true.
func (o options) is(name string) (bool, error) {
	switch value := string(o[name]); value {
	case "true":
		return true, nil
	case "", "null", "false":
		return false, nil
	default:
		return false, wrongOptions("%q must be true or false, not %s", name, text.Shorten(value, 40))
	}
}

// list returns an option that is a string or several.
func (o options) list(name string) (all []string, err error) {
	value := o[name]
	if len(value) == 0 || string(value) == "null" {
		return nil, nil
	}
	if value[0] == '"' {
		value = slices.Concat([]byte("["), value, []byte("]"))
	}
	if json.Unmarshal(value, &all) != nil {
		return nil, wrongOptions("%q must be a string or an array of strings, not %s", name, text.Shorten(string(value), 40))
	}
	return all, nil
}

// reading returns how a history is read. Models of files are among the request's files.
func (o options) reading(files map[string]string) (store.Reading, error) {
	s, err := o.texts(store.SettingNames)
	if err != nil {
		return store.Reading{}, err
	}
	if name, inFile := strings.CutPrefix(s["init"], "@"); inFile {
		init, ok := files[name]
		if !ok {
			return store.Reading{}, wrongOptions("init @%s: there is no such file among the \"files\" of the request", name)
		}
		s["init"] = strings.TrimSpace(init)
	}
	r, err := store.NewReadingWith(s, func(name string) (models.Spec, error) {
		source, ok := files[name]
		if !ok {
			return models.Spec{}, fmt.Errorf("--model-file %s: there is no such file among the \"files\" of the request", name)
		}
		f, err := modelfile.Parse(name, []byte(source))
		if err != nil {
			return models.Spec{}, err
		}
		return models.Own(f.Definition()), nil
	})
	if err != nil {
		return r, failed(kindOptions, err)
	}
	return r, nil
}

// evidence returns the kinds of evidence that are wanted.
func (o options) evidence() (wanted []outputs.Evidence, err error) {
	for _, e := range outputs.AllEvidence {
		is, err := o.is(e.Name)
		if err != nil {
			return nil, err
		}
		if is {
			wanted = append(wanted, e)
		}
	}
	return wanted, nil
}

// checkNames returns the options of a check.
func checkNames() []string {
	names := slices.Concat(store.SettingNames, checking.SearchNames, []string{"how-far", "html-style", "output"})
	for _, e := range outputs.AllEvidence {
		names = append(names, e.Name)
	}
	return names
}
