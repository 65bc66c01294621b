package home

import (
	"clew/internal/gen"
	"clew/models"
)

// Home is the home of one or several data types that have much in common.
type Home struct {
	Place int // homes are listed by place, and a history is tried in this order
	Types []Type
}

// Type is a data type.
type Type struct {
	Definition *models.Definition
	Generated  gen.Model // its generated histories
}
