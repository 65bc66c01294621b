package isolation

import (
	"os"
	"slices"
	"strings"
	"testing"

	"clew/internal/archive"
	"clew/jepsen"
	"clew/models"
)

func TestSmallHistoriesThatElleHasChecked(t *testing.T) {
	file, err := os.ReadFile(archive.Path(t, "list-append", "small.edn"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	rows := archive.Table(t, archive.Path(t, "list-append", "verdicts.tsv"), true)
	if len(lines) != len(rows) || len(lines) != 2500 {
		t.Fatalf("there are %d histories and %d verdicts", len(lines), len(rows))
	}
	exhaustive := []models.Level{models.StrictSerializable, models.Serializable, models.SnapshotIsolation}
	elle := []models.Level{models.StrictSerializable, models.Serializable, models.SnapshotIsolation, models.ReadCommitted}
	differ := map[string]int{}
	for i, line := range lines {
		l := listsOf(t, line)
		at := levelsOf(l)
		for j, level := range exhaustive {
			if want := rows[i][j] == "true"; at[level] != want {
				t.Errorf("line %d: %s is %v, exhaustively %v\n%s", i+1, level, at[level], want, line)
			}
		}
		for j, level := range elle {
			says := strings.Fields(rows[i][3+j])
			switch says[0] {
			case "true":
				if !at[level] {
					differ[string(level)+": elle says true: "+strings.Join(typesAt(l, level), " ")]++
				}
			case "false":
				if at[level] {
					t.Errorf("line %d: %s holds, but Elle says %v\n%s", i+1, level, says, line)
				}
				ours, theirs := typesAt(l, level), slices.Clone(says[1:])
				for k := range theirs {
					theirs[k] = theirs[k][1:]
				}
				theirs = slices.DeleteFunc(theirs, func(x string) bool { return x == "empty-transaction-graph" })
				if slices.Contains(ours, "incompatible-order") || slices.Contains(ours, "garbage-read") {
					continue
				}
				if !slices.Equal(ours, theirs) {
					differ[string(level)+": ours "+strings.Join(ours, " ")+", Elle's "+strings.Join(theirs, " ")]++
					if os.Getenv("DBG") != "" {
						t.Log(i+1, level, "ours", ours, "Elle's", theirs, line)
					}
				}
			}
		}
	}
	for d, n := range differ {
		t.Log(n, d)
	}
	_ = jepsen.Valid
}

// typesAt returns the kinds of all anomalies that contradict a level.
func typesAt(l *readLists, level models.Level) (types []string) {
	for _, a := range l.Anomalies {
		if a.Breaks(level) {
			types = append(types, string(a.Kind))
		}
	}
	for _, c := range l.Cycles() {
		if c.Breaks(level) {
			types = append(types, c.Kind)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}
