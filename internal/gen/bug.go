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
//     explain the answer. Then none crashes before the bug (longQueue), or all that
//     crash are needed to explain what came before (longLock). If one that adds
//     could, then none takes effect before (longCounter).
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
	// WrongAnswer: one answer is another one of the Values. That is nearly always a
	// failure, but not for certain. It is open when it shows, so fail is -1.
	WrongAnswer
)

// longKinds are the names of the kinds, and what each does.
var longKinds = [...]struct{ name, about string }{
	Linearizable:   {"none", "the history is linearizable"},
	StaleRead:      {"stale-read", "a read sees what a completed change had replaced before"},
	LostWrite:      {"lost-write", "a change completes and never takes effect"},
	ImpossibleRead: {"impossible-read", "an answer is a value that nobody ever writes"},
	TornRead:       {"torn-read", "a read sees half of a change"},
	Duplicate:      {"duplicate", "an element, id, offset, epoch or fence is given out twice"},
	Reordered:      {"reordered", "an element comes out before one that should have come first"},
	WrongEmpty:     {"wrong-empty", "a container that holds something says that it is empty"},
	TwoHolders:     {"two-holders", "a lock is acquired while somebody else holds it"},
	ForeignRelease: {"foreign-release", "a lock is released by a process that does not hold it"},
}

func (k LongKind) String() string {
	if k == WrongAnswer {
		return "wrong answer"
	}
	return longKinds[k].name
}

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
	i := slices.IndexFunc(longKinds[:], func(k struct{ name, about string }) bool { return k.name == name })
	return LongKind(max(i, 0)), i >= 0
}

// bugs are the kinds of bugs that a model has.
type bugs []LongKind

func (b bugs) String() string {
	names := make([]string, len(b))
	for i, k := range b {
		names[i] = k.String()
	}
	return strings.Join(names, ", ")
}

// KindsOf returns the bugs of a model.
func KindsOf(model string) []LongKind { return longModels[model].bugs }

// ModelsOf returns the models that have a bug, by name.
func ModelsOf(kind LongKind) []string {
	var names []string
	for name, model := range longModels {
		if slices.Contains(model.bugs, kind) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// longModel says how to make a model's objects, and which bugs they can have.
type longModel struct {
	object func(l *long) longObject
	bugs   bugs
}

var longModels = map[string]longModel{
	"register":               {newLongRegister, bugs{StaleRead, LostWrite, ImpossibleRead}},
	"cas-register":           {newLongRegister, bugs{StaleRead, LostWrite, ImpossibleRead}},
	"versioned-register":     {newLongRegister, bugs{StaleRead, LostWrite, ImpossibleRead}},
	"multi-register":         {newLongRegisters, bugs{StaleRead, LostWrite, ImpossibleRead, TornRead}},
	"mutex":                  {newLongLock, bugs{TwoHolders}},
	"semaphore":              {newLongLock, bugs{TwoHolders}},
	"owner-mutex":            {newLongLock, bugs{TwoHolders, ForeignRelease}},
	"reentrant-mutex":        {newLongLock, bugs{TwoHolders, ForeignRelease}},
	"owner-semaphore":        {newLongLock, bugs{TwoHolders, ForeignRelease}},
	"fenced-mutex":           {newLongLock, bugs{TwoHolders, ForeignRelease, Duplicate}},
	"reentrant-fenced-mutex": {newLongLock, bugs{TwoHolders, ForeignRelease, Duplicate}},
	"set":                    {newLongSet, bugs{StaleRead, LostWrite, ImpossibleRead}},
	"lookup-set":             {newLongLookup, bugs{StaleRead, LostWrite, ImpossibleRead, Duplicate}},
	"fifo-queue":             {newLongQueue, bugs{StaleRead, LostWrite, ImpossibleRead, Duplicate, Reordered, WrongEmpty}},
	"unordered-queue":        {newLongQueue, bugs{LostWrite, ImpossibleRead, Duplicate, WrongEmpty}},
	"stack":                  {newLongQueue, bugs{StaleRead, LostWrite, ImpossibleRead, Duplicate, Reordered, WrongEmpty}},
	"priority-queue":         {newLongQueue, bugs{StaleRead, LostWrite, ImpossibleRead, Duplicate, Reordered, WrongEmpty}},
	"java-queue":             {newLongQueue, bugs{StaleRead, LostWrite, ImpossibleRead, Duplicate, Reordered, WrongEmpty}},
	"kv":                     {newLongKV, bugs{StaleRead, LostWrite, ImpossibleRead}},
	"counter":                {newLongCounter, bugs{StaleRead, LostWrite, ImpossibleRead}},
	"counting-semaphore":     {newLongCount, bugs{LostWrite}},
	"id-generator":           {newLongIDs, bugs{Duplicate}},
	"bank":                   {newLongBank, bugs{StaleRead, LostWrite, ImpossibleRead, TornRead}},
	"log":                    {newLongLog, bugs{StaleRead, LostWrite, ImpossibleRead, Duplicate}},
	"lease":                  {newLongLease, bugs{StaleRead, LostWrite, ImpossibleRead, Duplicate}},
}

// longMistaken are the models that have wrong answers.
var longMistaken = []string{"register", "cas-register", "multi-register", "kv", "fifo-queue", "unordered-queue", "stack", "priority-queue"}

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
	return flags
}

// Init returns the initial value of the histories as EDN, or "" for the model's
// default. For histories with a bug it returns the default itself: otherwise a wrong
// answer to the first read might be the initial value.
func (o LongOptions) Init() string {
	if o.Model != "bank" {
		spec := models.Spec{Name: o.Model}
		if d, err := spec.Definition(); o.Kind == Linearizable || err != nil || !d.Takes(models.ParamInit) {
			return ""
		}
		return spec.FromDefault().Init
	}
	return string(longBalances(nil, slices.Repeat([]int{longBalance}, o.defaults().Keys)))
}
