package register

import (
	"fmt"
	"strconv"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// versioned is a register that counts its updates, as Jepsen's etcd suite checks it. Every
// value is [version value]: the version after the update, or for a read the current one. A
// nil says nothing.
//
// A state is the version and the value. Kinds are those of registers; A is the version plus
// 1, or 0 if it is not known, and B is an index into args.
type versioned struct {
	home.Base
	fRead, fWrite, fCAS edn.ID
	args                [][2]int32 // what a write leaves or a read saw, or what a cas expects and leaves
}

var versionedDefinition = models.Definition{
	Name: "versioned-register", Pairs: true, Fs: ":read, :write, :cas, each with [version value]", About: "a register that counts its updates",
	Default: "[0 nil]",
	Record:  "clew.model.VersionedRegister",
	Infer: func(s *models.Seen) models.Fit {
		return models.FitsIf(s.Only(":read", ":write", ":cas") && tellsVersions(s))
	},
	New: newVersioned,
}

// firstWrites bounds how many writes are looked at.
const firstWrites = 100

// tellsVersions reports whether the first writes, of a key or not, were called with [nil value] and returned [version value].
func tellsVersions(s *models.Seen) bool {
	left := firstWrites
	for called, returned := range s.Answers(":write") {
		if left--; left < 0 {
			break
		}
		before, after := called.Items(), returned.Items()
		if len(before) != 2 || len(after) != 2 {
			continue
		}
		if before[0].Class() == after[0].Class() { // a key
			before, after = before[1].Items(), after[1].Items()
		}
		if len(before) == 2 && len(after) == 2 && before[0].ID() == edn.Nil && after[0].Kind() == edn.KindInt && before[1].Class() == after[1].Class() {
			return true
		}
	}
	return false
}

func newVersioned(b *models.Binding) (models.Reader, error) {
	v, init := b.Values, b.InitID
	m := &versioned{Base: home.NewBase(b), fRead: v.InternKeyword("read"), fWrite: v.InternKeyword("write"), fCAS: v.InternKeyword("cas")}
	m.Initial = models.State{0, int32(edn.Nil)}
	m.Offered = models.Traits{
		Because: m.because,
		Run:     func(s models.State) models.Run { return &versionedRun{m, s[0], s[1]} },
		Shape: func() models.Shape {
			return models.VersionsShape{First: m.Initial[0], Value: m.Initial[1], Nil: int32(edn.Nil), Args: m.args}
		},
		Opening: func() models.Opening { return &versionedOpening{m: m, Callers: home.Callers{}} },
	}
	if init == nil {
		return m, nil
	}
	version, value, ok := m.Pair(*init)
	n, err := m.version(version)
	if !ok || n == 0 || err != nil {
		return nil, home.BadInit(b, "[version value] such as [0 nil]")
	}
	m.Initial = models.State{n - 1, int32(v.Same(value))}
	return m, nil
}

// version returns a version plus 1, or 0 for nil.
func (m *versioned) version(id edn.ID) (int32, error) {
	if id == edn.Nil {
		return 0, nil
	}
	n, ok := m.V.Int(id)
	switch {
	case !ok || n < 0:
		return 0, fmt.Errorf("expected a version from 0 on, found %s", m.V.Text(id))
	case n > models.MaxCount:
		return 0, fmt.Errorf("expected a version of at most %d, found %d", models.MaxCount, n)
	}
	return int32(n) + 1, nil
}

func (m *versioned) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if o.FID != m.fRead && o.FID != m.fWrite && o.FID != m.fCAS {
		return op, false, models.ErrUnknownF
	}
	version, value, ok := m.Pair(o.ValueID)
	if !ok && o.FID == m.fRead && o.ValueID == edn.Nil {
		return op, false, nil
	}
	if !ok {
		return op, false, fmt.Errorf("expected [version value], found %s", m.V.Text(o.ValueID))
	}
	if op.A, err = m.version(version); err != nil {
		return op, false, err
	}
	args := [2]int32{m.Class(value), 0}
	switch o.FID {
	case m.fRead:
		op.Kind = models.Read
		keep = op.A > 0 || value != edn.Nil
	case m.fWrite:
		op.Kind, keep = models.Write, true
	default:
		op.Kind, keep = models.CAS, true
		from, to, ok := m.Pair(value)
		if !ok {
			return op, false, fmt.Errorf("expected [version [old new]], found %s", m.V.Text(o.ValueID))
		}
		args = [2]int32{m.Class(from), m.Class(to)}
	}
	op.B = int32(len(m.args))
	m.args = hugepages.Append(m.args, args)
	return op, keep, nil
}

func (m *versioned) Mutates(op models.Op) bool { return op.Kind != models.Read }

