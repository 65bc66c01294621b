package bank

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// Reads may name accounts in another form than transfers do:
//
//	{"type":"ok","f":"transfer","value":{"from":0,"to":1,"amount":5}}    the numbers 0 and 1
//	{"type":"ok","f":"read","value":{"0":5,"1":5}}                       the keywords :0 and :1, since JSON has no other keys
//	{:type :ok, :f :read, :value [5 5]}                                  no name: the place is the account
//
// A keyword in balances is taken for the number or the string of its name if all other accounts of the history are
// numbers, or strings: those of transfers, and the other keys of reads and of the initial value. So a history has one form,
// and where it has several, names are as they are written. models.Spec.Accounts may say it instead.

// survey is Traits.Survey. It finds out what keywords in reads stand for, and whether reads by place fit the transfers.
func (m *bank) survey(s *models.Spec, h *jepsen.History) error {
	x := accountsSeen{m: m, numeric: true}
	if s.Init != "" {
		if init, err := m.V.Parse([]byte(s.Init), edn.Pos{}); err == nil {
			each, _, _ := models.InitPerKey(m.V, init)
			x.keys(m.V.InternMap(each))
		}
	}
	places := -1 // of the shortest read by place
	for op, inv := range h.Invocation {
		switch id := h.OpValue(jepsen.Operation(op)); {
		case h.Status[op] == jepsen.Failed:
		case h.F[inv] == m.fTransfer:
			from, _ := m.V.Get(id, m.kFrom)
			to, _ := m.V.Get(id, m.kTo)
			x.add(from)
			x.add(to)
		case h.F[inv] != m.fRead || h.Status[op] != jepsen.Succeeded:
		case m.V.Kind(id) == edn.KindMap:
			x.keys(id)
		default:
			if items, ok := m.Sequence(id); ok && (places < 0 || len(items) < places) {
				places = len(items)
			}
		}
	}
	if s.Accounts == "" {
		s.Accounts = x.stand()
	}
	if places < 0 {
		return nil
	}
	return m.checkPlaces(h, places)
}

// accountsSeen are the forms of the accounts of a history.
type accountsSeen struct {
	m                        *bank
	numbers, strings, others bool // accounts that are not keywords in balances
	keywords                 bool // balances name some account by a keyword
	numeric                  bool // each of these is the name of a number
}

// add notes an account that has a form of its own.
func (x *accountsSeen) add(id edn.ID) {
	switch x.m.V.Kind(id) {
	case edn.KindInt:
		x.numbers = true
	case edn.KindString:
		x.strings = true
	default:
		x.others = true
	}
}

// keys notes the accounts of a map of balances. Keywords there may stand for others.
func (x *accountsSeen) keys(id edn.ID) {
	for kvs := x.m.V.Items(id); len(kvs) > 0; kvs = kvs[2:] {
		if x.m.V.Kind(kvs[0]) != edn.KindKeyword {
			x.add(kvs[0])
			continue
		}
		x.keywords = true
		if x.numeric {
			_, x.numeric = number(x.m.V.Str(kvs[0]))
		}
	}
}

// stand returns what the keywords of reads stand for, as in models.Spec.Accounts.
func (x *accountsSeen) stand() string {
	switch {
	case !x.keywords || x.others:
	case x.numbers && !x.strings && x.numeric:
		return models.AccountsNumbers
	case x.strings && !x.numbers:
		return models.AccountsStrings
	}
	return ""
}

// number returns the integer that a name spells as JSON does.
func number(name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == name
}

// named returns the account that a key of balances stands for.
func (m *bank) named(key edn.ID) edn.ID {
	if m.V.Kind(key) != edn.KindKeyword {
		return key
	}
	switch name := m.V.Str(key); m.stand {
	case models.AccountsNumbers:
		if n, ok := number(name); ok {
			return m.V.InternInt(n)
		}
	case models.AccountsStrings:
		return m.V.InternString(name)
	}
	return key
}

