package clojure

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
)

// maker makes forms: few values of each type, close to each other, in all their spellings.
type maker struct{ *rand.Rand }

func (m maker) of(texts ...string) string { return texts[m.IntN(len(texts))] }

// families are sorts of forms. Clojure reads the strict ones if and only if clew does.
// clew may read others that Clojure does not.
var families = []struct {
	name   string
	make   func(m maker) string
	strict bool
}{
	{"numbers", maker.number, true},
	{"near numbers", maker.nearNumber, true},
	{"numbers, perhaps", func(m maker) string {
		return m.of("", "+", "-") + m.junk("0123", 1, 1) + m.junk("0123456789+-./eEMNrRxXa", 0, 6)
	}, true},
	{"strings", maker.str, true},
	{"escapes", func(m maker) string { return `"` + m.junk(`\\\01378utnrfbx4 ;a`, 1, 6) + `"` }, true},
	{"characters", maker.character, true},
	{"characters, perhaps", func(m maker) string { return `\` + m.junk("uo0017aA8", 1, 5) }, true},
	{"names", maker.name, true},
	{"names, perhaps", func(m maker) string { return m.of(":", "") + m.junk("ab1/:.+-_^#é", 1, 4) }, false},
	{"instants", maker.instant, true},
	{"UUIDs", maker.uuid, true},
	{"constants", func(m maker) string { return m.of("nil", "true", "false", "nil", ":nil", "##Inf", "##NaN") }, true},
	{"collections", func(m maker) string { return m.collection(2) }, true},
	{"vectors to compare", func(m maker) string { return m.vector(m.nearNumber) }, true},
	{"vectors", func(m maker) string { return m.vector(m.scalar) }, true},
	{"maps with namespaces", maker.namespaced, true},
	{"what Clojure passes over", maker.passedOver, true},
	{"tagged", func(m maker) string {
		return "#" + m.of("foo", "foo.Bar", "inst", "uuid", "=", "?", "1") + " " + m.of("1", "1N", "[1]", "(1)", `"2020"`)
	}, true},
}

// junk returns a few pieces of an alphabet.
func (m maker) junk(alphabet string, least, most int) string {
	letters := []rune(alphabet)
	var b strings.Builder
	for range least + m.IntN(most-least+1) {
		b.WriteRune(letters[m.IntN(len(letters))])
	}
	return b.String()
}

var integers = []string{"0", "0", "1", "1", "2", "7", "8", "63", "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740994",
	"9223372036854775807", "9223372036854775808", "9223372036854775809", "99999999999999999999"}

// number returns a number of any sort.
func (m maker) number() string {
	sign := m.of("", "", "+", "-")
	n, _ := new(big.Int).SetString(m.of(integers...), 10)
	switch m.IntN(14) {
	case 0, 1:
		return sign + n.String()
	case 2:
		return sign + n.String() + "N"
	case 3:
		return sign + m.of("0x", "0X") + n.Text(16) + m.of("", "N")
	case 4:
		return sign + "0" + n.Text(8) + m.of("", "N")
	case 5:
		base := 2 + m.IntN(35)
		return sign + fmt.Sprint(base) + m.of("r", "R") + n.Text(base)
	case 6:
		k := int64(1 + m.IntN(4))
		return sign + new(big.Int).Mul(n, big.NewInt(k)).String() + "/" + fmt.Sprint(k)
	case 7:
		return sign + n.String() + "/" + m.of("2", "4", "3", "6", "5", "10")
	case 8, 9:
		return sign + n.String() + m.of(".", ".0", ".00", "e0", "E+0", ".0e-0")
	case 10:
		return sign + m.of("0.5", "5e-1", ".5", "0.1", "0.10", "1e400", "1e-400", "5e-324", "4.9e-324", "0.30000000000000004", "0.3", "1e3", "1000.0")
	case 11:
		return m.of("##Inf", "##-Inf", "##NaN")
	case 12:
		return sign + n.String() + m.of("", ".0", ".000", "e0", "e2", "E-2") + "M"
	}
	return sign + m.of("0.5", "0.50", "50e-2", "0.1", "1e400", "1e-400", "1e3", "1000", "0.333") + "M"
}

// nearNumber returns one of some numbers that floating point cannot distinguish.
func (m maker) nearNumber() string {
	switch m.IntN(5) {
	case 0:
		return fmt.Sprint(9007199254740990+m.Int64N(5)) + m.of("", "", "N", ".0", ".0", "M", ".5M")
	case 1:
		return m.of("1/3", "2/6", "0.3333333333333333", "0.33333333333333331", "0.3333333333333333M", "3333333333333333/10000000000000000", "2/3", "0.6666666666666666", "0.6666666666666667")
	case 2:
		return m.of("1e400M", "1e401M", "##Inf", "1.7976931348623157e308", "-1e400M", "##-Inf", "1e-400M", "0.0", "0", "-0.0", "4.9e-324", "##NaN", "nil")
	case 3:
		return m.of("1234567890123456.5", "2469135780246913/2", "2469135780246914/2", "1234567890123456.0", "1234567890123457.0", "1234567890123456", "1234567890123456.5M", "1234567890123457")
	}
	return m.of("0.1", "1/10", "0.1M", "1/2", "0.5", "0.5M", "1", "1.0", "1.0M", "2/2", "3")
}

// plainUnits are parts of strings, and of names.
var plainUnits = []string{"a", "b", "A", "é", "\uff5e", "😀", "\ue000", "퟿", "\uffff", "𐀀"}

func (m maker) str() string {
	var b strings.Builder
	for range m.IntN(4) {
		b.WriteString(m.of(m.of(plainUnits...), m.of(`\ud83d`, `\uDE00`, `\ud83d\ude00`, `\uff5e`, `\uFF5E`, `\ud800`, `\udfff`, `\u0061`, `\u0041`, `\141`, `\1`, `\n`, "\n", `\t`, "\t", `\"`, `\\`, `\u0000`, `\0`, "\x00", ";", " ")))
	}
	return `"` + b.String() + `"`
}

func (m maker) character() string {
	return `\` + m.of("a", "u0061", "o141", "A", "u0041", "newline", "u000a", "o12", "\n", "space", " ", "u0020", "tab", "\t", "u0009", "return", "formfeed", "u000C", "backspace",
		"b", "n", "u", "o", "o0", "u0000", "\uff5e", "uff5e", "uFF5E", "é", "(", ",", "\\", "\"", ";", "o377", "o400", "uffff")
}

func (m maker) name() string {
	unit := func() string { return m.of(m.of("a", "b", "a.b", "-", "*x*", "a1"), m.of(plainUnits...)) }
	text := unit()
	if m.IntN(3) == 0 {
		text = unit() + "/" + text
	}
	return m.of(":", ":", "") + m.of(text, text, text, "a/b/c", "/", "a//", "_/a")
}

func (m maker) instant() string {
	year := m.of("2020", "2020", "2019", "1970", "1582", "1583", "1500", "0000", "0001", "9999", "1900")
	parts := []string{year, "-" + m.of("01", "01", "02", "10", "12", "13", "00"), "-" + m.of("01", "01", "05", "14", "15", "28", "29", "31", "00"), "T" + m.of("00", "00", "23", "24"),
		":" + m.of("00", "59", "60"), ":" + m.of("00", "59", "60", "61"), "." + m.of("0", "0001", "001", "1", "10", "999999999", "0009999999999")}
	text := strings.Join(parts[:1+m.IntN(len(parts))], "") + m.of("", "", "Z", "-00:00", "+00:00", "+01:00", "-01:00", "+23:59", "+24:00", "z", "+0100")
	return `#inst "` + text + `"`
}

func (m maker) uuid() string {
	part := func() string {
		return m.of("1", "1", "1", "0001", "f", "F", "00000001", "10001", "ffffffff", "+1", "8000", "0", "000000000001", "800000000001", "", "g", "7fffffffffffffff", "8000000000000000")
	}
	parts := []string{part(), part(), part(), part(), part()}
	for i := range parts {
		if m.IntN(3) > 0 {
			parts[i] = m.of("1", strings.Repeat("0", []int{7, 3, 3, 3, 11}[i])+"1")
		}
	}
	return `#uuid "` + strings.Join(parts, "-") + m.of("", "", "", "", "", "-1") + `"`
}

// scalar returns one of a few values.
func (m maker) scalar() string {
	return m.of("1", "1N", "1.0", "1.0M", "1.00M", "1/2", "2/4", "0.5", "0.0", "-0.0", "nil", "true", "false", ":a", "a", `"a"`, `"\u0061"`, `\a`, `\u0061`, "\"\uff5e\"", `"😀"`, ":a/b",
		`#inst "2020"`, `#inst "2020-01-01"`, `#uuid "1-1-1-1-1"`, `#uuid "00000001-0001-0001-0001-000000000001"`, "2", "##NaN", "9007199254740993", "9007199254740992.0")
}

// collection returns a collection that is at most depth levels deep.
func (m maker) collection(depth int) string {
	item := func() string {
		if depth > 0 && m.IntN(3) == 0 {
			return m.collection(depth - 1)
		}
		return m.scalar()
	}
	var items []string
	for range m.IntN(3) {
		items = append(items, item())
	}
	brackets := m.of("[]", "()", "#{}", "{}")
	if brackets == "{}" {
		for i := range items {
			items[i] += " " + fmt.Sprintf(m.of("%d", "%dN", "[%d]", "(%d)"), i)
		}
	}
	m.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return brackets[:len(brackets)-1] + strings.Join(items, m.of(" ", ", ", "\n")) + brackets[len(brackets)-1:]
}

// vector returns a vector that may have an order.
func (m maker) vector(item func() string) string {
	var items []string
	for range 1 + m.IntN(2) {
		x := item()
		if m.IntN(4) == 0 {
			x = "[" + x + "]"
		}
		items = append(items, x)
	}
	return "[" + strings.Join(items, " ") + "]"
}

func (m maker) namespaced() string {
	ns := m.of("a", "a", "a", "b", "a.b", "_", "a/b", ":a", "", "nil", "1")
	var entries []string
	for i := range 1 + m.IntN(3) { // Equal keys get different values.
		entries = append(entries, m.of(":a", ":b", ":_/a", ":_/b", ":a/a", ":b/a", "a", "_/a", "a/b", `"a"`, "1", "[:a]")+" "+fmt.Sprintf(m.of("%d", "#:a{:b %d}", "{:a/b %d}"), i))
	}
	body := "{" + strings.Join(entries, ", ") + "}"
	if m.IntN(2) == 0 {
		return body
	}
	return "#:" + ns + m.of("", "", "", " ", "\n", ",") + m.of(body, body, body, body, "[1]", "#_1"+body)
}

// passedOver returns [1 2] with comments, metadata and discarded forms.
func (m maker) passedOver() string {
	between := func() string {
		return m.of(" ", ",", "\n", ";x\n", " ;x\r", " #_3 ", ",#_#_ 3 4 ", "\n#_ [3 #_4] ", "\f", "\x1c", "\u3000", "\u00a0", "\u2028", "#!x\n")
	}
	text := m.of("", "^:a ", "^{:a 1} ", "#^:a ", "^a ") + m.of("[1 2]", "(1 2)", "[1"+between()+"2]", "["+between()+"1 2"+between()+"]")
	return between() + text
}
