package bank

import (
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/text"
	"clew/internal/types/counter"
	"clew/jepsen"
	"clew/models"
)

// Kinds of bank. A is a place in the model's transfers or reads.
const (
	bankTransfer models.Kind = iota
	bankRead
)

// bank is accounts with balances. A state is sorted by account. For each account whose
// balance is not 0 it holds the account's class, and the upper and the lower 32 bits of the
// balance.
type bank struct {
	home.Base
	fTransfer, fRead    edn.ID
	kFrom, kTo, kAmount edn.ID
	negative            bool
	held                holding
	stand               string // what keywords in reads stand for, as in models.Spec.Accounts
	transfers           []transfer
	numbers             map[transfer]int32
	byValue             []int32 // by class of a transfer's value: 1 + its number, 0 if it was not met yet
	reads               []models.State
	readNumbers         models.Numbering
	accounts            models.Numbering // those that transfers and reads name, from 0 on
}

// transfer is an amount from one account to another. payer and payee are their numbers.
type transfer struct{ from, to, amount, payer, payee int32 }

var bankDefinition = models.Definition{
	Name: "bank", Fs: ":transfer (a map of from, to and amount), :read -> {account balance ..} or [balance ..]", About: "accounts that money moves between",
	Params:    []models.Param{models.ParamNegativeBalances, models.ParamAccounts},
	Repeating: []string{"transfer"},
	Default:   "{}",
	Record:    "clew.model.Bank",
	Words:     words,
	Warn:      warn,
	FromTest:  fromTest,
	Infer: func(s *models.Seen) models.Fit {
		if all := home.Returned(s, ":read"); s.Only(":read") && all.Maps > 0 && all.Maps == all.Collections && all.Scalars == 0 {
			return models.MayFit
		}
		return models.NoFit
	},
	New: newBank,
}

func newBank(b *models.Binding) (models.Reader, error) {
	f := b.Values.InternKeyword
	m := &bank{Base: home.NewBase(b), fTransfer: f("transfer"), fRead: f("read"), kFrom: f("from"), kTo: f("to"), kAmount: f("amount"),
		negative: b.Spec.NegativeBalances, stand: b.Spec.Accounts, numbers: map[transfer]int32{}}
	m.Offered = m.offers()
	m.takeTest(b.Spec.FromTest())
	if b.InitID == nil {
		return m, nil
	}
	each, rest, ok := b.PerKey()
	if m.V.Kind(*b.InitID) != edn.KindMap {
		return nil, home.BadInit(b, "a map of balances such as {0 10, 1 10}")
	}
	if !ok || rest != nil {
		return nil, home.BadInit(b, "a map of balances such as {0 10, 1 10}, with every account (there is no :default, since nothing says which accounts there are)")
	}
	var err error
	if m.Initial, err = m.balances(m.V.InternMap(each)); err != nil {
		return nil, models.ParamErrorf("bank's %s is a map of balances such as {0 10, 1 10}: %v", models.ParamInit, err)
	}
	return m, nil
}

// offers returns the traits of a bank.
func (m *bank) offers() models.Traits {
	t := models.Traits{
		Opening:   func() models.Opening { return newOpening(m) },
		FromAny:   m.fromAny,
		Because:   m.because,
		Survey:    m.survey,
		Run:       m.run,
		Lookahead: &models.Lookahead{MayFollow: m.mayFollow, MayLead: m.mayLead},
		Hard: func() models.Hard {
			return models.Hard{Change: []string{"use more banks with fewer transfers each"}}
		},
	}
	t.Levels, t.Anomaly = m.levels(), m.anomaly
	if !m.negative {
		t.Projections = m.relaxed
	}
	return t
}

// maxBalance bounds balances, so that no sum of transfers overflows.
const maxBalance = int64(1 << 61)

// balances reads a map of accounts and balances, or a vector of balances by place.
func (m *bank) balances(id edn.ID) (models.State, error) {
	id, err := m.meant(id)
	if err != nil {
		return nil, err
	}
	if m.V.Kind(id) != edn.KindMap {
		return nil, fmt.Errorf("expected {account balance ..}, found %s", m.V.Text(id))
	}
	var s models.State
	for kvs := m.V.Items(id); len(kvs) > 0; kvs = kvs[2:] {
		m.accounts.Of(m.Class(kvs[0]))
		n, ok := m.V.Int(kvs[1])
		if !ok || n < -maxBalance || n > maxBalance {
			return nil, fmt.Errorf("expected an integer from %d to %d as the balance of %s, found %s", -maxBalance, maxBalance, m.V.Text(kvs[0]), m.V.Text(kvs[1]))
		}
		s = withBalance(s, m.Class(kvs[0]), n)
	}
	return s, nil
}

