// Package countdown has a context for tests of what happens when a context ends. It ends
// after it has been looked at some times, so no test depends on time.
package countdown

import (
	"context"
)

// Context is done once it has been looked at Looks times. After counts the looks
// since then.
type Context struct {
	context.Context
	Looks, After int
}

// Err says whether it is done.
func (c *Context) Err() error {
	if c.Looks--; c.Looks >= 0 {
		return nil
	}
	c.After++
	return context.Canceled
}
