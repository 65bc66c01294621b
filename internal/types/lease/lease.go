package lease

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// Kinds of lease. A is the class of an owner, edn.Nil for none, and B an epoch plus 1, or 0
// if it is not told.
const (
	leaseClaim models.Kind = iota
	leaseRenew
	leaseRelease
	leaseCheck
)

// lease has one owner at a time, from a claim to its release or the next claim. Every claim
// has an epoch greater than those before it. No operation shows that a lease ran out, so a
// claim may always take over. A state is three numbers: the owner's class; the epoch of the
// last claim plus 1, 0 before any; and whether that epoch was told. If it was not, it is
// the least that the epoch can be.
type lease struct {
	home.Base
	fClaim, fRenew, fRelease, fCheck edn.ID
	kOwner, kEpoch                   edn.ID
}

var leaseDefinition = models.Definition{
	NilOutputs: []string{"check"},
	Name:       "lease", Pairs: true, Fs: ":claim [owner epoch], :renew [owner epoch], :release [owner epoch], :check -> owner, [owner epoch] or nil", About: "one owner at a time, with epochs that grow",
	Default: "[nil nil]",
	Record:  "clew.model.Lease",
	New:     newLease,
}

func newLease(b *models.Binding) (models.Reader, error) {
	f := b.Values.InternKeyword
	m := &lease{Base: home.NewBase(b), fClaim: f("claim"), fRenew: f("renew"), fRelease: f("release"), fCheck: f("check"),
		kOwner: f("owner"), kEpoch: f("epoch")}
	m.Initial = models.State{int32(edn.Nil), 0, 1}
	m.Offered = models.Traits{Because: m.because, Levels: m.levels(), Projections: m.projections, Lookahead: m.lookahead(), Rank: rank, Narrows: narrows, Fits: fits, Run: run, Anomaly: anomaly,
		Opening: func() models.Opening { return &leaseOpening{v: m.V, Callers: home.Callers{}} }}
	if b.InitID == nil {
		return m, nil
	}
	owner, epoch, err := m.term(*b.InitID)
	if err != nil || epoch == 0 && (owner != int32(edn.Nil) || b.Values.Kind(*b.InitID) != edn.KindVector) {
		return nil, home.BadInit(b, "[owner epoch] such as [nil 0]")
	}
	m.Initial = models.State{owner, epoch, 1}
	return m, nil
}

// term reads [owner epoch], {:owner .. :epoch ..} or an owner alone.
func (m *lease) term(id edn.ID) (owner, epoch int32, err error) {
	who, when := id, edn.Nil
	switch m.V.Kind(id) {
	case edn.KindVector, edn.KindList:
		var ok bool
		if who, when, ok = m.Pair(id); !ok {
			return 0, 0, fmt.Errorf("expected [owner epoch], found %s", m.V.Text(id))
		}
	case edn.KindMap:
		var owned, timed bool
		who, owned = m.V.Get(id, m.kOwner)
		when, timed = m.V.Get(id, m.kEpoch)
		if read := len(m.V.Items(id)) / 2; !owned && !timed || !(owned && timed) && read > 1 {
			return 0, 0, fmt.Errorf("expected {:owner o :epoch n}, found %s", m.V.Text(id))
		}
	}
	if when == edn.Nil {
		return m.Class(who), 0, nil
	}
	n, ok := m.V.Int(when)
	if !ok || n < 0 || n >= models.MaxCount {
		return 0, 0, fmt.Errorf("expected an epoch from 0 on, less than %d, found %s", models.MaxCount, m.V.Text(when))
	}
	return m.Class(who), int32(n) + 1, nil
}

func (m *lease) Read(o models.Operation) (op models.Op, keep bool, err error) {
	crashed := o.Status == jepsen.Crashed
	switch o.FID {
	case m.fClaim:
		op.Kind = leaseClaim
	case m.fRenew:
		op.Kind = leaseRenew
	case m.fRelease:
		op.Kind = leaseRelease
	case m.fCheck:
		op.Kind = leaseCheck
		if crashed {
			return op, false, nil
		}
	default:
		return op, false, models.ErrUnknownF
	}
	if op.Kind == leaseCheck {
		op.A, op.B, err = m.term(o.ValueID)
	} else {
		op.A, op.B, err = m.update(o)
	}
	return op, true, err
}

// update reads the owner and the epoch of an update from its invocation and its completion.
// A completion of nil or true adds nothing.
func (m *lease) update(o models.Operation) (owner, epoch int32, err error) {
	owner, epoch, err = m.term(o.GivenID)
	if err == nil && o.ValueID != o.GivenID && o.ValueID != edn.Nil && o.ValueID != edn.True {
		var who, when int32
		who, when, err = m.term(o.ValueID)
		if no := int32(edn.Nil); owner != no && who != no && who != owner || epoch != 0 && when != 0 && when != epoch {
			return 0, 0, fmt.Errorf("expected %s or true, found %s", m.V.Text(o.GivenID), m.V.Text(o.ValueID))
		}
		if edn.ID(owner) == edn.Nil {
			owner = who
		}
		epoch = max(epoch, when)
	}
	if k := m.V.Kind(edn.ID(owner)); err == nil && (k == edn.KindNil || k == edn.KindBool) {
		err = fmt.Errorf("expected [owner epoch], found %s", m.V.Text(o.ValueID))
	}
	return owner, epoch, err
}

