package gen

import (
	"strings"

	"clew/models"
)

// Anomalies of transactions are bugs that a script tells. Its transactions run while nothing else does, on two keys x and
// y, which a first transaction gives the mark 9. A transaction is a process, A to D, and its steps: wx0 writes or appends
// the mark 0 to x, and rx90 reads x after the marks 9 and 0. A register shows the last mark alone.
//
// Without the script's answers the history is strictly serializable, and no other transaction sees a mark that a later one
// of the script replaces. So a level of consistency holds for the history if and only if it holds for the script.
//
// The order is that of the text, or else that of the events: 2 calls the second transaction, and -2 ends it.
type script struct {
	text   string
	events []int
	// strongest are the strongest levels that hold.
	strongest []models.Level
}

var (
	nothing     = []models.Level{}
	uncommitted = []models.Level{models.ReadUncommitted}
	committed   = []models.Level{models.ReadCommitted}
	ofProcess   = []models.Level{models.Serializable}
	ofTime      = []models.Level{models.StrongSessionSerializable}
	ofKeys      = []models.Level{models.StrongSessionSerializable, models.SerializableLinearizableKeys}
)

// scripts are by kind. A "!" is behind the first transaction that is not strictly serializable with those before it.
var scripts = map[LongKind]script{
	LostUpdate:              {text: "A rx9 wx0; B rx9 wx1 !", strongest: committed},
	G0:                      {text: "A wx0 wy1; B wx2 wy3; C rx902 ry931 !", strongest: nothing},
	G0Process:               {text: "A wx0; A wx1; B rx910 !", strongest: ofProcess},
	G0Realtime:              {text: "A wx0; B wx1; C rx910 !", strongest: ofTime},
	G1a:                     {text: "A wx0 fail; B rx90 !", strongest: uncommitted},
	G1b:                     {text: "A wx0 wx1; B rx90 !", strongest: uncommitted},
	G1c:                     {text: "A wx0 ry91 !; B wy1 rx90", strongest: uncommitted},
	G1cProcess:              {text: "A rx90 !; A wx0", strongest: ofProcess},
	G1cRealtime:             {text: "A rx90 !; B wx0", strongest: ofTime},
	GSingleItem:             {text: "A rx9 wx0 ry9 wy1; B rx90 ry9 !", strongest: committed},
	GSingleItemProcess:      {text: "A rx9 wx0; A rx9 !", strongest: ofProcess},
	GSingleItemRealtime:     {text: "A rx9 wx0; B rx9 !", strongest: ofTime},
	GNonadjacentItem:        {text: "A ry9 wy0; B ry90 rx9; C rx9 wx1; C rx91 ry9 !", strongest: committed},
	GNonadjacentItemProcess: {text: "A rx9 wx0; A ry9; B ry9 wy1; B rx9 !", strongest: ofProcess},
	GNonadjacentItemRealtime: {text: "A ry9 wy0; B ry90 rx9; C rx9 wx1; D ry9 !", events: []int{2, 1, 3, -3, 4, -1, -2, -4},
		strongest: ofKeys},
	G2Item: {text: "A rx9 ry9 wy0; B rx9 ry9 wx1 !", strongest: []models.Level{models.StrongSessionSnapshotIsolation}},
	G2ItemProcess: {text: "A rx9 wx0; A ry9; B rx9 ry9 wy1 !", events: []int{3, 1, -1, 2, -2, -3},
		strongest: []models.Level{models.SerializableLinearizableKeys, models.StrongSessionSnapshotIsolation}},
	G2ItemRealtime:    {text: "A rx9 wx0; C ry9; B rx9 ry9 wy1 !", events: []int{3, 1, -1, 2, -2, -3}, strongest: ofKeys},
	Internal:          {text: "A wx0 rx9 !", strongest: committed},
	FutureRead:        {text: "A rx90 wx0 !", strongest: uncommitted},
	DirtyUpdate:       {text: "A wx0 fail; B wx1; C rx901 !", strongest: uncommitted},
	IncompatibleOrder: {text: "A wx0; B wx1; C rx901; A rx910 !", strongest: uncommitted},
	DuplicateElements: {text: "A wx0; B rx900 !", strongest: nothing},
}

// Strongest returns the strongest levels of consistency that hold for histories with an anomaly of transactions, and nil
// for other kinds.
func Strongest(k LongKind) []models.Level { return scripts[k].strongest }

func (k LongKind) anomaly() bool {
	_, ok := scripts[k]
	return ok
}

// Txn is a transaction of a script.
type Txn struct {
	Steps       []TxnStep
	process     int
	Fails, last bool
}

// TxnStep writes the last of its marks, or reads what has its marks. Its key is 0 or 1.
type TxnStep struct {
	Write bool
	Key   int
	Marks []int
}

// Player is an object with transactions that scripts can play.
type Player interface {
	// Play returns the operation of a transaction. If it does not fail, its writes take effect.
	Play(txn *Txn) Op
	// Played is called after the last one.
	Played()
}

// txns returns the transactions of a script, the first of which writes both keys. What a bug writes is marked.
func (s script) txns(mark int) (txns []Txn) {
	for text := range strings.SplitSeq("A wx9 wy9;"+s.text, ";") {
		var t Txn
		for word := range strings.FieldsSeq(text) {
			switch {
			case word == "!":
				t.last = true
			case word == "fail":
				t.Fails = true
			case len(word) == 1:
				t.process = int(word[0] - 'A')
			default:
				step := TxnStep{Write: word[0] == 'w', Key: int(word[1] - 'x')}
				for _, digit := range word[2:] {
					step.Marks = append(step.Marks, mark+int(digit-'0'))
				}
				t.Steps = append(t.Steps, step)
			}
		}
		txns = append(txns, t)
	}
	return txns
}

// Processes returns how many processes the kind needs.
func (k LongKind) Processes() int {
	if k == TwoHolders || k == ForeignRelease {
		return 2
	}
	most := 1
	if k.anomaly() {
		for _, t := range scripts[k].txns(0) {
			most = max(most, t.process+1)
		}
	}
	return most
}

// play writes the events of a script.
func (m *Maker) play(s script) {
	txns, player := s.txns(m.Mark), m.object.(Player)
	events := []int{1, -1}
	if s.events == nil {
		for i := 2; i <= len(txns); i++ {
			events = append(events, i, -i)
		}
	}
	for _, e := range s.events { // they do not count the first transaction
		events = append(events, e+max(min(e, 1), -1))
	}
	threads := m.Rand.Perm(len(m.threads))
	for _, e := range events {
		txn := &txns[max(e, -e)-1]
		t := &m.threads[threads[txn.process]]
		if e > 0 {
			t.op = player.Play(txn)
			t.op.Last = txn.last
			m.start(t)
			continue
		}
		if t.stage = took; txn.Fails {
			t.stage = refuses
		}
		m.complete(t)
	}
	player.Played()
	m.Phase, m.alone = After, false
}
