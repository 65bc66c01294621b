package oracle

import (
	"slices"
	"strconv"
	"strings"
)

// naiveJava holds the elements of a java.util.Queue. It works out the expected
// answer, and compares it with the real answer.
func naiveJava(_ NaiveOptions, s []string, a naiveOp) [][]string {
	argument := a.given.canon()
	var arguments []string
	for _, x := range a.given.items {
		arguments = append(arguments, x.canon())
	}
	next, answer := slices.Clone(s), "nil"
	yes := func(b bool) { answer = strconv.FormatBool(b) }
	keep := func(wanted func(x string) bool) {
		next = nil
		for _, x := range s {
			if wanted(x) {
				next = append(next, x)
			}
		}
		yes(len(next) != len(s))
	}
	switch a.f {
	case ":offer":
		next, answer = append(next, argument), "true"
	case ":poll", ":peek":
		if len(s) > 0 {
			answer = s[0]
			if a.f == ":poll" {
				next = next[1:]
			}
		}
	case ":size":
		answer = strconv.Itoa(len(s))
	case ":isEmpty":
		yes(len(s) == 0)
	case ":clear":
		return [][]string{nil}
	case ":contains":
		yes(slices.Contains(s, argument))
	case ":remove":
		gone := false
		keep(func(x string) bool {
			first := x == argument && !gone
			gone = gone || first
			return !first
		})
	case ":addAll":
		next = append(next, arguments...)
		yes(len(arguments) > 0)
	case ":containsAll":
		answer = "true"
		for _, x := range arguments {
			if !slices.Contains(s, x) {
				answer = "false"
			}
		}
	case ":removeAll":
		keep(func(x string) bool { return !slices.Contains(arguments, x) })
	case ":retainAll":
		keep(func(x string) bool { return slices.Contains(arguments, x) })
	case ":toArray":
		answer = "[" + strings.Join(s, " ") + "]"
	case ":toString":
		answer = naiveSpaced(`"[` + strings.ReplaceAll(strings.Join(s, ", "), `"`, "") + `]"`)
	default:
		panic("naive: java-queue has no " + a.f)
	}
	return stay(next, a.crashed || a.value.canon() == answer)
}

// naiveSpaced returns a text with blanks around brackets and instead of commas.
// Within strings it replaces all of these by other characters.
func naiveSpaced(text string) string {
	var b strings.Builder
	b.Grow(2 * len(text))
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inside = !inside
			b.WriteByte(c)
		case inside && strings.IndexByte(" ,[](){}#", c) >= 0:
			b.WriteRune(0xe000 + rune(c))
		case inside:
			b.WriteByte(c)
		case c == ',':
			b.WriteByte(' ')
		case c == '#' && strings.HasPrefix(text[i+1:], "{"):
			b.WriteString(" #{ ")
			i++
		case strings.IndexByte("[](){}", c) >= 0:
			b.WriteByte(' ')
			b.WriteByte(c)
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
