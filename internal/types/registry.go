// Package types has a home for each data type: a folder with its meaning, its traits, its
// words, its generator, its second reading, its cases and its page of the docs. Importing
// it makes the types known to packages models and gen. CONTRIBUTING.md says which file has
// what.
package types

import (
	"slices"

	"clew/internal/gen"
	"clew/internal/home"
	"clew/models"
)

//go:generate go run ./generate

func init() {
	slices.SortFunc(homes, func(a, b home.Home) int { return a.Place - b.Place })
	for _, h := range homes {
		for _, t := range h.Types {
			models.Register(t.Definition)
			gen.Register(t.Definition.Name, t.Generated)
		}
	}
}
