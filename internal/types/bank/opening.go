package bank

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// opening is the Opening of bank. No operation makes money. So the state before the first read is what it saw, less the
// transfers that had returned when it was called, and less some of those that were called before it returned. If there are
// any of the latter, and all reads together (home.Sums) do not exclude every state, fromAny decides.
//
// Without a read there may have been enough money for all transfers.
type opening struct {
	models.NoNeeds
	m       *bank
	sums    home.Sums     // place 0 is all accounts together
	account map[int32]int // the place of an account
	open    map[jepsen.Operation]openRead
	calls   []calledTransfer   // before the first read returned
	ended   []jepsen.Operation // those of them that have returned
	seen    bool               // a read has returned
	first   models.State       // what the first read saw, less the transfers that had returned
	besides bool               // other transfers may have come before it, too
	paid    map[int32]int64    // by account: what transfers take from it
}

type calledTransfer struct {
	op jepsen.Operation
	transfer
}

// openRead is what had happened when a read was called.
type openRead struct {
	had   []home.Amounts
	ended int // transfers that had returned
}

func newOpening(m *bank) *opening {
	o := &opening{m: m, account: map[int32]int{}, open: map[jepsen.Operation]openRead{}, paid: map[int32]int64{}}
	o.sums.Grow(1, -maxBalance, maxBalance)
	return o
}

// place returns the place of an account. The reads before it was named saw 0 there.
func (o *opening) place(class int32) int {
	at, known := o.account[class]
	if !known {
		at = 1 + len(o.account)
		o.account[class] = at
		if o.seen {
			o.sums.Grow(at+1, 0, 0)
		}
		o.sums.Grow(at+1, -maxBalance, maxBalance)
	}
	return at
}

func (o *opening) Call(i jepsen.Operation, op models.Op, status jepsen.Status) {
	switch {
	case status == jepsen.Failed:
	case op.Kind == bankRead:
		o.open[i] = openRead{o.sums.Returned(), len(o.ended)}
	default:
		t := o.m.transfers[op.A]
		o.paid[t.from] += int64(t.amount)
		o.sides(o.sums.Call, t)
		if !o.seen {
			o.calls = append(o.calls, calledTransfer{i, t})
		}
	}
}

// sides calls add for both sides of a transfer.
func (o *opening) sides(add func(place int, n int64), t transfer) {
	if t.from != t.to {
		add(o.place(t.from), -int64(t.amount))
		add(o.place(t.to), int64(t.amount))
	}
}

func (o *opening) Return(i jepsen.Operation, op models.Op, _ bool) {
	if op.Kind == bankTransfer {
		o.sides(o.sums.Return, o.m.transfers[op.A])
		if !o.seen {
			o.ended = append(o.ended, i)
		}
		return
	}
	saw, read := o.m.reads[op.A], o.open[i]
	delete(o.open, i)
	for k := 0; k < len(saw); k += 3 {
		o.place(saw[k])
	}
	o.sums.Read(0, sum(saw), 0, nil)
	for class, place := range o.account {
		o.sums.Read(place, balance(saw, class), 0, read.had)
	}
	if !o.seen {
		o.takeBack(saw, o.ended[:read.ended])
	}
	o.seen = true
}

// takeBack goes from what the first read saw to before the transfers that had returned.
func (o *opening) takeBack(saw models.State, ended []jepsen.Operation) {
	o.first = slices.Clone(saw)
	before := map[jepsen.Operation]bool{}
	for _, i := range ended {
		before[i] = true
	}
	for _, call := range o.calls {
		switch {
		case call.from == call.to || call.amount == 0:
		case before[call.op]:
			o.first = moved(o.first, transfer{from: call.to, to: call.from, amount: call.amount})
		default:
			o.besides = true
		}
	}
	o.calls, o.ended = nil, nil
}

func (o *opening) Puts(op models.Op) bool { return op.Kind == bankTransfer }

func (o *opening) Later() bool { return true }

func (o *opening) Starts() []edn.ID {
	start := o.first
	switch {
	case !o.seen:
		start = o.m.held.filled(o.enough())
	case o.besides || !o.m.negative && isPoor(start):
		return nil
	}
	if len(start) == 0 || !o.m.held.fits(start) {
		return nil // the default
	}
	return []edn.ID{o.m.initOf(start)}
}

func (o *opening) Else() models.Else {
	if !o.seen {
		return models.Else{More: o.m.held.known && sum(o.enough()) > o.m.held.total}
	}
	return models.Else{More: o.besides, Refuted: o.refuted() || !o.m.held.fits(o.first)} // no transfer changes the sum
}

