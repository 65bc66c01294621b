package gen

import (
	"slices"
	"strconv"
	"strings"

	"clew/models"
)

// LongKind says what is wrong with a long history, if anything.
//
// A bug is a few operations, one after another, one of which gets an answer that it
// cannot have. Before them everything that changes something comes to its end.
// Until the last of them has completed, others only read, or do nothing if they
// would see the bug, too. So only crashed operations could explain the answer. They
// cannot, for the following reasons:
//
//   - What a bug writes is marked: its values lie beyond all others, and no crashed
//     operation writes them or compares with them.
//   - Sets, logs, counters, epochs and fences only grow.
//   - What a bug adds comes out of a container once.
//   - Suppose that a crashed operation that removes or releases something could
//     explain the answer. Then none crashes before the bug (queue.Queue), or all that
//     crash are needed to explain what came before (lock). If one that adds
//     could, then none takes effect before (counter).
//
// Without the answer the history is linearizable, so its completion is the first
// that fails.
type LongKind int

// The kinds of long histories.
const (
	Linearizable LongKind = iota
	// StaleRead: one read sees what a completed change had replaced before it began.
	StaleRead
	// LostWrite: one change completes and never takes effect.
	LostWrite
	// ImpossibleRead: one answer is a value that is never written. Others go on meanwhile.
	ImpossibleRead
	// TornRead: one read sees a part of a change.
	TornRead
	// LostUpdate: two transactions read the same version of a key and overwrite it.
	LostUpdate
	// Anomalies of transactions. scripts says what each does.
	G0
	G0Process
	G0Realtime
	G1a
	G1b
	G1c
	G1cProcess
	G1cRealtime
	GSingleItem
	GSingleItemProcess
	GSingleItemRealtime
	GNonadjacentItem
	GNonadjacentItemProcess
	GNonadjacentItemRealtime
	G2Item
	G2ItemProcess
	G2ItemRealtime
	Internal
	FutureRead
	DirtyUpdate
	IncompatibleOrder
	DuplicateElements
	// Duplicate: something that is handed out once, such as an element, is handed
	// out twice.
	Duplicate
	// Reordered: an element comes out before another that precedes it in the order.
	Reordered
	// WrongEmpty: a container answers that it is empty, but it is not.
	WrongEmpty
	// TwoHolders: a lock is acquired while another process holds it.
	TwoHolders
	// ForeignRelease: a lock is released by a process that does not hold it.
	ForeignRelease
	// EventLost: a watch leaves out an event.
	EventLost
	// EventTwice: it delivers one twice.
	EventTwice
	// EventsReordered: it delivers one after a later one.
	EventsReordered
	// EventsSplit: it delivers the events of one update in two responses.
	EventsSplit
	// EarlyBookmark: it says that all events up to a revision have come, and delivers one of them later.
	EarlyBookmark
	// WrongResume: it leaves out the first event from the revision on that it asked for.
	WrongResume
	// WrongPosition: one read says an earlier position than had been said before it began.
	WrongPosition
	// WrongAnswer: one answer is another one of the Values. That is nearly always a
	// failure, but not for certain. It is open when it shows, so fail is -1.
	WrongAnswer
)

// longKinds are the names of the kinds, and what each does.
var longKinds = [...]struct{ Name, about string }{
	Linearizable:   {"none", "the history is linearizable"},
	StaleRead:      {"stale-read", "a read sees what a completed change had replaced before"},
	LostWrite:      {"lost-write", "a change completes and never takes effect"},
	ImpossibleRead: {"impossible-read", "an answer is a value that is never written"},
	TornRead:       {"torn-read", "a read sees half of a change"},
	LostUpdate:     {"lost-update", "two transactions read the same version of a key and overwrite it"},

	G0:                       {"G0", "two transactions append to two keys, in different orders"},
	G0Process:                {"G0-process", "an append comes before an earlier one of its process"},
	G0Realtime:               {"G0-realtime", "an append comes before one that had completed"},
	G1a:                      {"G1a", "a read sees what a failed transaction wrote"},
	G1b:                      {"G1b", "a read sees what its transaction then overwrote"},
	G1c:                      {"G1c", "two transactions see each other's writes"},
	G1cProcess:               {"G1c-process", "a read sees what its process writes later"},
	G1cRealtime:              {"G1c-realtime", "a read sees what is written later"},
	GSingleItem:              {"G-single-item", "a read sees one of two writes of a transaction"},
	GSingleItemProcess:       {"G-single-item-process", "a read does not see what its process wrote"},
	GSingleItemRealtime:      {"G-single-item-realtime", "a read does not see what had been written"},
	GNonadjacentItem:         {"G-nonadjacent-item", "two reads see two writes in different orders: a long fork"},
	GNonadjacentItemProcess:  {"G-nonadjacent-item-process", "two processes do not see what the other one wrote"},
	GNonadjacentItemRealtime: {"G-nonadjacent-item-realtime", "a long fork that shows in time"},
	G2Item:                   {"G2-item", "two transactions read two keys and overwrite one each: a write skew"},
	G2ItemProcess:            {"G2-item-process", "a write skew that shows in a process"},
	G2ItemRealtime:           {"G2-item-realtime", "a write skew that shows in time"},
	Internal:                 {"internal", "a read does not see what its transaction wrote before"},
	FutureRead:               {"future-read", "a read sees what its transaction writes later"},
	DirtyUpdate:              {"dirty-update", "an append comes after that of a failed transaction"},
	IncompatibleOrder:        {"incompatible-order", "two reads see two appends in different orders"},
	DuplicateElements:        {"duplicate-elements", "a read sees an append twice"},

	Duplicate:       {"duplicate", "an element, id, offset, epoch or fence is given out twice"},
	Reordered:       {"reordered", "an element comes out before one that should have come first"},
	WrongEmpty:      {"wrong-empty", "a container that holds something says that it is empty"},
	TwoHolders:      {"two-holders", "a lock is acquired while another process holds it"},
	ForeignRelease:  {"foreign-release", "a lock is released by a process that does not hold it"},
	WrongPosition:   {"wrong-position", "a read says an earlier position than had been said before it began"},
	EventLost:       {"event-lost", "a watch leaves out an event"},
	EventTwice:      {"event-twice", "a watch delivers an event twice"},
	EventsReordered: {"events-reordered", "a watch delivers an event after a later one"},
	EventsSplit:     {"events-split", "a watch delivers one update in two responses"},
	EarlyBookmark:   {"early-bookmark", "a watch says too early that all events have come"},
	WrongResume:     {"wrong-resume", "a watch leaves out its first event"},
}

