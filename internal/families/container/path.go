package container

import (
	"context"

	"clew/fastpath"
	"clew/models"
)

// Path is the family of containers. It decides containers that keep an
// order only if they are initially empty.
func Path(shape models.Shape) (path fastpath.Path, refusal string) {
	switch s := shape.(type) {
	case models.FIFOShape:
		if s.Sizes {
			return nil, "does not support :size"
		}
		return startsEmpty(fifoQueue, s.Init)
	case models.LIFOShape:
		return startsEmpty(stack, s.Init)
	case models.PriorityShape:
		return startsEmpty(priorityQueue, s.Init)
	case models.BagShape:
		return fastpath.PathOf(s, unordered), ""
	}
	return nil, ""
}

func startsEmpty(a *fastpath.Algorithm, init []int32) (path fastpath.Path, refusal string) {
	if len(init) > 0 {
		return nil, "takes no initial contents"
	}
	return func(ctx context.Context, c *models.Columns, want fastpath.Want) fastpath.Decision {
		return a.Run(fastpath.NewInput(ctx, c, 0), want)
	}, ""
}
