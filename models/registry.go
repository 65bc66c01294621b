package models

import (
	"fmt"
	"slices"
	"strings"

	"clew/internal/text"
)

// registry is all models that have been registered. If the :f's of a history fit several of
// them equally well, the first one counts.
var registry []*Definition

// Register makes models known by their names, for Spec.Name and for Infer. The packages that
// define clew's own models call it before main begins; it is not safe for concurrent use.
func Register(definitions ...*Definition) { registry = append(registry, definitions...) }

// All returns the definitions of all models.
func All() []Definition {
	var all []Definition
	for _, d := range registry {
		all = append(all, *d)
	}
	return all
}

// Describe returns the definition of a model. If there is none of that name, the error may
// suggest one.
func Describe(name string) (Definition, error) {
	d, err := lookup(name)
	if err != nil {
		return Definition{}, err
	}
	return *d, nil
}

// OfRecord returns the model whose states print as records of this name, given without its
// namespace. ok is false if there is none.
func OfRecord(name string) (model string, ok bool) {
	if d := find(func(d *Definition) bool { return d.Record[strings.LastIndexByte(d.Record, '.')+1:] == name }); d != nil {
		return d.Name, true
	}
	return "", false
}

func find(is func(d *Definition) bool) *Definition {
	if i := slices.IndexFunc(registry, is); i >= 0 {
		return registry[i]
	}
	return nil
}

func lookup(name string) (*Definition, error) {
	if d := find(func(d *Definition) bool { return d.Name == name }); d != nil {
		return d, nil
	}
	meant := text.DidYouMean(name, names())
	if d := find(func(d *Definition) bool { return slices.Contains(d.Called, name) }); d != nil && meant == "" {
		meant = "did you mean " + d.Name + "? "
	}
	return nil, fmt.Errorf("unknown model %q; %sclew knows %s", name, meant, strings.Join(names(), ", "))
}

func names() []string {
	var list []string
	for _, d := range registry {
		list = append(list, d.Name)
	}
	return list
}