// isPoor reports whether an account holds less than 0.
func isPoor(s models.State) bool {
	for k := 0; k < len(s); k += 3 {
		if home.Number(s[k+1:k+3]) < 0 {
			return true
		}
	}
	return false
}

// enough returns a state from which all transfers are possible in any order.
func (o *opening) enough() (s models.State) {
	for class, n := range o.paid {
		s = withBalance(s, class, n)
	}
	return s
}

// refuted reports whether no balances explain the reads, whatever the transfers did.
func (o *opening) refuted() bool {
	for place := range 1 + len(o.account) {
		if least, most := o.sums.Bounds(place); least > most || most < 0 && !o.m.negative {
			return true
		}
	}
	return false
}

// begins is the kind of the first read.
const begins = bankRead + 1

// fromAny is Traits.FromAny. Until a read shows the balances, what transfers moved counts, and what they needed: an account
// had at first what it is short of when it pays. The first read is possible if, without what was moved by then, it leaves
// each account what was needed, and says what was there at first. Whatever comes after it depends on the balances alone.
func (m *bank) fromAny(ops *models.Operations) iter.Seq[models.FromAny] {
	return func(yield func(models.FromAny) bool) {
		for _, first := range home.First(&ops.Columns, func(op models.Op) bool { return op.Kind == bankRead }) {
			from := models.FromAny{Operations: ops.Under(newOpenBank(m, m.leastBefore(ops, first))), Start: func(order []models.Row) (edn.ID, bool) {
				return m.startOf(ops, order, first)
			}}
			from.Kind = slices.Clone(ops.Kind)
			from.Kind[first] = begins
			if !yield(from) {
				return
			}
		}
	}
}

// startOf returns the balances before all rows of an order, of which one is the first read.
func (m *bank) startOf(ops *models.Operations, order []models.Row, first models.Row) (edn.ID, bool) {
	at := slices.Index(order, first)
	if at < 0 {
		return edn.Nil, false
	}
	start := slices.Clone(m.reads[ops.A[first]])
	for _, row := range order[:at] {
		if t := m.transfers[ops.A[row]]; t.from != t.to {
			start = moved(start, transfer{from: t.to, to: t.from, amount: t.amount})
		}
	}
	return m.initOf(start), len(start) > 0
}

// initOf returns a state as an initial value.
func (m *bank) initOf(s models.State) edn.ID { return models.InitMap(m.V, m.V.Items(m.mapOf(s))) }

// leastBefore returns a function of what an account had at first at least, if a read is the first one.
func (m *bank) leastBefore(ops *models.Operations, first models.Row) func(class int32) int64 {
	most := map[int32]int64{} // that was moved to an account
	for row := range models.Row(ops.Len()) {
		if ops.Kind[row] != bankTransfer || ops.Inv[row] > ops.Res[first] {
			continue
		}
		if t := m.transfers[ops.A[row]]; t.from != t.to {
			most[t.to] += int64(t.amount)
			if ops.Res[row] < ops.Inv[first] {
				most[t.from] -= int64(t.amount)
			}
		}
	}
	return func(class int32) int64 { return max(0, balance(m.reads[ops.A[first]], class)-most[class]) }
}

// openBank is a bank that nothing is known of before a read begins it. Until then, a state holds `open`, how many numbers
// what was moved takes, what was moved, and what was needed, the last two like balances. What an account had in any
// case (least) is not needed.
type openBank struct {
	*bank
	least   func(class int32) int64
	offered models.Traits
}

// open is not the class of an account.
const open = -1

func newOpenBank(m *bank, least func(class int32) int64) *openBank {
	x := &openBank{bank: m, least: least}
	x.offered = models.Traits{Hard: m.Offered.Hard, Lookahead: &models.Lookahead{MayFollow: x.mayFollow, MayLead: x.mayLead}}
	if !m.negative {
		x.offered.Projections = func(ops *models.Operations) []*models.Operations {
			return []*models.Operations{ops.Under(newOpenBank(m.relax(), least))}
		}
	}
	return x
}

func (m *openBank) Traits() *models.Traits { return &m.offered }

func (m *openBank) Init() models.State { return models.State{open, 0} }

func isOpen(s models.State) bool { return len(s) > 0 && s[0] == open }

// shares returns what was moved, and what was needed.
func shares(s models.State) (gained, needed models.State) { return s[2 : 2+s[1]], s[2+s[1]:] }

func (m *openBank) Step(dst []models.State, s models.State, op models.Op) []models.State {
	if !isOpen(s) {
		if op.Kind == begins {
			op.Kind = bankRead
		}
		return m.bank.Step(dst, s, op)
	}
	gained, needed := shares(s)
	switch op.Kind {
	case bankTransfer:
		return append(dst, m.transferred(gained, needed, m.transfers[op.A]))
	case begins:
		if saw := m.reads[op.A]; m.negative || isEnough(saw, gained, needed) {
			return append(dst, saw)
		}
	}
	return dst
}

