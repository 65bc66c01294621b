package forms

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clew/internal/effort"
)

// rowsText returns a random history whose op maps are nearly all alike, and long enough that they are read in rows.
// One in so many events is unusual, and may make no sense.
func rowsText(r *rand.Rand, odd int, sense bool) string {
	var b strings.Builder
	keys := [][]string{{"index", "time", "type", "process", "f", "value"}, {"type", "f", "value", "process", "time", "index"}, {"process", "type", "f", "value"}}[r.IntN(3)]
	open := map[int]string{}
	time := int64(0)
	for index := 0; b.Len() < 600<<10; index++ {
		process := r.IntN(8)
		typ, f, value, wasOpen := "invoke", open[process], fmt.Sprint(r.IntN(1+index)), open[process] != ""
		if delete(open, process); wasOpen {
			typ = []string{"ok", "ok", "ok", "fail", "info"}[r.IntN(5)]
		} else {
			f = []string{"read", "write", "write"}[r.IntN(3)]
			open[process] = f
		}
		if f == "read" && typ != "ok" {
			value = "nil"
		}
		time += r.Int64N(1 << r.IntN(34))
		op := map[string]string{"index": fmt.Sprint(index), "time": fmt.Sprint(time), "type": ":" + typ, "process": fmt.Sprint(process), "f": ":" + f, "value": value}
		before, end := "", "}\n"
		if b.Len() > 330<<10 && r.IntN(odd) == 0 {
			kinds := 16
			if sense {
				kinds = 12
			}
			switch r.IntN(kinds) {
			case 0:
				op["index"] = fmt.Sprint(index - r.IntN(3))
			case 1:
				op["index"] = "nil"
			case 2:
				op["process"] += "N"
			case 3:
				before = "{:index 7, :time 8, :type :info, :process :nemesis, :f :start, :value {n1 10.0.0.1}}\n"
			case 4:
				op["time"] = "-" + op["time"]
			case 5:
				op["value"] = []string{"[1 2]", "\"a\\nb\"", "\"a\nb\"", ":k", "#{1  2}", "1.50", "[1\n2]", "(1)"}[r.IntN(8)]
			case 6:
				before = "\n"
			case 7:
				before = " "
			case 8:
				end = ", :error [:a \"b\"]}\n"
			case 9:
				end = "} "
			case 10:
				end = ", :key 7}\n"
			case 12:
				before = "{:index 7, :time 8, :type :info, :process 1, :f :read, :value nil}\n"
			case 14:
				op["type"] = ":" + []string{"invoke", "ok", "fail", "info", "done", "ok", "ok"}[r.IntN(7)]
			case 13:
				op["f"] = []string{":write", ":cas", "write"}[r.IntN(3)]
			case 15:
				end = ", :output 3}\n"
			case 11:
				before = "#_{:index 7, :time 8, :type :info, :process 1, :f :read, :value nil}\n"
			}
		}
		b.WriteString(before)
		for i, key := range keys {
			b.WriteString([]string{", ", "{"}[max(0, 1-i)] + ":" + key + " " + op[key])
		}
		b.WriteString(end)
	}
	return b.String()
}

func TestRowsMakeTheHistoryThatEventsMake(t *testing.T) {
	whole, broken := 0, 0
	for seed := range max(22, effort.Histories(40, 40)) {
		r := rand.New(rand.NewPCG(seed, 43))
		text := rowsText(r, []int{1000, 100, 10}[seed%3], seed%2 == 0)
		want := everything(readTimed(text, EDN, false))
		got := everything(readTimed(text, EDN, true))
		if !slices.Equal(got, want) {
			same(t, fmt.Sprint("seed ", seed), got, want)
		}
		if len(want) == 1 {
			broken++
		} else {
			whole++
		}
	}
	if whole < 10 || broken < 10 {
		t.Errorf("%d histories and %d errors, expected more", whole, broken)
	}
}
