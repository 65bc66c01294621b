package bank

import (
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// bankOpening is the Opening of bank. No operation makes money. So the state before the first read is what it saw, less
// the transfers that had returned when it was called, and less some of those that were called before it returned. All
// reads bound the balances (home.Sums), which leaves few of these states.
//
// Without a read there may have been enough money for all transfers.
type bankOpening struct {
	models.NoNeeds
	m       *bank
	sums    home.Sums     // place 0 is all accounts together
	account map[int32]int // the place of an account
	open    map[jepsen.Operation]openRead
	calls   []calledTransfer   // before the first read returned
	ended   []jepsen.Operation // those of them that have returned
	seen    bool               // a read has returned
	first   models.State       // what the first read saw, less the transfers that had returned
	besides []transfer         // what may have come before it, too
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

// maxBesides bounds the transfers beside the first read that may have come before it.
const maxBesides = 12

func newBankOpening(m *bank) *bankOpening {
	o := &bankOpening{m: m, account: map[int32]int{}, open: map[jepsen.Operation]openRead{}, paid: map[int32]int64{}}
	o.sums.Grow(1, -maxBalance, maxBalance)
	return o
}

// place returns the place of an account. The reads before it was named saw 0 there.
func (o *bankOpening) place(class int32) int {
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

func (o *bankOpening) Call(i jepsen.Operation, op models.Op, status jepsen.Status) {
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
func (o *bankOpening) sides(add func(place int, n int64), t transfer) {
	if t.from != t.to {
		add(o.place(t.from), -int64(t.amount))
		add(o.place(t.to), int64(t.amount))
	}
}

func (o *bankOpening) Return(i jepsen.Operation, op models.Op, _ bool) {
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
func (o *bankOpening) takeBack(saw models.State, ended []jepsen.Operation) {
	o.first = slices.Clone(saw)
	before := map[jepsen.Operation]bool{}
	for _, i := range ended {
		before[i] = true
	}
	for _, call := range o.calls {
		switch {
		case call.from == call.to || call.amount == 0:
		case before[call.op]:
			o.first = back(o.first, call.transfer)
		default:
			o.besides = append(o.besides, call.transfer)
		}
	}
	o.calls, o.ended = nil, nil
}

// back changes a state to that before a transfer, and returns it.
func back(s models.State, t transfer) models.State {
	s = withBalance(s, t.from, balance(s, t.from)+int64(t.amount))
	return withBalance(s, t.to, balance(s, t.to)-int64(t.amount))
}

func (o *bankOpening) Puts(op models.Op) bool { return op.Kind == bankTransfer }

func (o *bankOpening) Later() bool { return true }

func (o *bankOpening) Starts() []edn.ID {
	switch {
	case !o.seen && o.m.held.known && sum(o.enough()) > o.m.held.total:
		return nil
	case !o.seen:
		return o.starts([]models.State{o.m.held.filled(o.enough())})
	case len(o.besides) > maxBesides && !o.refuted():
		return nil
	}
	besides := o.besides[:min(len(o.besides), maxBesides)]
	states, known := []models.State{o.first}, map[string]bool{fmt.Sprint(o.first): true}
	for _, t := range besides {
		for _, s := range states[:len(states):len(states)] {
			if s = back(slices.Clone(s), t); !known[fmt.Sprint(s)] {
				known[fmt.Sprint(s)] = true
				states = append(states, s)
			}
		}
	}
	states = slices.DeleteFunc(states, func(s models.State) bool { return !o.m.negative && isPoor(s) || !o.m.held.fits(s) })
	within := slices.DeleteFunc(slices.Clone(states), func(s models.State) bool { return !o.mayBegin(s) })
	if len(within) == 0 { // the history fails later from these than from the default
		within = states[:min(len(states), models.MaxOpenings)]
	}
	return o.starts(within)
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

// starts returns states as maps, without the empty one, which is the default.
func (o *bankOpening) starts(states []models.State) []edn.ID {
	var starts []edn.ID
	for _, s := range states {
		if len(s) > 0 {
			starts = append(starts, o.m.mapOf(s))
		}
	}
	return starts
}

// enough returns a state from which all transfers are possible in any order.
func (o *bankOpening) enough() (s models.State) {
	for class, n := range o.paid {
		s = withBalance(s, class, n)
	}
	return s
}

// refuted reports whether no balances explain the reads, whatever the transfers did.
func (o *bankOpening) refuted() bool {
	for place := range 1 + len(o.account) {
		if least, most := o.sums.Bounds(place); least > most || most < 0 && !o.m.negative {
			return true
		}
	}
	return false
}

// mayBegin reports whether a state is within the bounds that the reads give.
func (o *bankOpening) mayBegin(s models.State) bool {
	for class, place := range o.account {
		n := balance(s, class)
		if least, most := o.sums.Bounds(place); n < least || n > most {
			return false
		}
	}
	return true
}

func (o *bankOpening) Else() models.Else {
	poor := !o.seen && o.m.held.known && sum(o.enough()) > o.m.held.total
	return models.Else{More: len(o.besides) > maxBesides && !o.refuted() || poor}
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