func (m *openBank) transferred(gained, needed models.State, t transfer) models.State {
	gained, needed = slices.Clone(gained), slices.Clone(needed)
	if short := int64(t.amount) - balance(gained, t.from); !m.negative && short > max(m.least(t.from), balance(needed, t.from)) {
		needed = withBalance(needed, t.from, short)
	}
	if t.from != t.to {
		gained = moved(gained, t)
	}
	return slices.Concat(models.State{open, int32(len(gained))}, gained, needed)
}

// isEnough reports whether accounts had what was needed, if they hold balances once they have gained something.
func isEnough(balances, gained, needed models.State) bool {
	for _, accounts := range []models.State{balances, gained, needed} {
		for i := 0; i < len(accounts); i += 3 {
			if class := accounts[i]; balance(balances, class)-balance(gained, class) < balance(needed, class) {
				return false
			}
		}
	}
	return true
}

func (m *openBank) Why(models.State, models.Op) string { return "no balances are known" }

func (m *openBank) Record(s models.State) edn.Value {
	if isOpen(s) {
		s, _ = shares(s)
	}
	return m.bank.Record(s)
}

// Mutates: a transfer from an account to itself shows what it holds.
func (m *openBank) Mutates(op models.Op) bool {
	return op.Kind == begins || m.bank.Mutates(op) || op.Kind == bankTransfer && !m.negative && m.transfers[op.A].amount != 0
}

// mayFollow is Lookahead.MayFollow.
func (m *openBank) mayFollow(s models.State, op models.Op, others []models.Op) bool {
	if !isOpen(s) {
		return m.bank.mayFollow(s, op, others)
	}
	return op.Kind != bankRead || slices.ContainsFunc(others, isFirst)
}

func isFirst(op models.Op) bool { return op.Kind == begins }

// mayLead is Lookahead.MayLead. While nothing more is needed of the two accounts, the order of transfers does not matter.
func (m *openBank) mayLead(s models.State, op models.Op, others []models.Op) bool {
	switch {
	case slices.ContainsFunc(others, isFirst):
		return false
	case !isOpen(s) || op.Kind != bankTransfer:
		return m.bank.mayLead(s, op, others)
	}
	t := m.transfers[op.A]
	gained, _ := shares(s)
	spare := func(class int32) int64 {
		return m.least(class) + balance(gained, class) - m.moves(class, others, false)
	}
	return m.negative || spare(t.from) >= int64(t.amount) && spare(t.to) >= 0
}

// holding is what the map of a test says of a bank: its accounts and their sum, and no balances.
type holding struct {
	known    bool
	accounts []int32 // classes
	total    int64
}

// fromTest takes both from the map of a test, where jepsen.tests.bank has them.
func fromTest(get func(key string) (edn.Value, bool)) string {
	accounts, has := get("accounts")
	total, said := get("total-amount")
	if _, isInt := total.Int(); !has || !said || !isInt || len(accounts.Items()) == 0 || accounts.Kind() == edn.KindMap {
		return ""
	}
	var all []string
	for _, a := range accounts.Items() {
		all = append(all, a.String())
	}
	return fmt.Sprintf("{:accounts [%s], :total-amount %s}", strings.Join(all, " "), total)
}

// takeTest takes what fromTest returned.
func (m *bank) takeTest(said string) {
	id, err := m.V.ParseLenient([]byte(said))
	if said == "" || err != nil {
		return
	}
	accounts, _ := m.V.Get(id, m.V.InternKeyword("accounts"))
	total, _ := m.V.Get(id, m.V.InternKeyword("total-amount"))
	for _, a := range m.V.Items(accounts) {
		m.held.accounts = append(m.held.accounts, m.Class(a))
	}
	m.held.total, m.held.known = m.V.Int(total)
}

// fits reports whether a state may be the initial one. Accounts that all have other names than the test's are named in another
// form, and say nothing.
func (h *holding) fits(s models.State) bool {
	if !h.known {
		return true
	}
	strangers := 0
	for k := 0; k < len(s); k += 3 {
		if !slices.Contains(h.accounts, s[k]) {
			strangers++
		}
	}
	return sum(s) == h.total && (strangers == 0 || 3*strangers == len(s))
}

// filled returns a state with what is left of the sum on the first account.
func (h *holding) filled(s models.State) models.State {
	if left := h.total - sum(s); h.known && left > 0 {
		return withBalance(s, h.accounts[0], balance(s, h.accounts[0])+left)
	}
	return s
}