func (m *lease) Step(dst []models.State, s models.State, op models.Op) []models.State {
	possible, same := fits(s, op)
	switch {
	case !possible:
		return dst
	case same:
		return append(dst, s)
	}
	next := slices.Clone(s)
	apply(next, op)
	return append(dst, next)
}

// apply changes a state by an operation that is possible.
func apply(s models.State, op models.Op) {
	switch {
	case op.B != 0:
		s[1], s[2] = op.B, 1
	case op.Kind == leaseClaim:
		s[1], s[2] = s[1]+1, 0
	}
	switch op.Kind {
	case leaseClaim:
		s[0] = op.A
	case leaseRelease:
		s[0] = int32(edn.Nil)
	}
}

// run is Traits.Run.
func run(s models.State) models.Run { return leaseRun(slices.Clone(s)) }

type leaseRun models.State

func (r leaseRun) State() models.State { return slices.Clone(models.State(r)) }

func (r leaseRun) Apply(op models.Op) models.Outcome {
	possible, _ := fits(models.State(r), op)
	if possible {
		apply(models.State(r), op)
	}
	return models.OneIf(possible)
}

// fits is Traits.Fits.
func fits(s models.State, op models.Op) (possible, same bool) {
	owner, epoch, told := s[0], s[1], s[2] == 1
	if op.Kind == leaseClaim {
		return op.B == 0 || op.B > epoch, false
	}
	possible = owner == op.A && (op.B == 0 || op.B == epoch || op.B > epoch && !told)
	same = possible && (op.B == 0 || told) && (op.Kind != leaseRelease || edn.ID(owner) == edn.Nil)
	return possible, same
}

// levels are how often each owner has claimed the lease.
func (m *lease) levels() *models.Levels {
	return &models.Levels{
		Start: func(owner int64) int64 {
			if owner == int64(m.Initial[0]) {
				return 1
			}
			return 0
		},
		Moves: func(dst []models.Move, op models.Op) []models.Move {
			if op.Kind != leaseClaim {
				return dst
			}
			return append(dst, models.By(int64(op.A), 1))
		},
		Shows: func(dst []models.Bound, op models.Op) []models.Bound {
			if op.Kind == leaseClaim || edn.ID(op.A) == edn.Nil {
				return dst
			}
			return append(dst, models.Bound{Level: int64(op.A), Least: 1, Most: models.Unbounded})
		},
	}
}

// lookahead rules out that epochs shrink, and owners that nothing lets claim.
func (m *lease) lookahead() *models.Lookahead {
	return &models.Lookahead{
		MayFollow: func(s models.State, op models.Op, others []models.Op) bool {
			switch owner := op.A; {
			case op.Kind == leaseClaim:
				return op.B == 0 || op.B > s[1]
			case op.B != 0 && op.B < s[1]:
				return false
			default:
				return owner == s[0] || edn.ID(owner) == edn.Nil ||
					slices.ContainsFunc(others, func(o models.Op) bool { return o.Kind == leaseClaim && o.A == owner })
			}
		},
		MayLead: func(models.State, models.Op, []models.Op) bool { return false },
		Never:   never,
	}
}

// never is Lookahead.Never. Epochs grow, and in one epoch the lease has one owner until it is released.
func never(s models.State, op models.Op) bool {
	if op.B == 0 || op.B != s[1] {
		return op.B != 0 && op.B < s[1]
	}
	return op.Kind == leaseClaim || op.A != s[0] && edn.ID(op.A) != edn.Nil
}

// narrows is Traits.Narrows. A renewal or a check tells the epoch at most.
func narrows(op models.Op) bool { return op.Kind == leaseRenew || op.Kind == leaseCheck }

// anomaly is Traits.Anomaly. It compares an operation with the claims that returned before it did: each claim has a
// greater epoch than those before it, and only its owner acts then.
func anomaly(ops *models.Operations, row models.Row) models.Anomaly {
	op := ops.Op(row)
	if never := home.ByLevels(ops, row, func(_ models.Op, x home.Beyond) models.Anomaly { return x.Missing }); never != "" {
		switch op.Kind {
		case leaseRelease:
			return models.ForeignRelease
		case leaseCheck:
			return never
		}
		return ""
	}
	if op.B == 0 || ops.Res[row] == models.Open {
		return ""
	}
	for i, res := range ops.Res {
		claim := ops.Op(models.Row(i))
		switch {
		case claim.Kind != leaseClaim || models.Row(i) == row || res > ops.Res[row]:
		case op.Kind == leaseClaim && claim.B == op.B:
			return models.ReusedID
		case res > ops.Inv[row] || claim.B <= op.B:
		case op.Kind == leaseClaim:
			return models.NotMonotonic
		case op.Kind == leaseRenew:
			return models.SplitBrain
		case op.Kind == leaseRelease:
			return models.ForeignRelease
		default:
			return models.StaleRead
		}
	}
	return ""
}

