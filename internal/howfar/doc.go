// Package howfar measures how far operations are from being linearizable: the least clock error with which they are, which
// acknowledged updates must be forgotten, and which weaker guarantees hold. docs/guarantees.md defines all of these.
//
// It decides nothing about linearizability itself. Callers pass what decides.
//
//   - Clocks widens intervals, as --clock-error does.
//   - Forgotten makes updates optional.
//   - Guarantees orders operations by client only. Its parts are a Sequence of clients, versions of registers, the closure
//     of what each order must keep, and a bounded search.
package howfar

import (
	"clew/jepsen"
	"clew/models"
)

// Decide says whether operations are linearizable. It may answer Unknown.
type Decide func(*models.Operations) jepsen.Verdict
