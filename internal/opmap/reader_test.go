package opmap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"clew/internal/effort"
	"clew/internal/fuzzing"

	olympos "olympos.io/encoding/edn"

	"clew/edn"
	"clew/internal/blocks"
	"clew/internal/goedn"
	"clew/internal/layouts"
)

// collectEvents prints what a reader returns, with values as text, and its error.
func collectEvents(r *Reader) ([]string, error) {
	var got []string
	var ev Event
	for {
		err := r.Next(&ev)
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got = append(got, described(&ev, r.values)+string(ev.Text))
	}
}

// described prints an event but for its text.
func described(ev *Event, v *edn.Values) string {
	index := "nil"
	if ev.Has&HasIndex != 0 {
		index = fmt.Sprint(ev.Index)
	}
	return fmt.Sprintf("%d:%d %06b type=%s process=%s f=%s value=%s index=%s key=%s ", ev.Line, ev.Col, ev.Has,
		v.Text(ev.Type), v.Text(ev.Process), v.Text(ev.F), v.Text(ev.Value), index, v.Text(ev.Key))
}

// readers reads a text in all the ways that must not make a difference.
func readers(text string) map[string]*Reader {
	all := map[string]*Reader{
		"whole":    NewReader(strings.NewReader(text), "h.edn", edn.NewValues()),
		"one byte": NewReader(iotest.OneByteReader(strings.NewReader(text)), "h.edn", edn.NewValues()),
		"data err": NewReader(iotest.DataErrReader(strings.NewReader(text)), "h.edn", edn.NewValues()),
	}
	for _, size := range []int{4, 7, 16, 61} {
		r := NewReader(strings.NewReader(text), "h.edn", edn.NewValues())
		r.maps.Blocks(size, size)
		all[fmt.Sprintf("blocks of %d", size)] = r
	}
	return all
}

func TestOpMapsAreReadHoweverTheyAreWrapped(t *testing.T) {
	const a, b = `{:type :invoke, :f :write, :value [1 "x"], :process 3, :index 7, :key "k"}`, `{:type :info :process :nemesis :f :start}`
	wantA := "type=:invoke process=3 f=:write value=[1 \"x\"] index=7 key=\"k\" " + a
	wantB := "type=:info process=:nemesis f=:start value=nil index=nil key=nil " + b
	for _, c := range []struct{ name, text, posA, posB string }{
		{"bare, a line each", a + "\n" + b + "\n", "1:1", "2:1"},
		{"bare, on one line", a + b, "1:1", "1:75"},
		{"CRLF", a + "\r\n" + b + "\r\n", "1:1", "2:1"},
		{"vector", "[" + a + "\n " + b + "]\n", "1:2", "2:2"},
		{"list with comments", "; é\n(" + a + " ; ]\n;; {\n\t" + b + ")", "2:2", "4:2"},
		{"byte order mark", "\xef\xbb\xbf" + a + "," + b, "1:1", "1:76"},
		{"stacked discards", "#_ #_ [1] \"x\" " + a + "#_x" + b + "#_ {} ", "1:15", "1:92"},
		{"tags", "#foo/bar [#jepsen.history.Op" + a + " #a #b\n" + b + "]", "1:29", "2:1"},
		{"metadata", "^{:x 1} [^:y " + a + "#^z" + b + "]", "1:14", "1:91"},
		{"multi-byte characters", "#_\"é😀\" " + a + "\n#_ü " + b, "1:8", "2:5"},
		{"comment at the end", a + b + "; the end", "1:1", "1:75"},
	} {
		for name, r := range readers(c.text) {
			got, err := collectEvents(r)
			want := []string{c.posA + " 111111 " + wantA, c.posB + " 000111 " + wantB}
			if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s, %s:\ngot  %q, %v\nwant %q", c.name, name, got, err, want)
			}
		}
	}
}

func TestKeysThatAreNotNeededMayHoldAnything(t *testing.T) {
	for _, junk := range []string{
		`#object[Foo 0x6d06 "x"]`, `#"re\"x"`, "##NaN", "1/3", "#error {\n :cause \"x\"\n :via [{:type a.B$c<d>}]}", "Lambda$1/0x7f", `\(`, `\"`, `\\`, `\newline`, `\;`,
		"#'x", "@x", "x$<>", "1x3", "5.", "::a", ":a/b/c", ":", "{:a 1 :a 2}", "#{1 1}", "{:odd}", `"\q"`, "#<Foo bar: }{ >", "#:ns{:a 1}", "^m x", "#^{:a 1} [x]",
		"'x", "'(a b)", "@(a)", "~@x", "`(a)", "#(+ % 1)", "#?(:clj 1)", "#=(a)", "#_a #_ #_ b c d", "[#_]", "\x00\x01", "\xff\xfe", "#inst \"x\"", "#a #b #c 1", "; }\n1", "a;}\n",
		"# foo", "\"}\"", "\"\n}\"",
	} {
		text := "{:type :ok, :x " + junk + ", " + junk + " :type}\n{:f :read, :error " + junk + "}"
		if strings.HasSuffix(junk, "\n") {
			text = strings.ReplaceAll(text, junk+", ", junk+" ")
		}
		for name, r := range readers(text) {
			got, err := collectEvents(r)
			if err != nil || len(got) != 2 || !strings.Contains(got[0], "type=:ok") || !strings.Contains(got[1], "f=:read") {
				t.Errorf("%s, %s: got %q, %v", junk, name, got, err)
			}
		}
	}
}