// rank orders states by the least that the epoch can be, if it was not told.
func rank(s models.State) (group models.State, rank int32) {
	if s[2] == 1 {
		return s, 0
	}
	return s[:1], s[1]
}

// Mutates also returns true for operations that tell the epoch.
func (m *lease) Mutates(op models.Op) bool {
	return op.Kind == leaseClaim || op.Kind == leaseRelease || op.B != 0
}

func (m *lease) Why(s models.State, op models.Op) string {
	what := m.Text(op.A)
	if op.B > 0 {
		what = fmt.Sprintf("%s in epoch %d", what, op.B-1)
	}
	switch now := m.holder(s); op.Kind {
	case leaseClaim:
		return "can't claim by " + what + " after " + now
	case leaseRenew:
		return "can't renew by " + what + ": held by " + now
	case leaseRelease:
		return "can't release by " + what + ": held by " + now
	default:
		return "can't be held by " + what + ": held by " + now
	}
}

// because is Traits.Because.
func (m *lease) because(s models.State, op models.Op) string {
	now := m.holder(s)
	switch {
	case op.Kind == leaseClaim && s[2] == 0:
		return fmt.Sprintf("the epoch is %d or later already", s[1]-1)
	case op.Kind == leaseClaim:
		return fmt.Sprintf("the epoch is %d already", s[1]-1)
	case edn.ID(s[0]) == edn.Nil:
		return "the lease is free"
	}
	if op.Kind == leaseCheck && edn.ID(op.A) == edn.Nil {
		return "the lease is held by " + now + ", and not free"
	}
	return "the lease is held by " + now
}

// holder returns a state in words.
func (m *lease) holder(s models.State) string {
	who := m.Text(s[0])
	if edn.ID(s[0]) == edn.Nil {
		who = "nobody"
	}
	switch {
	case s[1] == 0:
		return who
	case s[2] == 0:
		return fmt.Sprintf("%s in epoch %d or later", who, s[1]-1)
	}
	return fmt.Sprintf("%s in epoch %d", who, s[1]-1)
}

func (m *lease) Record(s models.State) edn.Value {
	epoch := edn.Nil
	if s[1] > 0 {
		epoch = m.V.InternInt(int64(s[1]) - 1)
	}
	if s[2] == 0 {
		return m.Print("owner epoch or-later", edn.ID(s[0]), epoch, edn.True)
	}
	return m.Print("owner epoch", edn.ID(s[0]), epoch)
}

// leaseOpening is the Opening of lease. It looks for an owner that no claim named, and for the epochs that operations
// tell.
type leaseOpening struct {
	home.Callers
	models.NoNeeds
	v       *edn.Values
	owner   int32
	shown   bool
	claimed bool    // a claim has returned
	epochs  []int32 // plus 1
}

func (o *leaseOpening) Call(i jepsen.Operation, op models.Op, status jepsen.Status) {
	switch op.Kind {
	case leaseClaim:
		o.Add(models.Cell{Place: 0, Value: op.A}, i)
		o.Add(models.Cell{Place: 0, Value: int32(edn.Nil)}, i) // its epoch may have been left without its owner
		return
	case leaseRelease:
		o.Add(models.Cell{Place: 0, Value: int32(edn.Nil)}, i)
	}
	if op.B != 0 && status != jepsen.Failed && len(o.epochs) < models.MaxOpenings-1 && !slices.Contains(o.epochs, op.B) {
		o.epochs = append(o.epochs, op.B)
	}
}

func (o *leaseOpening) Return(i jepsen.Operation, op models.Op, early bool) {
	o.claimed = o.claimed || op.Kind == leaseClaim
	if early && !o.shown && op.Kind != leaseClaim && !o.But(i, models.Cell{Place: 0, Value: op.A}) {
		o.owner, o.shown = op.A, true
	}
}

func (o *leaseOpening) Puts(op models.Op) bool {
	return op.Kind == leaseClaim || op.Kind == leaseRelease
}

// Later returns true until a claim has returned. Epochs told later are those of claims.
func (o *leaseOpening) Later() bool { return o.shown && !o.claimed }

// Starts returns the owner with each epoch that was told, and with the first epoch.
func (o *leaseOpening) Starts() []edn.ID {
	if !o.shown {
		return nil
	}
	var starts []edn.ID
	for _, epoch := range append(o.epochs, 1) {
		starts = append(starts, o.v.InternVector([]edn.ID{edn.ID(o.owner), o.v.InternInt(int64(epoch) - 1)}))
	}
	return starts
}