// meant returns balances as a map of the accounts that they mean, and anything else as it is.
func (m *bank) meant(id edn.ID) (balances edn.ID, err error) {
	kvs, byPlace := m.Sequence(id)
	switch {
	case byPlace:
		var named []edn.ID
		for place, balance := range kvs {
			named = append(named, m.V.InternInt(int64(place)), balance)
		}
		return m.V.InternMap(named), nil
	case m.stand == "" || m.stand == models.AccountsAsWritten || m.V.Kind(id) != edn.KindMap:
		return id, nil
	}
	named := slices.Clone(m.V.Items(id))
	for i := 0; i < len(named); i += 2 {
		account := m.named(named[i])
		if _, twice := m.V.Get(id, account); twice && account != named[i] {
			return id, fmt.Errorf("expected each account once, found %s and %s in %s; give %s %s if these are two accounts",
				m.V.Text(account), m.V.Text(named[i]), text.Shorten(m.V.Text(id), models.MaxRepeated), models.ParamAccounts, models.AccountsAsWritten)
		}
		named[i] = account
	}
	return m.V.InternMap(named), nil
}

// checkPlaces returns an error if a transfer names an account that is not one of the places of reads by place.
func (m *bank) checkPlaces(h *jepsen.History, places int) error {
	for op, inv := range h.Invocation {
		if h.F[inv] != m.fTransfer || h.Status[op] == jepsen.Failed {
			continue
		}
		id := h.OpValue(jepsen.Operation(op))
		for _, end := range []edn.ID{m.kFrom, m.kTo} {
			account, _ := m.V.Get(id, end)
			if n, isInt := m.V.Int(account); !isInt || n < 0 || n >= int64(places) {
				return h.Errorf(h.LastEvent(jepsen.Operation(op)), "a read of a vector has balances by place, so its accounts are from 0 to %d; found %s in %s; record reads as {account balance ..}",
					places-1, m.V.Text(account), text.Shorten(m.V.Text(id), models.MaxRepeated))
			}
		}
	}
	return nil
}

// namer returns a bank that only names accounts.
func namer(s models.Spec, h *jepsen.History) *bank {
	m := &bank{stand: s.Accounts, fRead: h.Values.InternKeyword("read")}
	m.V = h.Values
	return m
}

// words tells reads with the accounts that they mean, if they name them in another form.
func words(s models.Spec, h *jepsen.History) jepsen.Words {
	if s.Accounts != models.AccountsNumbers && s.Accounts != models.AccountsStrings {
		return jepsen.Words{}
	}
	m, other := namer(s, h), map[edn.ID]edn.ID{}
	for op, inv := range h.Invocation {
		if id := h.OpValue(jepsen.Operation(op)); h.F[inv] == m.fRead && h.Values.Kind(id) == edn.KindMap {
			if balances, err := m.meant(id); err == nil && balances != id {
				other[id] = balances
			}
		}
	}
	return jepsen.Words{Value: func(id edn.ID) string {
		if balances, is := other[id]; is {
			id = balances
		}
		return h.Values.Text(id)
	}}
}

// warn says which reads say nothing, and which accounts of reads were taken for others.
func warn(s models.Spec, h *jepsen.History) string {
	silent, taken := home.WarnOfNil("read", h), taken(s, h)
	if silent != "" && taken != "" {
		return silent + "; " + taken
	}
	return silent + taken
}

// taken says which accounts of reads were taken for others, "" if none were.
func taken(s models.Spec, h *jepsen.History) string {
	if s.Accounts != models.AccountsNumbers && s.Accounts != models.AccountsStrings {
		return ""
	}
	m := namer(s, h)
	var written, meant []string
	for op, inv := range h.Invocation {
		if h.F[inv] != m.fRead || h.Status[op] != jepsen.Succeeded {
			continue
		}
		id := h.OpValue(jepsen.Operation(op))
		if m.V.Kind(id) != edn.KindMap {
			continue
		}
		for kvs := m.V.Items(id); len(kvs) > 0; kvs = kvs[2:] {
			if account := m.named(kvs[0]); account != kvs[0] && len(written) < maxDiffer && !slices.Contains(written, m.V.Text(kvs[0])) {
				written, meant = append(written, m.V.Text(kvs[0])), append(meant, m.V.Text(account))
			}
		}
		if len(written) > 0 {
			break
		}
	}
	if len(written) == 0 {
		return ""
	}
	return fmt.Sprintf("the accounts %s of reads are %s %s, as transfers name them: JSON's objects have only strings for keys, which are keywords here (%s %s keeps them apart)",
		strings.Join(written, ", "), map[string]string{models.AccountsNumbers: "the numbers", models.AccountsStrings: "the strings"}[s.Accounts],
		strings.Join(meant, ", "), "--"+string(models.ParamAccounts), models.AccountsAsWritten)
}