func TestMalformedInputIsAnErrorWithItsPlace(t *testing.T) {
	long := strings.Repeat("x", 50)
	for _, c := range []struct{ text, want string }{
		{"[1]", "1:2: expected an op map, found a number"},
		{"1", "1:1: expected an op map, found a number"},
		{"{} [{}]", "1:4: expected an op map, found a vector"},
		{"[{} ({})]", "1:5: expected an op map, found a list"},
		{"#{1}", "1:1: expected an op map, found a set"},
		{"\n  \"x\"", "2:3: expected an op map, found a string"},
		{"[:x]", "1:2: expected an op map, found a keyword"},
		{"[x]", "1:2: expected an op map, found a symbol"},
		{"[nil]", "1:2: expected an op map, found nil"},
		{"[\\x]", "1:2: expected an op map, found a character"},
		{"[#\"x\"]", "1:2: expected an op map, found a regex"},
		{"[##NaN]", "1:2: expected an op map, found a number"},
		{"[#t 1]", "1:5: expected an op map after #t, found a number"},
		{"[#t]", "1:4: expected an op map after #t, found ]"},
		{"#t", "1:3: expected an op map after #t, found end of input"},
		{"^m", "1:3: expected an op map after metadata, found end of input"},
		{"# {}", "1:1: expected a tag after #"},
		{"#", "1:2: expected a tag after #, found end of input"},
		{"#_", "1:3: expected a value after #_, found end of input"},
		{"#_]", "1:3: expected a value after #_, found ]"},
		{"{}]", "1:3: expected an op map, found ]"},
		{"[{}", "1:4: expected ] to close [ opened at 1:1, found end of input"},
		{" [\n{}\n)", "3:1: expected ] to close [ opened at 1:2, found )"},
		{"[{}] {}", "1:6: expected end of input, found a map"},
		{"[{}]]", "1:5: expected end of input, found ]"},
		{"[{}] x", "1:6: expected end of input, found a symbol"},
		{"{:a\n 1", "2:3: expected } to close { opened at 1:1, found end of input"},
		{"{} ; x\n {:a ; y", "2:9: expected } to close { opened at 2:2, found end of input"},
		{"{:a [1}}", "1:7: expected ] to close [ opened at 1:5, found }"},
		{"{:error\n (1 2 {:a ]}}", "2:11: expected } to close { opened at 2:7, found ]"},
		{"{:value\n (1 2 {:a 1]}}", "2:12: expected } to close { opened at 2:7, found ]"},
		{"{:value [1}}", "1:11: expected ] to close [ opened at 1:9, found }"},
		{"{:a \"x}\n", "2:1: expected \" to close the string opened at 1:5, found end of input"},
		{"{:value \"x}\n", "2:1: expected \" to close the string opened at 1:9, found end of input"},
		{"{:value \\", "1:10: expected } to close { opened at 1:1, found end of input"},
		{"{:value #", "1:10: expected } to close { opened at 1:1, found end of input"},
		{"{:value 12", "1:11: expected } to close { opened at 1:1, found end of input"},
		{"{:value}", "1:8: expected a value for :value, found }"},
		{"{:x}", "1:4: expected a value for :x, found }"},
		{"{:x #_1}", "1:8: expected a value for :x, found }"},
		{"{12 ]", "1:5: expected a value for 12, found ]"},
		{"{]", "1:2: expected } to close { opened at 1:1, found ]"},
		{"{:type :ok :type :info}", "1:12: duplicate key :type"},
		{"{:value 1x3}", "1:9: expected a number, found 1x3"},
		{"{:value -1x3}", "1:9: expected a number, found -1x3"},
		{"{:value 08}", "1:9: expected a number, found 08"},
		{"{:value 1/0}", "1:9: expected a number, found 1/0"},
		{"{:value 1/-2}", "1:9: expected a number, found 1/-2"},
		{"{:value 2r2}", "1:9: expected a number, found 2r2"},
		{"{:value 37r1}", "1:9: expected a number, found 37r1"},
		{"{:value 0x}", "1:9: expected a number, found 0x"},
		{"{:value 1.5N}", "1:9: expected a number, found 1.5N"},
		{"{:value 1_000}", "1:9: expected a number, found 1_000"},
		{"{:value 1e}", "1:9: expected a number, found 1e"},
		{"{:value 1" + long + "}", "1:9: expected a number, found 1" + long[:39] + ".."},
		{"{:value #inst \"2021-02-29\"}", `1:9: expected an instant such as #inst "2020-01-31T23:59:59.999-00:00", found #inst "2021-02-29"`},
		{"{:value [#uuid 5]}", `1:10: expected a UUID such as #uuid "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", found #uuid 5`},
		{"{:value #:a [1]}", "1:9: expected a map after #:a, found a vector"},
		{"{:value #:a/b{:c 1}}", "1:9: expected the namespace of a map, such as #:ns, found #:a/b"},
		{"{:value #:a{:b 1, :a/b 2}}", "1:9: duplicate key :a/b"},
		{"#:a{:value 1}", "1:1: expected an op map, found a map with a namespace"},
		{"{:value \"\\1a\"}", "1:10: expected an escape such as \\n or \\u0041, found \\1"},
		{"{:value \\u41}", "1:9: expected a character, found \\u41"},
		{"{:value #=(+ 1 2)}", "1:9: expected a tag, which begins with a letter, found #="},
		{"{:value a^b}", "1:9: expected a value, found a^b"},
		{"{:value {:a 1, :b 2, :a 3}}", "1:22: duplicate key :a"},
		{"{:value #{é 1 1N}}", "1:15: duplicate element 1N"},
		{"{:value {[1] 1 (1) 2}}", "1:16: duplicate key (1)"},
		{"{:value {:a}}", "1:12: expected a value for :a, found }"},
		{"{:value :}", "1:9: expected a keyword, found :"},
		{"{:value '}", "1:9: expected a value, found '"},
		{"{:value '#}", "1:9: expected a value, found '#"},
		{"{:value ~@#{1}}", "1:9: expected a value, found ~@#"},
		{"{:value '^m x}", "1:9: expected a value, found '^m"},
		{"{:value #'}", "1:9: expected a name after #'"},
		{"{:value #'@}", "1:9: expected a name after #'"},
		{"{:value #'#x}", "1:9: expected a name after #'"},
		{"{:value ##Foo}", "1:9: expected ##Inf, ##-Inf or ##NaN, found ##Foo"},
		{"{:value \\foo}", "1:9: expected a character, found \\foo"},
		{"{:value \\o400}", "1:9: expected a character, found \\o400"},
		{"{:value \"é\\q\"}", "1:11: expected an escape such as \\n or \\u0041, found \\q"},
		{"{:value \"\\u12\"}", "1:10: expected an escape such as \\n or \\u0041, found \\u"},
		{"{:value \"\\400\"}", "1:10: expected an escape such as \\n or \\u0041, found \\4"},
		{"{:value #foo}", "1:13: expected a value after #foo, found }"},
		{"{:value # foo}", "1:9: expected a tag after #, found ' '"},
		{"{:value #<Foo\n>}", "1:9: expected > to close #< on its line, found none"},
		{"{:value ^m}", "1:11: expected a value after metadata, found }"},
		{"{:value ^}", "1:10: expected metadata after ^, found }"},
		{"\x00", "1:1: expected an op map, found a NUL byte"},
		{"{:f :a,\x00 :value 1}", "1:18: expected a value for 1, found }; there is a NUL byte at 1:8"},
		{"{:value [2 1\x00]}", "1:12: expected a number, found 1\x00; there is a NUL byte at 1:13"},
		{"{:a 1}\n\xff\xfe", "2:1: expected an op map, found a symbol"},
		{"\xef\xbb\xbf é", "1:2: expected an op map, found a symbol"},
		{"{:a \"\r\n\té😀\"}\r\n\t;x\r\n é", "4:2: expected an op map, found a symbol"},
	} {
		for name, r := range readers(c.text) {
			_, err := collectEvents(r)
			if err == nil || err.Error() != "h.edn:"+c.want {
				t.Errorf("%q, %s:\ngot  %v\nwant h.edn:%s", c.text, name, err, c.want)
				continue
			}
			var syntax *edn.Error
			if !errors.As(err, &syntax) || offsetOf(c.text, syntax.Pos) != int(syntax.Offset) {
				t.Errorf("%q, %s: %v has offset %d", c.text, name, err, syntax.Offset)
			}
			if again := r.Next(&Event{}); again != err {
				t.Errorf("%q, %s: then %v", c.text, name, again)
			}
		}
	}
}

