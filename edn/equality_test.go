package edn

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"clew/internal/fuzzing"
)

// FuzzEquality reads two texts, and the first once more in another spelling.
// Any two forms in the table must share a class if and only if an independent
// implementation of Clojure's = calls them equal. The same must hold in
// another table, whatever it has read before and however the forms got there.
func FuzzEquality(f *testing.F) {
	for i, c := range equalities {
		f.Add([]byte(c.a), []byte(c.b), uint64(i))
	}
	f.Add([]byte("[1 5 {:a #{1 2.50M} \"b\" (1/2 [\\a 017])}]"), []byte("(1N 5 {\"b\" [1/2 (\\u0061 0xfN)] :a #{25E-1M 1}})"), uint64(0))
	f.Fuzz(func(t *testing.T, first, second []byte, seed uint64) {
		defer fuzzing.Guard(t)()
		v := NewValues()
		a, err := v.Parse(first, Pos{})
		b, errB := v.Parse(second, Pos{})
		if err != nil || errB != nil {
			return
		}
		one := &equality{v: v}
		equal := one.number(a) == one.number(b)
		if one.huge {
			return
		}
		other := one.respelled(rand.New(rand.NewPCG(seed, 0)), a)
		again, err := v.Parse([]byte(other), Pos{})
		if err != nil {
			t.Fatalf("%s is spelled %s: %v", v.Text(a), other, err)
		}
		one.bijective(t)
		if v.forms[a].nan || v.forms[b].nan {
			return // nothing equals it, least of all itself in another table
		}
		if v.Same(a) != v.Same(again) {
			t.Fatalf("%s is not %s, which is another spelling of it", v.Text(a), other)
		}
		for name, to := range map[string]func(to *Values, id ID) (ID, error){
			"read":   func(to *Values, id ID) (ID, error) { return to.Parse([]byte(v.Text(id)), Pos{}) },
			"copied": func(to *Values, id ID) (ID, error) { return v.CopierInto(to).ID(id), nil },
			"packed": func(to *Values, id ID) (ID, error) {
				p := v.NewPacker()
				n := p.Number(id)
				ids, _, err := to.Unpack(p.Append(nil))
				if err != nil {
					return Nil, err
				}
				return ids[n], nil
			},
			"plain Go": func(to *Values, id ID) (ID, error) {
				x, err := to.From(v.Value(id).Go())
				return x.ID(), err
			},
		} {
			w := NewValues()
			inOther, err := w.Parse([]byte(other), Pos{})
			if err != nil {
				t.Fatal(err)
			}
			idB, errB := to(w, b)
			idA, errA := to(w, a)
			if errA != nil || errB != nil {
				t.Fatalf("%s: %v, %v", name, errA, errB)
			}
			if w.Same(idA) != w.Same(inOther) || (w.Same(idB) == w.Same(inOther)) != equal {
				t.Fatalf("%s: %s, %s and %s are of the classes %d, %d and %d", name, other, w.Text(idA), w.Text(idB), w.Same(inOther), w.Same(idA), w.Same(idB))
			}
			(&equality{v: w}).bijective(t)
		}
	})
}

// equality implements Clojure's = independently. From the texts of a table's
// forms it gives equal forms the same number and unequal forms different numbers.
type equality struct {
	v       *Values
	numbers map[string]int
	known   map[ID]int
	huge    bool // a decimal has an exponent that would take too long, or an integer has too many digits for plain Go
}

// bijective checks that classes and numbers of a table's forms correspond one to one.
func (e *equality) bijective(t *testing.T) {
	t.Helper()
	numberOf, classOf := map[ID]int{}, map[int]ID{}
	for id := range ID(e.v.Len()) {
		class, number := e.v.Same(id), e.number(id)
		if e.huge {
			return
		}
		if old, seen := numberOf[class]; seen && old != number {
			t.Fatalf("%s is of the class of %s, and they are not equal", e.v.Text(id), e.v.Text(class))
		}
		if old, seen := classOf[number]; seen && old != class {
			t.Fatalf("%s is not of the class of %s, and they are equal", e.v.Text(id), e.v.Text(old))
		}
		numberOf[class], classOf[number] = number, class
	}
}

