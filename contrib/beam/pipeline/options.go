package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"clew"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
)

// Options say which histories to check, and how. They go to the workers as JSON.
type Options struct {
	// Inputs are globs of files: histories, tests of a store, archives of them. The file system of its scheme matches
	// each. A glob that matches no history is an error.
	Inputs []string
	// Params are parameters of the model, including "model" itself, by the names of clew check's flags.
	Params map[string]string
	// ModelText is the text of a user's own model in Starlark, "" if there is none, and ModelFile its name in errors.
	ModelText, ModelFile string

	Independent bool // values are [key value]: each key is an element
	Keyless     bool // an operation without a key belongs to every key
	AllClients  bool // every process but :nemesis is a client

	Algorithm   string
	TimeLimit   time.Duration // of each element, its reading included; 0 is none
	MemoryLimit int64         // of each element's reading and of its search, in bytes, about; 0 is none
	Verify      bool
}

// own holds the models that programs have registered, by name.
var own = map[string]*models.Definition{}

// Register makes a model in Go known by its name. Programs must call it in init functions, so that workers have
// called it, too.
func Register(d *models.Definition) { own[d.Name] = d }

// Validate returns an error if the options make no sense, as far as that shows before any history is read.
func (o *Options) Validate() error {
	if len(o.Inputs) == 0 {
		return fmt.Errorf("no history given: expected a glob such as store/*/*/history.edn")
	}
	if o.Keyless && !o.Independent {
		return fmt.Errorf("keyless operations require independent keys")
	}
	if err := clew.CheckAlgorithm(o.Algorithm); err != nil {
		return err
	}
	spec, err := o.spec()
	if err != nil || spec.Name == "" {
		return err
	}
	return spec.Check()
}

// spec returns the model and its parameters.
func (o *Options) spec() (spec models.Spec, err error) {
	name := o.Params["model"]
	switch {
	case o.ModelText != "" && name != "":
		return spec, fmt.Errorf("a custom model cannot be combined with the name of another; found both %s and %s", o.ModelFile, name)
	case o.ModelText != "":
		file, err := modelfile.Parse(o.ModelFile, []byte(o.ModelText))
		if err != nil {
			return spec, err
		}
		spec = models.Own(file.Definition())
	case own[name] != nil:
		spec = models.Own(own[name])
	case name != "":
		err = spec.Set("model", name)
	}
	for _, param := range slices.Sorted(maps.Keys(o.Params)) {
		if param != "model" && err == nil {
			err = spec.Set(models.Param(param), o.Params[param])
		}
	}
	return spec, err
}

// completed returns the options and the spec, completed with what results say of a history where the options say
// nothing. It returns false if the results add nothing.
func (o Options) completed(told *store.Checked) (Options, models.Spec, bool) {
	given := maps.Clone(o.Params)
	if given == nil {
		given = map[string]string{}
	}
	if o.Independent {
		given["independent"] = "true"
	}
	if o.Keyless {
		given["keyless"] = "every"
	}
	name := o.Params["model"]
	if o.ModelText != "" || own[name] != nil || name != "" && o.Params["init"] != "" {
		return o, models.Spec{}, false
	}
	all, more := told.With(given)
	if !more {
		return o, models.Spec{}, false
	}
	o.Independent, o.Keyless = all["independent"] == "true", all["keyless"] == "every"
	o.Params = map[string]string{}
	for param, value := range all {
		var one models.Spec
		if param == "model" || one.Set(models.Param(param), value) == nil {
			o.Params[param] = value
		}
	}
	spec, err := o.spec()
	if err == nil && spec.Name != "" {
		err = spec.Check()
	}
	return o, spec, err == nil
}

// pairing returns how to pair the events of a history.
func (o *Options) pairing(spec models.Spec) jepsen.Options {
	how := spec.Pairing()
	how.AllClients, how.Memory = o.AllClients, o.MemoryLimit
	return how
}

// check returns how to check a history.
func (o *Options) check() clew.Options {
	c := clew.Options{Algorithm: o.Algorithm, TimeLimit: o.TimeLimit}
	if o.Verify {
		c.Verify = clew.VerifyAlways
	}
	if o.MemoryLimit > 0 {
		c.Memory = clew.NewMemory(o.MemoryLimit)
	}
	return c
}