// account returns where an account stands in a state, or would stand.
func account(s models.State, class int32) (i int, found bool) {
	for i < len(s) && s[i] < class {
		i += 3
	}
	return i, i < len(s) && s[i] == class
}

// balance returns the balance of an account, 0 if the state does not hold it.
func balance(s models.State, class int32) int64 {
	if i, found := account(s, class); found {
		return home.Number(s[i+1 : i+3])
	}
	return 0
}

// withBalance changes a state to another balance of an account, and returns it.
func withBalance(s models.State, class int32, n int64) models.State {
	i, found := account(s, class)
	switch n2 := home.StateOf(n); {
	case found && n == 0:
		return slices.Delete(s, i, i+3)
	case found:
		copy(s[i+1:], n2)
	case n != 0:
		return slices.Insert(s, i, class, n2[0], n2[1])
	}
	return s
}

func (m *bank) Read(o models.Operation) (models.Op, bool, error) {
	switch o.FID {
	case m.fTransfer:
		n, err := m.number(o.ValueID)
		return models.Op{Kind: bankTransfer, A: n}, err == nil, err
	case m.fRead:
		if o.Status == jepsen.Crashed || o.ValueID == edn.Nil {
			return models.Op{}, false, nil
		}
		n := m.readNumbers.Of(m.Class(o.ValueID))
		if int(n) == len(m.reads) {
			s, err := m.balances(o.ValueID)
			if err != nil {
				return models.Op{}, false, err
			}
			m.reads = append(m.reads, s)
		}
		return models.Op{Kind: bankRead, A: n}, true, nil
	}
	return models.Op{}, false, models.ErrUnknownF
}

// number returns the number of a transfer. Those that move the same share one, whatever else their maps say.
func (m *bank) number(id edn.ID) (int32, error) {
	class := m.Class(id)
	if int(class) < len(m.byValue) && m.byValue[class] > 0 {
		return m.byValue[class] - 1, nil
	}
	t, err := m.transfer(id)
	if err != nil {
		return 0, err
	}
	n, known := m.numbers[t]
	if !known {
		n = int32(len(m.transfers))
		m.numbers[t] = n
		m.transfers = append(m.transfers, t)
	}
	if more := int(class) + 1 - len(m.byValue); more > 0 {
		m.byValue = append(m.byValue, make([]int32, more)...)
	}
	m.byValue[class] = n + 1
	return n, nil
}

func (m *bank) transfer(id edn.ID) (t transfer, err error) {
	from, a := m.V.Get(id, m.kFrom)
	to, b := m.V.Get(id, m.kTo)
	amount, c := m.V.Get(id, m.kAmount)
	if !a || !b || !c {
		return t, fmt.Errorf("expected {:from a :to b :amount n}, found %s", m.V.Text(id))
	}
	n, ok := m.V.Int(amount)
	if !ok || n < 0 || n > counter.MaxAdded {
		return t, fmt.Errorf("expected an :amount from 0 to %d, found %s", counter.MaxAdded, m.V.Text(amount))
	}
	t = transfer{from: m.Class(from), to: m.Class(to), amount: int32(n)}
	t.payer, t.payee = m.accounts.Of(t.from), m.accounts.Of(t.to)
	return t, nil
}

// Accounts returns the accounts that the initial value, transfers and reads name.
func (m *bank) Accounts() (ids []edn.ID) {
	for id, number := range m.accounts.Number {
		if number > 0 {
			ids = append(ids, edn.ID(id))
		}
	}
	return ids
}

func (m *bank) Step(dst []models.State, s models.State, op models.Op) []models.State {
	if op.Kind == bankRead {
		if slices.Equal(s, m.reads[op.A]) {
			return append(dst, s)
		}
		return dst
	}
	t := m.transfers[op.A]
	left := balance(s, t.from) - int64(t.amount)
	switch {
	case left < 0 && !m.negative:
		return dst
	case t.from == t.to || t.amount == 0:
		return append(dst, s)
	}
	return append(dst, moved(slices.Clone(s), t))
}

// moved changes a state by a transfer that is possible, and returns it.
func moved(s models.State, t transfer) models.State {
	s = withBalance(s, t.from, balance(s, t.from)-int64(t.amount))
	return withBalance(s, t.to, balance(s, t.to)+int64(t.amount))
}

