package forms

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clew/internal/effort"
)

// differs says how a conversion of a text differs from one that looks at all values, "" if it does not.
func differs(text string, from, to Form) string {
	var quick, close bytes.Buffer
	warned, err := convert(context.Background(), 0, &quick, strings.NewReader(text), "h", from, to, false)
	also, want := convert(context.Background(), 0, &close, strings.NewReader(text), "h", from, to, true)
	switch {
	case fmt.Sprint(err) != fmt.Sprint(want):
		return fmt.Sprintf("error %v, want %v", err, want)
	case want == nil && !slices.Equal(warned, also):
		return fmt.Sprintf("warnings %q, want %q", warned, also)
	case want == nil && quick.String() != close.String():
		return fmt.Sprintf("%s\nwant\n%s", quick.String(), close.String())
	}
	return ""
}

// values are what an op map may hold; the first ones are plain.
var values = []string{"nil", "true", "false", "0", "7", "-12", "123456789012345678", ":read", ":a-b_c9", `"text"`, `""`, `"a b, [c] {d}"`, "[]", "[1 2]", `[nil true "x" [3 -4] false]`,
	"[:cas 1 2]", "[[:r 1 nil] [:w 2 [3]]]", "1.5", "-0", "007", "+7", "7N", "1234567890123456789012", `"q\"uote"`, `"ö"`, "\"a;b\"", ":a/b", ":?", "#{1 2}", "{:a 1}", "(1 2)", "[1, 2]", "[1  2]", "[ 1]", "#inst \"2020-01-01\"",
	"nilly", "1/2", "##NaN", `\a`, "[[[[[[[[[1]]]]]]]]]", "\"\u007f\""}

// What is written of plain op maps is what is written of all, letter by letter.
func TestPlainOpMapsAreWrittenAsAllOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	any := func(most int) string { return values[r.IntN(most)] }
	pick := func(n int) int { // the last one seldom
		if r.IntN(10) > 0 {
			n--
		}
		return r.IntN(n)
	}
	found := 0
	for range effort.Histories(2400, 200_000) {
		most := []int{len(values), 17, 17, 17}[r.IntN(4)]
		var b strings.Builder
		for range 1 + r.IntN(3) {
			fields := []string{":process " + []string{"0", "7", "-1", ":nemesis", any(most)}[pick(5)], ":type " + []string{":invoke", ":ok", ":info", ":fail", any(most)}[pick(5)],
				":f " + []string{":read", ":write", ":txn", any(most)}[pick(4)], ":value " + any(most)}
			for _, more := range []string{":index 3", ":time 123", ":error " + any(most), ":key " + any(most), ":edn 1", ":output 5", ":value 2", "\"f\" 1", ":a/b 2", ":x " + any(most)} {
				if r.IntN(10) == 0 {
					fields = append(fields, more)
				}
			}
			if r.IntN(3) == 0 {
				r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
			}
			text := "{" + strings.Join(fields[r.IntN(2)*r.IntN(2):], ", ") + "}"
			if new(plain).read([]byte(text)) {
				found++
			}
			b.WriteString(text + "\n")
		}
		for _, to := range []Form{"edn", "jsonl", "json", "log"} {
			if wrong := differs(b.String(), "", to); wrong != "" {
				t.Fatalf("to %s: %s\nof\n%s", to, wrong, b.String())
			}
		}
	}
	t.Logf("%d plain op maps", found)
	if found < 500 {
		t.Errorf("only %d op maps were plain", found)
	}
}

// So it is for histories in other forms, cut in many places.
func TestPlainOpMapsOfOtherFormsAreWrittenAsAllOthers(t *testing.T) {
	files, err := filepath.Glob("../../testdata/*/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	cuts := 50
	if effort.Few() {
		cuts = 15
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil || len(text) > 4<<10 {
			continue
		}
		for _, to := range []Form{"edn", "jsonl", "log"} {
			for cut := len(text); cut > 0; cut -= 1 + len(text)/cuts {
				if wrong := differs(string(text[:cut]), "", to); wrong != "" {
					t.Fatalf("%s, cut at %d, to %s: %s", path, cut, to, wrong)
				}
			}
		}
	}
}
