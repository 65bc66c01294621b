package campaign

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/jepsen"
)

// changing is a history that is being changed.
type changing struct {
	subject
	r     *rand.Rand
	lines []string
	was   []int // by line: which line of the subject it was, or -1 if it is new
}

// each returns the numbers of lines.
func each(lines []string) []int {
	was := make([]int, len(lines))
	for i := range was {
		was[i] = i
	}
	return was
}

// insert puts a new line somewhere.
func (x *changing) insert(at int, line string) {
	x.lines, x.was = slices.Insert(x.lines, at, line), slices.Insert(x.was, at, -1)
}

// respell rewrites every event of a client, with its values in some spelling that is equal.
func (x *changing) respell() bool {
	h := x.h
	if len(x.lines) != h.Events { // some lines do not hold exactly one event
		return false
	}
	var text []byte
	for e := range jepsen.Event(len(h.Type)) {
		text = append(x.event(text[:0], e, func(process int) int { return process }), ", :value "...)
		text = appendSpelled(text, x.r, h.Values, h.Value[e])
		if key := h.Key(e); key != edn.Nil {
			text = appendSpelled(append(text, ", :key "...), x.r, h.Values, key)
		}
		x.lines[h.Line(e)-1] = string(append(text, '}'))
	}
	return true
}

// event begins the text of an event, which may get another process.
func (s *subject) event(dst []byte, e jepsen.Event, number func(process int) int) []byte {
	h := s.h
	process, _ := h.Values.Int(h.Processes[h.Process[e]])
	dst = strconv.AppendInt(append(dst, "{:process "...), int64(number(int(process))), 10)
	dst = append(append(dst, " :type :"...), h.Type[e].Name()...)
	return h.Values.AppendText(append(dst, " :f "...), h.F[e])
}

// appendSpelled appends a value in some spelling that is equal.
func appendSpelled(dst []byte, r *rand.Rand, v *edn.Values, id edn.ID) []byte {
	items := v.Items(id)
	switch v.Kind(id) {
	case edn.KindInt:
		return append(bytes.TrimSuffix(v.AppendText(dst, id), []byte("N")), [...]string{"", "N"}[r.IntN(2)]...)
	case edn.KindDecimal:
		text := bytes.TrimSuffix(v.AppendText(nil, id), []byte("M"))
		if zeros := r.IntN(3); bytes.ContainsRune(text, '.') && !bytes.ContainsAny(text, "eE") {
			text = append(text, "00"[:zeros]...)
		}
		return append(append(dst, text...), 'M')
	case edn.KindString:
		dst = append(dst, '"')
		for _, c := range v.Str(id) {
			if r.IntN(3) == 0 && c < 0x10000 {
				dst = fmt.Appendf(dst, `\u%04x`, c)
				continue
			}
			quoted := edn.AppendString(nil, string(c))
			dst = append(dst, quoted[1:len(quoted)-1]...)
		}
		return append(dst, '"')
	case edn.KindVector, edn.KindList:
		brackets := [...]string{"[]", "()"}[r.IntN(2)]
		return appendItems(dst, r, v, brackets, items)
	case edn.KindSet:
		return appendItems(append(dst, '#'), r, v, "{}", shuffled(r, items, 1))
	case edn.KindMap:
		return appendItems(dst, r, v, "{}", shuffled(r, items, 2))
	}
	return v.AppendText(dst, id)
}

func appendItems(dst []byte, r *rand.Rand, v *edn.Values, brackets string, items []edn.ID) []byte {
	dst = append(dst, brackets[0])
	for i, item := range items {
		if i > 0 {
			dst = append(dst, "  "[:1+r.IntN(2)]...)
		}
		dst = appendSpelled(dst, r, v, item)
	}
	return append(dst, brackets[1])
}

// shuffled returns items in another order, keeping those of a group together.
func shuffled(r *rand.Rand, items []edn.ID, group int) []edn.ID {
	var other []edn.ID
	for _, i := range r.Perm(len(items) / group) {
		other = append(other, items[i*group:(i+1)*group]...)
	}
	return other
}

// renumber gives every process another number.
func (x *changing) renumber() bool {
	if x.spec.Threads > 0 { // the owner is the process modulo that
		return false
	}
	mask := 1 + x.r.IntN(31)
	for i, line := range x.lines {
		x.lines[i] = renumbered(line, func(n int) int { return n ^ mask })
	}
	return true
}