// offsetOf finds a line and column the slow way.
func offsetOf(text string, p edn.Pos) int {
	offset := 0
	if strings.HasPrefix(text, "\xef\xbb\xbf") {
		offset = 3
	}
	for range p.Line - 1 {
		offset += strings.IndexByte(text[offset:], '\n') + 1
	}
	runes := 0
	for i := range text[offset:] + "." {
		if runes++; runes == p.Col {
			return offset + i
		}
	}
	return -1
}

// Jepsen's nemesis writes keys twice, with equal values. Whatever is equal in Clojure is.
func TestAKeyThatStandsTwiceCountsOnceIfItsValuesAreEqual(t *testing.T) {
	many := ""
	for i := range 3 * manyKeys {
		many += fmt.Sprintf(":a%d %d ", i, i)
	}
	for _, c := range []struct{ text, want string }{
		{"{:process 0, :type :ok, :type :ok, :f :read, :value 1}", "{:process 0, :type :ok, :f :read, :value 1}"},
		{"{:value [1 2], :f :read, :value (1N 2), :type :ok, :process 0x1, :process 1, :f :read}", "{:value [1 2], :f :read, :type :ok, :process 0x1}"},
		{"{:index 1, :index 1N, :key 0.0, :key -0.0}", "{:index 1, :key 0.0}"},
		{"{:index :a :index :a}", "{:index :a}"},
		{"{:x {:a #{1 2}} :x {:a #{2 1}} :x {:a #{1 2}}}", "{:x {:a #{1 2}}}"},
		{"{:x 1 ; one\n :y 2, :x 1 ; two\n}", "{:x 1 ; one\n :y 2 ; two\n}"},
		{"{:process :nemesis, :value 10.0.0.1, :value 10.0.0.1}", "{:process :nemesis, :value 10.0.0.1}"},
		{"{:type :ok, :value 1, :value 2}", "1:23: duplicate key :value"},
		{"{:type :ok, :type :fail}", "1:13: duplicate key :type"},
		{"{:value 1, :value 1.0}", "1:12: duplicate key :value"},
		{"{:value 1.0, :value 1.0M}", "1:14: duplicate key :value"},
		{"{:value ##NaN, :value ##NaN}", "1:16: duplicate key :value"},
		{"{:value [##NaN], :value [##NaN]}", "1:18: duplicate key :value"},
		{"{:value nil, :value false}", "1:14: duplicate key :value"},
		{"{:value 1, :value 1x3}", "1:12: duplicate key :value"},
		{"{:index 1, :index 2}", "1:12: duplicate key :index"},
		{"{:x 1, :y 1, :x 2}", "1:14: duplicate key :x"},
		{"{\"x\" 1, \"x\" 2}", "1:9: duplicate key \"x\""},
		{"{" + many + "}", "{" + many + "}"},
		{"{" + many + ":x9 9 :a5 5}", "{" + many + ":x9 9}"},
		{"{" + many + ":a5 6}", fmt.Sprintf("1:%d: duplicate key :a5", 2+len(many))},
		{"{:value 1, :value}", "1:18: expected a value for :value, found }"},
	} {
		const usual = "{:process 0, :type :ok, :f :read, :value 1}"
		for name, r := range readers(usual + usual + c.text + c.text) {
			events, err := collectEvents(r)
			got := fmt.Sprint(err)
			if err == nil && len(events) == 4 {
				_, got, _ = strings.Cut(events[3], "key=")
				_, got, _ = strings.Cut(got, " ")
			}
			want := c.want
			if place, message, isError := strings.Cut(strings.TrimPrefix(want, "1:"), ":"); isError && want[0] == '1' {
				col, _ := strconv.Atoi(place)
				want = fmt.Sprintf("h.edn:1:%d:%s", 2*len(usual)+col, message)
			}
			if got != want {
				t.Errorf("%s, %s: %s, want %s", c.text, name, got, want)
			}
		}
	}
}