// run is Traits.Run.
func (m *bank) run(s models.State) models.Run { return &bankRun{m, slices.Clone(s)} }

type bankRun struct {
	m *bank
	s models.State
}

func (r *bankRun) State() models.State { return slices.Clone(r.s) }

func (r *bankRun) Apply(op models.Op) models.Outcome {
	if op.Kind == bankRead {
		return models.OneIf(slices.Equal(r.s, r.m.reads[op.A]))
	}
	t := r.m.transfers[op.A]
	if !r.m.negative && balance(r.s, t.from) < int64(t.amount) {
		return models.Impossible
	}
	r.s = moved(r.s, t)
	return models.One
}

// total is a level: the sum of all accounts. The others are balances, by the account's class.
const total = -1

func (m *bank) levels() *models.Levels {
	return &models.Levels{
		Start: func(level int64) (n int64) {
			if level != total {
				return balance(m.Initial, int32(level))
			}
			return sum(m.Initial)
		},
		Moves: func(dst []models.Move, op models.Op) []models.Move {
			if !m.Mutates(op) {
				return dst
			}
			t := m.transfers[op.A]
			return append(dst, models.By(int64(t.from), -int64(t.amount)), models.By(int64(t.to), int64(t.amount)))
		},
		Shows:       m.shows,
		NotNegative: !m.negative,
	}
}

func (m *bank) shows(dst []models.Bound, op models.Op) []models.Bound {
	if op.Kind == bankTransfer {
		return dst
	}
	saw := m.reads[op.A]
	dst = append(dst, models.Bound{Level: total, Least: sum(saw), Most: sum(saw)})
	for _, s := range [...]models.State{saw, m.Initial} {
		for i := 0; i < len(s); i += 3 {
			n := balance(saw, s[i])
			dst = append(dst, models.Bound{Level: int64(s[i]), Least: n, Most: n})
		}
	}
	return dst
}

// anomaly is Traits.Anomaly. No order of the transfers changes the total.
func (m *bank) anomaly(ops *models.Operations, row models.Row) models.Anomaly {
	op := ops.Op(row)
	if op.Kind == bankTransfer {
		return home.ByLevels(ops, row, func(models.Op, home.Beyond) models.Anomaly { return models.NegativeBalance })
	}
	saw := m.reads[op.A]
	if sum(saw) != sum(m.Initial) {
		return models.WrongTotal
	}
	for i := 0; i < len(saw); i += 3 {
		if home.Number(saw[i+1:i+3]) < 0 && !m.negative {
			return models.NegativeBalance
		}
	}
	return ""
}

// sum returns the sum of all balances.
func sum(s models.State) (n int64) {
	for i := 0; i < len(s); i += 3 {
		n += home.Number(s[i+1 : i+3])
	}
	return n
}

// relaxed returns the operations of a bank whose accounts may hold less than 0: the order of
// transfers does not matter there.
func (m *bank) relaxed(ops *models.Operations) []*models.Operations {
	return []*models.Operations{ops.Under(m.relax())}
}

// relax returns the bank with accounts that may hold less than 0.
func (m *bank) relax() *bank {
	relaxed := *m
	relaxed.negative = true
	relaxed.Offered = relaxed.offers()
	return &relaxed
}

func (m *bank) Mutates(op models.Op) bool {
	return op.Kind == bankTransfer && m.transfers[op.A].from != m.transfers[op.A].to && m.transfers[op.A].amount != 0
}

// mayFollow says whether a read may find the current balances plus what some of the others
// move.
func (m *bank) mayFollow(s models.State, op models.Op, others []models.Op) bool {
	if op.Kind == bankTransfer {
		t := m.transfers[op.A]
		return m.negative || balance(s, t.from)+m.moves(t.from, others, true) >= int64(t.amount)
	}
	x := missing{m: m, ops: others}
	target := m.reads[op.A]
	for i := 0; i < len(target); i += 3 {
		if !x.add(target[i], home.Number(target[i+1:i+3])) {
			return true
		}
	}
	for i := 0; i < len(s); i += 3 {
		if !x.add(s[i], -home.Number(s[i+1:i+3])) {
			return true
		}
	}
	return x.canMove()
}

// missing is what accounts must gain, or lose if it is less than 0, and the operations that
// may move it.
type missing struct {
	m     *bank
	ops   []models.Op
	gone  uint64 // the ops that were used or ruled out
	steps int
	by    [maxMissing]int64 // by number of the account
}

// maxMissing bounds the accounts, and maxMovers and maxMoves bound the attempts. Beyond any
// of these, canMove assumes that it is possible.
const (
	maxMissing = 32
	maxMovers  = 64
	maxMoves   = 200
)

