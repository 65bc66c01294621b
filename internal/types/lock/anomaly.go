package lock

import "clew/models"

// holding names the kinds of failures of a lock, whatever the order of its operations: by what is held at least, or at
// most, when an operation returns.
type holding struct {
	permits int64                                // that can be held together
	counts  func(models.Op) int64                // how many permits an operation takes or returns
	owner   func(models.Op) int32                // nil if any process may release
	again   bool                                 // an owner may hold it several times
	over    models.Anomaly                       // of too many permits
	held    func(s models.State) map[int32]int64 // by owner: what is held in a state; nil if nothing is in the initial one
}

// anomaly is Traits.Anomaly. What was acquired and had returned is held, except for what releases that had begun may
// have returned. What was acquired and had begun may be held, except for what releases that had returned gave back.
func (x holding) anomaly(ops *models.Operations, row models.Row) models.Anomaly {
	end := ops.Res[row]
	if end == models.Open {
		return ""
	}
	op := ops.Op(row)
	var own, others, most int64 // held at least by the same owner and by others, and at most by the same owner
	surely := map[int32]int64{}
	if x.held != nil {
		surely = x.held(ops.Model.Init())
		most = surely[x.owner(op)]
	}
	for i := range models.Row(ops.Len()) {
		other := ops.Op(i)
		if ops.Inv[i] > end {
			break
		}
		owner := int32(0)
		if x.owner != nil {
			owner = x.owner(other)
		}
		same, n, done := x.owner == nil || owner == x.owner(op), x.counts(other), ops.Res[i] <= end
		if other.Kind == models.Release {
			surely[owner] -= n
			if same && done && i != row {
				most -= n
			}
			continue
		}
		if done {
			surely[owner] += n
		}
		if same {
			most += n
		}
	}
	for owner, n := range surely {
		if x.owner == nil || owner == x.owner(op) {
			own = n
		} else {
			others += max(n, 0)
		}
	}
	switch {
	case op.Kind == models.Release && most < x.counts(op) && x.owner == nil:
		return models.DoubleRelease
	case op.Kind == models.Release:
		if most < x.counts(op) {
			return models.ForeignRelease
		}
	case x.over == models.SplitBrain && x.owner != nil && own > 0 && others > 0:
		return models.SplitBrain
	case x.over == models.SplitBrain && x.owner != nil && own > 1 && !x.again:
		return models.DoubleAcquire
	case (x.over == models.Oversold || x.owner == nil) && max(own, 0)+others > x.permits:
		if x.over == models.SplitBrain && !x.byOthers(ops, row) {
			return models.DoubleAcquire
		}
		return x.over
	}
	return ""
}

// byOthers reports whether other processes than that of an acquire surely held the only permit when it returned, if each
// process releases what it acquired itself.
func (x holding) byOthers(ops *models.Operations, row models.Row) bool {
	held, t := int64(0), ops.Teller()
	for i := range models.Row(ops.Len()) {
		if ops.Inv[i] > ops.Res[row] {
			break
		}
		switch op := ops.Op(i); {
		case t.OneProcess(i, row):
		case op.Kind == models.Release:
			held -= x.counts(op)
		case ops.Res[i] <= ops.Res[row]:
			held += x.counts(op)
		}
	}
	return held > 0
}

func one(models.Op) int64 { return 1 }

func permitsIn(op models.Op) int64 { return int64(op.B) }

func ownerOf(op models.Op) int32 { return op.A }

// overheld returns the kind of failure if more permits are held than there are.
func overheld(permits int32) models.Anomaly {
	if permits == 1 {
		return models.SplitBrain
	}
	return models.Oversold
}