func TestAnInputWithoutOpsEndsAtOnce(t *testing.T) {
	for _, text := range []string{"", " \n,", "; only a comment", "#_{}", "[]", "()", "\xef\xbb\xbf"} {
		for name, r := range readers(text) {
			if got, err := collectEvents(r); got != nil || err != nil {
				t.Errorf("%q, %s: got %q, %v", text, name, got, err)
			}
		}
	}
}

func TestAnIndexIsAnIntegerHoweverItIsWritten(t *testing.T) {
	for text, want := range map[string]int64{"5": 5, "5N": 5, "0x10": 16, "+7": 7, "4/2": 2, "12345678N": 12345678, "-12": -12, "1.5": -1, "1/2": -1, "nil": -1, "12345678.5": -1, "99999999999999999999": -1} {
		for name, r := range readers("{:index " + text + ", :f :read, :value nil}") {
			var ev Event
			if err := r.Next(&ev); err != nil || (ev.Has&HasIndex != 0) != (want != -1) || want != -1 && ev.Index != want {
				t.Errorf("%s, %s: got %d, %v", text, name, ev.Index, err)
			}
		}
	}
}

func TestErrorsOfTheInputNameTheFile(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, text := range []string{"", "{:type :ok}", "{:type :ok} {:type"} {
		r := NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), "h.edn", edn.NewValues())
		got, err := collectEvents(r)
		if !errors.Is(err, broken) || err.Error() != "h.edn: disk on fire" || len(got) != min(1, len(text)) {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	r := NewReader(stuck{}, "h.edn", edn.NewValues())
	if err := r.Next(&Event{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: got %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestNestingIsBounded(t *testing.T) {
	for _, c := range []struct {
		open, closing string
		deepest       int
	}{{"[", "]", edn.MaxDepth - 1}, {"(", ")", edn.MaxDepth - 1}, {"{1 ", "}", edn.MaxDepth - 1}, {"#{", "}", edn.MaxDepth - 1}, {"#a ", "", edn.MaxDepth - 1}} {
		for _, key := range []string{":value", ":error"} {
			for _, extra := range []int{0, 1} {
				n := c.deepest + extra
				text := "{" + key + " " + strings.Repeat(c.open, n) + "1" + strings.Repeat(c.closing, n) + "}"
				_, err := collectEvents(NewReader(strings.NewReader(text), "", edn.NewValues()))
				wantErr := extra == 1 && (c.closing != "" || key == ":value") // Skipping a tag adds no depth.
				if (err != nil) != wantErr || err != nil && !strings.HasSuffix(err.Error(), ": expected at most 1000 levels of nesting, found more") {
					t.Errorf("%d %s in %s: got %v", n, c.open, key, err)
				}
			}
		}
	}
}

// Anything slower than linear would run into the test's timeout.
func TestMillionsOfBracketsAreRefused(t *testing.T) {
	n := 10_000_000
	if effort.Few() {
		n /= 10
	}
	for _, unit := range []string{"[", "(", "{", "#{", "#a ", "#_ ", "^", "^a ", "#a(", "{:value ", "'", "\\", "\"\"", ";", "#", ":", "1"} {
		count := n
		if !strings.ContainsAny(unit, "[({") {
			count /= 10
		}
		text := []byte(strings.Repeat(unit, count))
		for _, prefix := range []string{"", "{:value ", "{:value [", "{:error ", "{:error ["} {
			_, err := collectEvents(NewReader(io.MultiReader(strings.NewReader(prefix), bytes.NewReader(text)), "", edn.NewValues()))
			if err == nil && (prefix != "" || unit != ";") {
				t.Errorf("%s%s..: no error", prefix, unit)
			}
		}
	}
}

func TestReadingWhatWasSeenBeforeAllocatesNothingPerEvent(t *testing.T) {
	text := ordinaryHistory(20_000)
	v := edn.NewValues()
	allocs := testing.AllocsPerRun(5, func() {
		readAll(t, NewReader(bytes.NewReader(text), "", v))
	})
	if perEvent := allocs / 20_000; perEvent > 0.1 {
		t.Errorf("%.2f allocations per event", perEvent)
	}
}

func TestTextsKeepsWhatWasRead(t *testing.T) {
	history := string(ordinaryHistory(1000)) + strings.Join([]string{
		`{:type :ok, :process 3, :f :read, :value nil, :index 4000, :time -5, :error "a } b"}`,
		`{:type :info, :process :nemesis, :f :start, :value {n1 10.0.0.1}}`,
		`{:type :info, :process :nemesis, :f :start, :value {:a "x"}}`,
		`{:index 7, :type :ok, :process 3N, :f "f", :value #{3 2.5 1N}, :key "k", :x [:a #object[x]], :y ##NaN}`,
		`{:index 7, :type :ok, :process 3, :f :f, :value #{3 2.5 1N}, :key [:k "k"], :x [:a #object[x]], :y ##NaN}`,
		`{:index 8, :type :ok, :process 3, :f :f, :value (1 #a \c), :key nil, :x [:b], :y 1}`,
		"{:index 9, :type :ok, :process 3, :f :f, :value \"a\nb\", :key nil, :x [\n:b], :y 1}",
		`{:index 9, :type :ok, :process 3, :f :f, :value "` + strings.Repeat("long ", 100_000) + `"}`,
		`{:index 10, :type :ok, :process 3, :f :f, :value 1}`, "",
	}, "\n") + string(ordinaryHistory(1000))
	for _, block := range []int{100, 1000, 1 << 18} {
		v := edn.NewValues()
		r := NewReader(strings.NewReader(history), "", v)
		r.maps.Blocks(block, block)
		var texts Texts
		var events []Event
		var want []string
		laidOut := 0
		var ev Event
		err := r.Next(&ev)
		for ; err == nil; err = r.Next(&ev) {
			texts.Add(&ev)
			if len(want)%7 == 3 {
				texts.DropLast()
				texts.Add(&Event{})
				texts.DropLast()
				texts.Add(&ev)
			}
			if ev.layout != nil {
				laidOut++
			}
			ev.Process = v.Same(ev.Process)
			events, want = append(events, ev), append(want, string(ev.Text))
		}
		if err != io.EOF || len(events) != 2009 || laidOut < 1980 {
			t.Fatalf("%d events, %d of them like others, %v", len(events), laidOut, err)
		}
		all := make([]int, len(want))
		for i := range all {
			all[i] = i
		}
		copied := texts.Select(all)
		for i, text := range want {
			got := texts.Text(i, v, &events[i])
			if again := copied.Text(i, v, &events[i]); string(again) != string(got) {
				t.Errorf("blocks of %d, event %d: %s, but %s is copied", block, i, got, again)
			}
			if string(got) != text && printed(t, v, got) != printed(t, v, []byte(text)) {
				t.Errorf("blocks of %d, event %d: %s, want %s", block, i, got, text)
			}
		}
	}
}

// Texts may come from several readers, and so have more layouts than one of them knows. Numbers are close together or not.
func TestTextsOfManyLayouts(t *testing.T) {
	v, far := edn.NewValues(), []int64{0, 1, 1<<24 - 1, 1 << 24, -1, 1 << 31, -1 << 40, 1<<62 - 1}
	var texts Texts
	var events []Event
	var want []string
	for reader := range 8 {
		var history strings.Builder
		for i := range 240 {
			fmt.Fprintf(&history, "{:type :ok, :process 1, :f :f, :value 1, :key%d-%d %d}\n", reader, i/8, far[i*7%8]+int64(i))
		}
		r := NewReader(strings.NewReader(history.String()), "", v)
		var ev Event
		for r.Next(&ev) == nil {
			texts.Add(&ev)
			events, want = append(events, ev), append(want, string(ev.Text))
		}
	}
	if len(texts.layouts) <= mostInHead || len(want) != 8*240 {
		t.Fatal(len(texts.layouts), len(want))
	}
	for i := range want {
		if got := texts.Text(i, v, &events[i]); string(got) != want[i] {
			t.Errorf("text %d: %s, want %s", i, got, want[i])
		}
	}
}

func TestEmptyTextsComeFirstOrAreAll(t *testing.T) {
	for first := range 200 {
		for after := range 3 {
			var texts Texts
			add := func(text string) { texts.Add(&Event{Text: []byte(text)}) }
			for range first {
				add("")
				texts.DropLast()
				add("")
			}
			for range after {
				add("{:a 1}")
				texts.DropLast()
				add("{:b 2}")
				add("")
			}
			v := edn.NewValues()
			for i := range first + 2*after {
				want := ""
				if i >= first && (i-first)%2 == 0 {
					want = "{:b 2}"
				}
				if got := texts.Text(i, v, &Event{}); string(got) != want {
					t.Fatalf("%d empty texts first: text %d is %s", first, i, got)
				}
			}
		}
	}
}

// printed returns the text that a form prints as.
func printed(t *testing.T, v *edn.Values, text []byte) string {
	id, err := v.ParseLenient(text)
	if err != nil {
		t.Error(err)
	}
	return v.Text(id)
}

func TestLongHistoriesAreReadAlikeInAnyBlocks(t *testing.T) {
	text := "(" + string(ordinaryHistory(2000)) + ")"
	want, err := collectEvents(NewReader(strings.NewReader(text), "", edn.NewValues()))
	if err != nil || len(want) != 2000 {
		t.Fatalf("got %d events, %v", len(want), err)
	}
	for name, r := range readers(text) {
		got, err := collectEvents(r)
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %d events differ, %v", name, len(got), err)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, text := range []string{
		"[{:type :ok, :f :read, :value [1 \"x\"], :process 0}]", "({:index 1 :key :a}; x\n#_y {})", "\xef\xbb\xbf#a{:error #error {:x \"}\"}}", "{:a \\} \\\" #\"\\\"\" }",
		"{:value #{1 2} :x '(a @b)}\r\n{:f ^m x}", "#<a", "{:x #<a b>}", "{:value ##NaN}", "[#_#_ 1 2 {}]", "{:value \"\\ud83d\\ude00\"}", "{:value 1x}", "{1 2 [3] 4}",
		"[{:type :ok, :f :read, :value 1, :process 0} {:type :ok, :f :read, :value 2, :process 0} ; ]",
	} {
		f.Add([]byte(text), uint8(3))
		f.Add([]byte(text), uint8(63))
	}
	f.Fuzz(func(t *testing.T, text []byte, block uint8) {
		defer fuzzing.Guard(t)()
		whole := NewReader(bytes.NewReader(text), "", edn.NewValues())
		want, wantErr := collectEvents(whole)
		defer blocks.AtMost(int(block) + 1)()
		small := NewReader(iotest.OneByteReader(bytes.NewReader(text)), "", edn.NewValues())
		got, err := collectEvents(small)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%q in blocks of %d:\ngot  %q, %v\nwant %q, %v", text, block, got, err, want, wantErr)
		}
	})
}

// alikeOrNot adds pairs of op maps of which one may be like the other.
func alikeOrNot(add func(first, other string)) {
	usual := []string{"0", ":invoke", "0", ":add", "[1 true]", "nil", "12", "[:a]"}
	opMap := func(values []string) string {
		var b strings.Builder
		for i, key := range []string{"{:index ", ", :type ", ", :process ", ", :f ", ", :value ", ", :key ", ", :time ", ", :error "} {
			b.WriteString(key + values[i])
		}
		return b.String() + "}"
	}
	for i := range usual {
		for _, odd := range []string{
			"", " 1", "1 ", "00", "01", "08", "-0", "-1", "1N", "0x1", "1.5", "+1", "1x", "12a3", "1/2", "/", "1234567", "12345678", "12345678.5", "12345678N", "12345678x", "1234567890.5", "123456789012M", "1234567890/7", "123456789012345", "123456789012345N", "1234567890123456", "1234567890123456.5", "123456789012345678", "1234567890123456789", "9223372036854775808",
			"xadd", "xinvoke", "\ninvoke", ":", "::", ":a", ":\x00a", ":a\x00", ":\x00add", ":a\"b\"", ":ad\xe4", ":8-bytes8", ":8-bytes8:", ":fifteen-bytes-a", ":sixteen-bytes-ab", ":seventeen-bytes-a", ":invoke;\n", ":é", "nil", "nill", "tru", "true", "false", "falsey",
			"[]", "[1]", "[ 1]", "[1 ]", "[1,2]", "[1  2]", "[nil true false :a -1 12345678]", "[1 [2]]", "[[:append :x 1] [:r 2 [3 4]] [:r 5 []]]", "[[:r 1 [2 3x]]]", "[[:r 1 [2 3", "[[] []]", "[ []]", "[[[[[1]]] 2] 3]", "[[1 2]  [3]]", "[[1]]]", "[1x]", "[1", "1]", "#_1 2", "#_", "^a 1", "#^a 1", ";\n 1", "1;\n", "\"a\\nb\"", "\"\n\"", "\"é\"",
			"#{1 1}", "##NaN", "\\ ", "\\a", "\\,", "(1)", "{:a}",
			"{}", "{ }", "{:from 1, :to 0, :amount 12345678}", "{0 10, 1 -3, nil true}", "{1 2 3 4}", "{1 2,3 4}", "{1 2,  3 4}", "{1  2}", "{1 2, }", "{1 2,", "{1 2, 3", "{1 2, 3}", "{1 2, 1 3}", "{1 2, 1 2}", "{:a [1 {:b 2}], :c {}}", "{:a {:b {:c {:d {:e 1}}}}}",
			"[{:a 1} {:a 1, :b nil}]", "[{:a 1, :a 2}]", "{[1] 2}", "{{} 2}", "{:a 1x}", "{:a 1]", "{:a 1}}", "{1 :a, 2 :b, 3 :c, 4 :d, 5 :e, 6 :f, 7 :g, 8 :h, 9 :i, 10 :j, 11 :k, 12 :l, 13 :m, 14 :n, 15 :o, 16 :p}", "{1 0, 2 0, 3 0, 4 0, 5 0, 6 0, 7 0, 8 0, 9 0, 10 0, 11 0, 12 0, 13 0, 14 0, 15 0, 16 0, 17 0, 1 0}", "}", "#a 1", "#'x", "@x", strings.Repeat("[", 999) + strings.Repeat("]", 999), strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
		} {
			other := slices.Clone(usual)
			other[i] = odd
			for _, without := range []string{"", ", :error [:a]", ", :key nil, :time 12, :error [:a]"} {
				add(strings.ReplaceAll(opMap(usual), without, ""), strings.ReplaceAll(opMap(other), without, ""))
			}
			add(opMap(other), opMap(usual))
		}
	}
	for _, odd := range []string{
		strings.ReplaceAll(opMap(usual), ":key", ":keys"), strings.ReplaceAll(opMap(usual), ":key nil", ":key #_a nil"), strings.ReplaceAll(opMap(usual), ", ", "\n"),
		strings.ReplaceAll(opMap(usual), ":index ", ":index"), strings.ReplaceAll(opMap(usual), "}", " }"), strings.ReplaceAll(opMap(usual), "}", ""), "{}", "{\\ :a}", "{\\ 1 :a}", "{:f :f}", "{:f 1 :f 2}",
	} {
		add(opMap(usual), odd)
		add(odd, opMap(usual))
	}
	add(`{:value"x" :f :a}`, `{:valuexxxxxxxxx :f :a}`)
	add(`{:value "x":f :a}`, `{:value false:f :a}`)
	add("{:type :ok, :f :compare-aa, :value 1}", "{:type :ok, :f :compare-bb, :value 1}")
	add("{:value\n1, :f :a}", "{:value\n2, :f :a}\n ]")
}

// alternating returns a history of two op maps.
func alternating(first, other string) string {
	return first + "\n" + other + " " + first + other + "\n" + other + "\n" + first + "\n" + first + "\n" + other + "\n" + other + "\n" + first
}

// FuzzQuick reads op maps that may be like others, with and without the
// learned layouts, which must not make a difference.
func FuzzQuick(f *testing.F) {
	n := 0
	alikeOrNot(func(first, other string) {
		if n++; effort.Takes(n) {
			f.Add(first, other)
		}
	})
	f.Fuzz(func(t *testing.T, first, other string) {
		defer fuzzing.Guard(t)()
		history := alternating(first, other)
		read := func(known int) (values, events []string, err error) {
			v := edn.NewValues()
			r := NewReader(strings.NewReader(history), "h.edn", v)
			r.tree.Known = known
			events, err = collectEvents(r)
			for id := range v.Len() {
				values = append(values, v.Text(edn.ID(id)))
			}
			return values, events, err
		}
		wantValues, want, wantErr := read(layouts.Max)
		values, got, err := read(0)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%q:\ngot  %q, %v\nwant %q, %v", history, got, err, want, wantErr)
		}
		if !slices.Equal(values, wantValues) && !strings.Contains(history, "##NaN") {
			t.Fatalf("%q: values are numbered otherwise:\ngot  %q\nwant %q", history, values, wantValues)
		}
	})
}

// TestRealHistoriesAreRead reads the histories in the folder CLEW_HISTORIES.
func TestRealHistoriesAreRead(t *testing.T) {
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	files, compared := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".edn" || filepath.Base(path) == "results.edn" || strings.Contains(path, "-results") {
			return err
		}
		if files++; !effort.Takes(files) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		v := edn.NewValues()
		var ev Event
		for r := NewReader(bytes.NewReader(text), path, v); ; {
			err := r.Next(&ev)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Log(err)
				var syntax *edn.Error
				if !errors.As(err, &syntax) {
					t.Errorf("%v is no syntax error", err)
				}
				break
			}
			if compareWithGoEDN(t, v, &ev) {
				compared++
			}
		}
		if !bytes.Contains(text, []byte("##NaN")) {
			compareWithRows(t, string(text), 100, 2000)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d events that go-edn reads alike", files, compared)
}

// compareWithGoEDN reports whether go-edn can read the event.
func compareWithGoEDN(t *testing.T, v *edn.Values, ev *Event) bool {
	var theirs map[olympos.Keyword]any
	if olympos.Unmarshal(ev.Text, &theirs) != nil {
		return false
	}
	fields := map[olympos.Keyword]edn.ID{"type": ev.Type, "process": ev.Process, "f": ev.F, "value": ev.Value, "key": ev.Key}
	if ev.Has&HasIndex != 0 {
		fields["index"] = v.InternInt(ev.Index)
	}
	for key, ours := range fields {
		if id := goedn.Value(t, v, theirs[key]); v.Same(id) != v.Same(ours) {
			t.Errorf("line %d: %s is %s, go-edn's %s", ev.Line, key, v.Text(ours), v.Text(id))
		}
	}
	return true
}

func TestWhatIsNoValueIsForgivenToTheNemesisOnly(t *testing.T) {
	read := func(process string) (Event, error) {
		var ev Event
		return ev, NewReader(strings.NewReader("{:value {n1 10.0.0.1 n2 {:a}} :process "+process+"}"), "f", edn.NewValues()).Next(&ev)
	}
	if _, err := read(":nemesis"); err != nil {
		t.Error(err)
	}
	if _, err := read("3"); err == nil || err.Error() != "f:1:13: expected a number, found 10.0.0.1" {
		t.Error(err)
	}
}

func TestNestedDiscardsAreBounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("#_ ", 2000), "{:value " + strings.Repeat("#_ ", 2000)} {
		err := NewReader(strings.NewReader(text), "f", edn.NewValues()).Next(new(Event))
		if err == nil || !strings.HasSuffix(err.Error(), "expected at most 1000 levels of nesting, found more") {
			t.Error(err)
		}
	}
	for n, more := range map[int]bool{1000: false, 1001: true} {
		err := NewReader(strings.NewReader(strings.Repeat("#_ ", n)+strings.Repeat("x ", n)), "f", edn.NewValues()).Next(new(Event))
		if (err != io.EOF) != more {
			t.Errorf("%d discards: %v", n, err)
		}
	}
}