func (e *equality) number(id ID) int {
	if n, ok := e.known[id]; ok {
		return n
	}
	if e.known == nil {
		e.known, e.numbers = map[ID]int{}, map[string]int{}
	}
	key := e.key(id)
	n, ok := e.numbers[key]
	if !ok {
		n = len(e.numbers)
		e.numbers[key] = n
	}
	e.known[id] = n
	return n
}

// key returns a text that equal forms share.
func (e *equality) key(id ID) string {
	v, text := e.v, e.v.Str(id)
	var items []string
	for _, item := range v.Items(id) {
		items = append(items, strconv.Itoa(e.number(item)))
	}
	switch kind := v.Kind(id); kind {
	case KindInt, KindRatio:
		exact := exactly(text).String()
		e.huge = e.huge || len(exact) > MaxNumber
		return "exact " + exact
	case KindFloat:
		f, _ := strconv.ParseFloat(strings.TrimPrefix(text, "##"), 64)
		if f != f {
			return fmt.Sprint("no number ", id)
		}
		return fmt.Sprint("float ", f+0) // -0.0 + 0 is 0.0
	case KindDecimal:
		return "decimal " + e.decimal(text).String()
	case KindChar:
		return "character " + character(text)
	case KindVector, KindList:
		return "sequence " + strings.Join(items, " ")
	case KindSet:
		slices.Sort(items)
		return "set " + strings.Join(items, " ")
	case KindMap:
		var entries []string
		for i := 0; i < len(items); i += 2 {
			entries = append(entries, items[i]+" "+items[i+1])
		}
		slices.Sort(entries)
		return "map " + strings.Join(entries, ", ")
	case KindTagged:
		form := v.Items(id)[0]
		if text == "inst" {
			return "instant " + e.instant(form)
		}
		if text == "uuid" {
			var last [5]string
			for i, part := range strings.Split(v.Str(form), "-") {
				digits := []int{8, 4, 4, 4, 12}[i]
				part = strings.Repeat("0", digits) + strings.ToLower(strings.TrimPrefix(part, "+"))
				last[i] = part[len(part)-digits:]
			}
			return fmt.Sprint("uuid ", last)
		}
		return fmt.Sprintf("tagged %q %s", text, items[0])
	default:
		return fmt.Sprintf("%d %q", kind, text)
	}
}

// instant returns an instant's milliseconds. Dates before 1583 are left to Clojure.
func (e *equality) instant(form ID) string {
	if n, ok := e.v.Int(form); ok {
		return time.UnixMilli(n).UTC().Format("20060102150405.000") // the form that stands for a class
	}
	text := e.v.Str(form)
	e.huge = e.huge || text < "1583"
	zone := "Z"
	if at := len(text) - len("+01:00"); at >= len("2020") && text[len(text)-3] == ':' && strings.ContainsAny(text[at:at+1], "+-") {
		text, zone = text[:at], text[at:]
	}
	text = strings.TrimSuffix(text, "Z")
	whole, fraction, _ := strings.Cut(text, ".")
	whole += "0001-01-01T00:00:00"[len(whole):]
	leap := strings.HasSuffix(whole, ":60")
	if leap {
		whole = strings.TrimSuffix(whole, "60") + "59"
	}
	at, err := time.Parse(time.RFC3339, whole+zone)
	if err != nil {
		panic(err)
	}
	if leap {
		at = at.Add(time.Second)
	}
	return at.UTC().Format("20060102150405.") + (fraction + "000")[:3]
}

