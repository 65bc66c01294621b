package clew

import (
	"clew/fastpath"
	"clew/fastpath/container"
	"clew/fastpath/lock"
	"clew/fastpath/register"
	"clew/fastpath/sequence"
	"clew/fastpath/set"
	"clew/models"
)

// families are the near-linear decisions.
var families = []fastpath.Family{register.Path, container.Path, lock.Path, set.Path, sequence.Path}

// fastPath is the near-linear decision for a model, or nil. If there is one for
// models of its shape, refusal says why it is not for this one.
func fastPath(m models.Model) (path fastpath.Path, refusal string) {
	shaped, ok := m.(models.Shaped)
	if !ok {
		return nil, ""
	}
	shape := shaped.Shape()
	for _, family := range families {
		if path, refusal = family(shape); path != nil || refusal != "" {
			break
		}
	}
	return path, refusal
}