func (m *versioned) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch version, value, ok := m.after(s[0], s[1], op); {
	case !ok:
		return dst
	case version == s[0]:
		return append(dst, s)
	default:
		return models.Only(dst, version, value)
	}
}

// after returns the version and the value after an operation.
func (m *versioned) after(version, value int32, op models.Op) (nextVersion, nextValue int32, ok bool) {
	args := m.args[op.B]
	switch {
	case op.Kind == models.Read:
		return version, value, (op.A == 0 || op.A-1 == version) && (args[0] == int32(edn.Nil) || args[0] == value)
	case op.A > 0 && op.A-2 != version:
		return version, value, false
	case op.Kind == models.Write:
		return version + 1, args[0], true
	}
	return version + 1, args[1], args[0] == value
}

// versionedRun takes the steps in place: a state of a million updates costs no allocation each.
type versionedRun struct {
	m              *versioned
	version, value int32
}

func (r *versionedRun) Apply(op models.Op) models.Outcome {
	version, value, ok := r.m.after(r.version, r.value, op)
	if ok {
		r.version, r.value = version, value
	}
	return models.OneIf(ok)
}

func (r *versionedRun) State() models.State { return models.State{r.version, r.value} }

func (m *versioned) Why(s models.State, op models.Op) string {
	args := m.args[op.B]
	switch {
	case op.Kind == models.Read && op.A > 0 && op.A-1 != s[0]:
		return "can't read version " + strconv.Itoa(int(op.A-1)) + " from version " + strconv.Itoa(int(s[0]))
	case op.Kind == models.Read:
		return "can't read " + m.Text(args[0]) + " from register " + m.Text(s[1])
	case op.A > 0 && op.A-2 != s[0]:
		return "can't go from version " + strconv.Itoa(int(s[0])) + " to " + strconv.Itoa(int(op.A-1))
	}
	return "can't CAS " + m.Text(s[1]) + " from " + m.Text(args[0]) + " to " + m.Text(args[1])
}

// because is Traits.Because.
func (m *versioned) because(s models.State, op models.Op) string {
	saw := m.Text(m.args[op.B][0])
	switch {
	case op.Kind == models.Read && op.A > 0 && op.A-1 != s[0]:
		return fmt.Sprintf("the version is %d, not %d", s[0], op.A-1)
	case op.Kind != models.Read && op.A > 0 && op.A-2 != s[0]:
		return fmt.Sprintf("the version is %d, so the next one is %d, not %d", s[0], s[0]+1, op.A-1)
	}
	return Differs("the value", m.Text(s[1]), saw, op)
}

func (m *versioned) Record(s models.State) edn.Value {
	return m.Print("version value", m.V.InternInt(int64(s[0])), edn.ID(s[1]))
}

// versionedOpening looks for the least version that a read or a cas shows, with its value.
type versionedOpening struct {
	home.Callers
	models.NoNeeds
	m     *versioned
	calls int // of updates
	shown []models.State
}

func (o *versionedOpening) Call(i jepsen.Operation, op models.Op, _ jepsen.Status) {
	switch op.Kind {
	case models.Write:
		o.Add(models.Cell{Place: 0, Value: o.m.args[op.B][0]}, i)
		o.calls++
	case models.CAS:
		o.Add(models.Cell{Place: 0, Value: o.m.args[op.B][1]}, i)
		o.calls++
	}
}

func (o *versionedOpening) Return(i jepsen.Operation, op models.Op, early bool) {
	if !early || op.Kind == models.Write {
		return
	}
	version, value, calls := op.A-1, o.m.args[op.B][0], o.calls
	if op.Kind == models.CAS {
		version, calls = version-1, calls-1
	}
	switch {
	case edn.ID(value) != edn.Nil && o.But(i, models.Cell{Place: 0, Value: value}):
	case 0 < version && version <= int32(calls): // some calls may have led there
	case version < 0 && op.A > 0: // no cas can have led there
	default:
		o.shown = append(o.shown, models.State{version, value})
	}
}

func (o *versionedOpening) Puts(op models.Op) bool { return op.Kind != models.Read }

func (o *versionedOpening) Later() bool { return false }

func (o *versionedOpening) Starts() []edn.ID {
	first, value := int32(-1), int32(edn.Nil)
	for _, s := range o.shown {
		if s[0] >= 0 && (first < 0 || s[0] < first) {
			first = s[0]
		}
	}
	for _, s := range o.shown {
		if edn.ID(value) == edn.Nil && (s[0] < 0 || s[0] == first) {
			value = s[1]
		}
	}
	if first = max(first, 0); first == 0 && edn.ID(value) == edn.Nil {
		return nil
	}
	return []edn.ID{o.m.V.InternVector([]edn.ID{o.m.V.InternInt(int64(first)), edn.ID(value)})}
}