// renumbered returns a line with another process, if it is a number.
func renumbered(line string, number func(n int) int) string {
	const key = ":process "
	at := strings.Index(line, key)
	if at < 0 {
		return line
	}
	from := at + len(key)
	to := from
	for to < len(line) && line[to] >= '0' && line[to] <= '9' {
		to++
	}
	n, err := strconv.Atoi(line[from:to])
	if err != nil {
		return line
	}
	return line[:from] + strconv.Itoa(number(n)) + line[to:]
}

// opaque are the models that only look at whether values are equal, or at which is greater.
var opaque = append([]string{"register", "cas-register", "set", "lookup-set"}, Containers...)

var (
	plainValue = regexp.MustCompile(`:value [^.,"/\\M#E]*(?:, *:|}[^}]*$)`) // up to the next key, or the end
	number     = regexp.MustCompile(`-?\d+`)
)

// rename replaces every integer among the values by another one, keeping their order.
func (x *changing) rename() bool {
	if !slices.Contains(opaque, x.spec.Name) || strings.ContainsAny(x.spec.Init, `.,"/\M#E`) {
		return false
	}
	times, more := 1+x.r.IntN(300), x.r.IntN(1000)
	renamed := func(text string) string {
		return number.ReplaceAllStringFunc(text, func(n string) string {
			x, _ := strconv.Atoi(n)
			return strconv.Itoa(x*times + more)
		})
	}
	for _, line := range x.lines {
		if strings.Contains(line, ":value") && !plainValue.MatchString(line) || strings.Contains(line, "#") {
			return false
		}
	}
	for i, line := range x.lines {
		x.lines[i] = plainValue.ReplaceAllStringFunc(line, renamed)
	}
	if x.spec.Init == "" && strings.HasSuffix(x.spec.Name, "register") {
		x.spec.Init = "nil" // its default
	}
	x.spec.Init = renamed(x.spec.Init)
	return true
}

// addFailures puts operations that failed among the others.
func (x *changing) addFailures() bool {
	h := x.h
	if x.spec.ObserveFailedCAS || x.spec.Threads > 0 || h.Operations() == 0 {
		return false
	}
	for i := range 1 + x.r.IntN(2) {
		like := h.Invocation[x.r.IntN(h.Operations())]
		rest := fmt.Sprintf(":f %s, :value %s", h.Values.Text(h.F[like]), h.Values.Text(h.Value[like]))
		if key := h.Key(like); key != edn.Nil {
			rest += ", :key " + h.Values.Text(key)
		}
		from := x.r.IntN(len(x.lines) + 1)
		x.insert(from, fmt.Sprintf("{:process %d, :type :invoke, %s}", 9990+i, rest))
		x.insert(from+1+x.r.IntN(len(x.lines)-from), fmt.Sprintf("{:process %d, :type :fail, %s}", 9990+i, rest))
	}
	return true
}

// addNemesis puts events without a client among the others, and completions without an
// operation. Some have more values than tables first have room for.
func (x *changing) addNemesis() bool {
	h := x.h
	for range 1 + x.r.IntN(2) {
		value := [...]string{"nil", `"n1"`, "{:partition [1 2]}", "([1 2] #{3})"}[x.r.IntN(4)]
		if x.r.IntN(4) == 0 {
			many := []byte{'['}
			for first := -x.r.IntN(300); len(many) < 1200; first++ {
				many = append(strconv.AppendInt(many, int64(first), 10), ' ')
			}
			value = string(append(many, ']'))
		}
		x.insert(x.r.IntN(len(x.lines)+1), "{:process :nemesis, :type :info, :f :start-partition, :value "+value+"}")
	}
	if x.r.IntN(4) == 0 && h.Operations() > 0 {
		f := h.Values.Text(h.F[h.Invocation[x.r.IntN(h.Operations())]])
		x.insert(x.r.IntN(len(x.lines)+1), "{:process 9980, :type :info, :f "+f+", :value nil}")
	}
	return true
}

// drop leaves out crashed operations that change nothing, such as reads.
func (x *changing) drop() bool {
	h := x.h
	if len(x.lines) != h.Events { // some lines do not hold exactly one event
		return false
	}
	matters := map[jepsen.Operation]bool{}
	for _, op := range x.ops.Of {
		matters[op] = true
	}
	skip := map[int]bool{}
	for e, op := range h.OpOf {
		if h.Status[op] == jepsen.Crashed && !matters[op] {
			skip[h.Line(jepsen.Event(e))-1] = true
		}
	}
	var lines []string
	var was []int
	for i, line := range x.lines {
		if !skip[x.was[i]] {
			lines, was = append(lines, line), append(was, x.was[i])
		}
	}
	x.lines, x.was = lines, was
	return len(skip) > 0
}