// exactly returns the value of an integer or a ratio.
func exactly(text string) *big.Rat {
	number := strings.TrimLeft(text, "+-")
	over, under, isRatio := strings.Cut(number, "/")
	digits, base := strings.TrimSuffix(over, "N"), 10
	switch r := strings.IndexAny(over, "rR"); {
	case isRatio:
	case strings.HasPrefix(strings.ToLower(digits), "0x"):
		digits, base = digits[2:], 16
	case r > 0:
		base, _ = strconv.Atoi(over[:r])
		digits = over[r+1:]
	case len(digits) > 1 && digits[0] == '0':
		base = 8
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		panic("not a number: " + text)
	}
	d := big.NewInt(1)
	if isRatio {
		d.SetString(under, 10)
	}
	if text[0] == '-' {
		n.Neg(n)
	}
	return new(big.Rat).SetFrac(n, d)
}

// decimal returns the value of a decimal, without its scale.
func (e *equality) decimal(text string) *big.Rat {
	number := strings.ToLower(strings.TrimSuffix(text, "M"))
	mantissa, exponent, _ := strings.Cut(number, "e")
	n, err := strconv.Atoi("0" + strings.TrimLeft(exponent, "+-"))
	if n > 5000 || err != nil {
		e.huge = true
		return new(big.Rat)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, _ := new(big.Int).SetString(strings.TrimPrefix(whole+fraction, "+"), 10)
	value := new(big.Rat).SetInt(digits)
	power := func(n int) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	}
	value.Quo(value, power(len(fraction)))
	if strings.HasPrefix(exponent, "-") {
		return value.Quo(value, power(n))
	}
	return value.Mul(value, power(n))
}

// character returns the code of a character, or the text of a byte that is not UTF-8.
func character(text string) string {
	name := text[1:]
	if c, ok := map[string]rune{"newline": '\n', "space": ' ', "tab": '\t', "return": '\r', "backspace": '\b', "formfeed": '\f'}[name]; ok {
		return strconv.Itoa(int(c))
	}
	if c, size := utf8.DecodeRuneInString(name); size == len(name) {
		if c == utf8.RuneError && size == 1 {
			return text
		}
		return strconv.Itoa(int(c))
	}
	n, err := strconv.ParseInt(name[1:], map[byte]int{'u': 16, 'o': 8}[name[0]], 32)
	if err != nil {
		panic("no character: " + text)
	}
	return strconv.FormatInt(n, 10)
}

// respelled returns an EDN text of the same value in another spelling, if there is one.
func (e *equality) respelled(r *rand.Rand, id ID) string {
	v := e.v
	items := v.Items(id)
	var texts []string
	stride := max(1, v.Kind(id).stride())
	for i := 0; i < len(items); i += stride {
		text := e.respelled(r, items[i])
		if stride == 2 {
			text += " " + e.respelled(r, items[i+1])
		}
		texts = append(texts, text)
	}
	switch v.Kind(id) {
	case KindInt:
		n := exactly(v.Str(id)).Num()
		sign := map[int]string{-1: "-"}[n.Sign()]
		n.Abs(n)
		text := sign + n.String()
		switch r.IntN(6) {
		case 0:
			text += "N"
		case 1:
			text = sign + "0x" + n.Text(16)
		case 2:
			text = sign + "0" + n.Text(8)
		case 3:
			text = sign + "36r" + n.Text(36)
		case 4:
			text = sign + new(big.Int).Mul(n, big.NewInt(3)).String() + "/3"
		}
		if len(text) > MaxNumber {
			return v.Text(id)
		}
		return text
	case KindRatio:
		q := exactly(v.Str(id))
		return fmt.Sprintf("%s0/%s0", q.Num(), q.Denom())
	case KindVector, KindList:
		brackets := []string{"[]", "()"}[r.IntN(2)]
		return brackets[:1] + strings.Join(texts, ", ") + brackets[1:]
	case KindSet, KindMap:
		r.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		return map[Kind]string{KindSet: "#{", KindMap: "{"}[v.Kind(id)] + strings.Join(texts, " ") + "}"
	case KindTagged:
		return "#" + v.Str(id) + " " + texts[0]
	}
	return v.Text(id)
}