func (k LongKind) String() string {
	if k == WrongAnswer {
		return "wrong answer"
	}
	return longKinds[k].Name
}

// OfWatches says whether only a watch shows the bug, and no step of a model.
func (k LongKind) OfWatches() bool { return k >= EventLost && k <= WrongResume }

// About returns what the bug does, as a sentence without its full stop.
func (k LongKind) About() string { return longKinds[k].about }

// LongKinds returns all kinds that are certain.
func LongKinds() []LongKind {
	all := make([]LongKind, len(longKinds))
	for i := range all {
		all[i] = LongKind(i)
	}
	return all
}

// KindNamed returns the kind with a name.
func KindNamed(name string) (kind LongKind, ok bool) {
	i := slices.IndexFunc(longKinds[:], func(k struct{ Name, about string }) bool { return k.Name == name })
	return LongKind(max(i, 0)), i >= 0
}

// Bugs are the kinds of bugs that a model has.
type Bugs []LongKind

func (b Bugs) String() string {
	names := make([]string, len(b))
	for i, k := range b {
		names[i] = k.String()
	}
	return strings.Join(names, ", ")
}

// KindsOf returns the bugs of a model.
func KindsOf(model string) []LongKind { return registered[model].Bugs }

// ModelsOf returns the models that have a bug, by name.
func ModelsOf(kind LongKind) []string {
	var names []string
	for name, model := range registered {
		if slices.Contains(model.Bugs, kind) || kind == WrongPosition && model.Positions {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Model says how the histories of a model are made.
type Model struct {
	// New makes the object. Values are the values that small histories may have, if not
	// all.
	New    func(m *Maker) Object
	Values Values

	// Bugs are what may be wrong with long histories. Mistaken says that they may have a
	// WrongAnswer.
	Bugs     Bugs
	Mistaken bool
	// Positions: every operation that changes something is an update, so histories may say positions.
	Positions bool
	// Keyed: one order of positions may be that of several keys.
	Keyed bool
	// Leases: it has leases and watches, and reports.
	Leases bool
	// Init, unless it is nil, returns the initial value of long histories as EDN. Otherwise
	// it is the model's default if there is a bug.
	Init func(o LongOptions) string
}

// registered is all models, by name.
var registered = map[string]Model{}

// Register makes a model's histories known. It is not safe for concurrent use.
func Register(name string, m Model) { registered[name] = m }

// OneOrder says whether several keys of a model's histories have one order of positions, which completions say under a
// name, or always.
func OneOrder(model, position string) bool {
	m := registered[model]
	return m.Keyed && (position != "" || m.Leases)
}

// Flags returns the flags with which clew check reads the history.
func (o LongOptions) Flags() []string {
	flags := []string{"--model", o.Model}
	if init := o.Init(); init != "" {
		flags = append(flags, "--init", init)
	}
	if o.Model == "semaphore" || o.Model == "owner-semaphore" {
		flags = append(flags, "--permits", strconv.Itoa(o.defaults().Permits))
	}
	if o.Independent > 0 {
		flags = append(flags, "--independent")
	}
	if o.Position != "" {
		flags = append(flags, "--position", o.Position)
	}
	if o.Sparse {
		flags = append(flags, "--positions", "sparse")
	}
	return flags
}

// Init returns the initial value of the histories as EDN, or "" for the model's
// default. For histories with a bug it returns the default itself: otherwise a wrong
// answer to the first read might be the initial value.
func (o LongOptions) Init() string {
	if own := registered[o.Model].Init; own != nil {
		return own(o.defaults())
	}
	spec := models.Spec{Name: o.Model}
	if d, err := spec.Definition(); o.Kind == Linearizable || err != nil || !d.Takes(models.ParamInit) {
		return ""
	}
	return spec.FromDefault().Init
}

// Overwrite returns the next step of a bug of a register, made of a write and a read. Two
// marked values are written; a read sees the first one, or one that is never written.
func (m *Maker) Overwrite(write, read Op) Op {
	switch {
	case m.Kind == WrongAnswer:
		read.Last = true
		return read
	case m.Kind == ImpossibleRead:
		read.A = m.Mark + 2
	case m.Step == 0:
		write.A = m.Mark
		return write
	case m.Step == 1:
		write.A, write.Forced = m.Mark+1, m.Kind == LostWrite
		return write
	default:
		read.A = m.Mark
	}
	return Wrong(read)
}