// add says that an account must gain an amount. It returns false if there are too many
// accounts.
func (x *missing) add(class int32, amount int64) bool {
	known := x.m.accounts.Number
	if int(class) >= len(known) || known[class] == 0 || known[class] > maxMissing {
		return false
	}
	x.by[known[class]-1] += amount
	return true
}

// canMove says whether some of the operations move exactly the missing amounts. One of
// those that bring the first account nearer to its target must be among them. Each is
// tried, without those that were tried before it.
func (x *missing) canMove() bool {
	account := slices.IndexFunc(x.by[:], func(n int64) bool { return n != 0 })
	if x.steps++; account < 0 || x.steps > maxMoves || len(x.ops) > maxMovers {
		return true
	}
	before := x.gone
	for i, op := range x.ops {
		if x.gone>>i&1 != 0 || op.Kind != bankTransfer {
			continue
		}
		t := &x.m.transfers[op.A]
		if t.payer >= maxMissing || t.payee >= maxMissing {
			return true
		}
		if end := [2]int32{t.payer, t.payee}; end[0] == end[1] || x.by[account] > 0 && end[1] != int32(account) || x.by[account] < 0 && end[0] != int32(account) {
			continue
		}
		x.gone |= 1 << i
		x.by[t.payer] += int64(t.amount)
		x.by[t.payee] -= int64(t.amount)
		if x.canMove() {
			return true
		}
		x.by[t.payer] -= int64(t.amount)
		x.by[t.payee] += int64(t.amount)
	}
	x.gone = before
	return false
}

// mayLead rests on that the order of transfers does not matter while the account that pays has
// enough for all of them.
func (m *bank) mayLead(s models.State, op models.Op, others []models.Op) bool {
	if op.Kind != bankTransfer {
		return false
	}
	t := m.transfers[op.A]
	return m.negative || balance(s, t.from)-int64(t.amount) >= m.moves(t.from, others, false)
}

// moves returns how much transfers can move to an account, or from it.
func (m *bank) moves(class int32, ops []models.Op, to bool) int64 {
	sum := int64(0)
	for _, op := range ops {
		if op.Kind != bankTransfer {
			continue
		}
		if t := m.transfers[op.A]; to && t.to == class || !to && t.from == class {
			sum += int64(t.amount)
		}
	}
	return sum
}

func (m *bank) Why(s models.State, op models.Op) string {
	if op.Kind == bankRead {
		return "can't read " + m.text(m.reads[op.A]) + " from " + m.text(s)
	}
	t := m.transfers[op.A]
	return fmt.Sprintf("can't transfer %d from %s, which has %d", t.amount, m.Text(t.from), balance(s, t.from))
}

// because is Traits.Because. It says which accounts have other balances than those that were read.
func (m *bank) because(s models.State, op models.Op) string {
	if op.Kind != bankRead {
		return ""
	}
	read := m.reads[op.A]
	var accounts []int32
	for _, balances := range []models.State{s, read} {
		for i := 0; i < len(balances); i += 3 {
			if account := balances[i]; balance(s, account) != balance(read, account) && !slices.Contains(accounts, account) {
				accounts = append(accounts, account)
			}
		}
	}
	var differ []string
	for _, account := range m.InOrder(accounts) {
		differ = append(differ, fmt.Sprintf("%s has %d, not %d", m.Text(account), balance(s, account), balance(read, account)))
	}
	if more := len(differ) - maxDiffer; more > 0 {
		differ = append(differ[:maxDiffer], text.Count(more, "other account")+" differ")
	}
	return strings.Join(differ, ", and ")
}

// maxDiffer bounds the accounts that a sentence names.
const maxDiffer = 3

func (m *bank) text(s models.State) string { return m.V.Text(m.mapOf(s)) }

// mapOf returns a state as a map, with the accounts of the initial one.
func (m *bank) mapOf(s models.State) edn.ID {
	var kvs []edn.ID
	for i := 0; i < len(m.Initial); i += 3 {
		if _, found := account(s, m.Initial[i]); !found {
			kvs = append(kvs, edn.ID(m.Initial[i]), m.V.InternInt(0))
		}
	}
	for i := 0; i < len(s); i += 3 {
		kvs = append(kvs, edn.ID(s[i]), m.V.InternInt(home.Number(s[i+1:i+3])))
	}
	return m.V.InternMap(kvs)
}

func (m *bank) Record(s models.State) edn.Value {
	return m.Print("balances", m.mapOf(s))
}