// TestAHistoryMayEndAnywhere reads every prefix of a history whose op maps
// are alike. The last one is then an error, or it is missing.
func TestAHistoryMayEndAnywhere(t *testing.T) {
	var text []byte
	var ends []int
	for _, value := range []string{"[:read 1]", "12345678", "[:read :a-long-keyword]", "[-1 nil true]", "[[:r :x nil] [:w :y 2]]", "{:a 1}", ":ok", `"a\nb"`} {
		for range 2 {
			text = append(text, "{:type :ok, :f :txn, :value "+value+", :process 3, :index 77, :time 123456789, :error "+value+"}\n"...)
			ends = append(ends, len(text)-1)
		}
	}
	for n := range len(text) {
		r := NewReader(bytes.NewReader(text[:n]), "", edn.NewValues())
		whole := sort.SearchInts(ends, n+1)
		var ev Event
		read := 0
		err := r.Next(&ev)
		for ; err == nil; err = r.Next(&ev) {
			read++
		}
		isWhole := n == 0 || text[n-1] == '\n' || text[n-1] == '}' && slices.Contains(ends, n)
		if read != whole || (err == io.EOF) != isWhole {
			t.Fatalf("%d of %d op maps, %v, in\n%s", read, whole, err, text[:n])
		}
	}
}
