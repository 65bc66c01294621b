package reading_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew"
	"clew/internal/archive"
	"clew/jepsen"
	"clew/models"
)

// Histories that owners of real tests have, which were judged as something that they are not.
func TestHistoriesAreJudgedAsWhatTheyAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file        string
		consistency models.Level
		want        string
	}{
		{"rw_register_write_skew_with_nil_reads_valid_and_serializable_holds", "serializable", "not linearizable"},
		{"rw_register_acknowledged_write_then_read_nil_valid", "", "not linearizable"},
		{"long_fork_workload_judged_as_register_INVALID", "", "linearizable"},
		{"causal_reverse_workload_judged_as_register_INVALID", "", "cannot infer the model"},
		{"sequential_workload_judged_as_register_INVALID", "", "cannot infer the model"},
		{"dirty_reads_workload_all_rows_INVALID", "", "cannot infer the model"},
		{"only_reads_of_maps_judged_as_register_INVALID", "", "only bank fits"},
		{"only_reads_of_lists_judged_as_register_INVALID", "", "set or log"},
		{"cas_of_three_elements_read_as_old_new_valid", "", "if the first element is a key"},
		{"keyed_cas_of_three_elements_INVALID_as_register", "", "if the first element is a key"},
	} {
		file := filepath.Join(archive.Path(t, "turn4", "reading"), c.file+".edn")
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		h, err := clew.Read(in, file, jepsen.Options{})
		in.Close()
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{}, clew.Options{Consistency: c.consistency})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = r.Verdict.String()
		}
		if err == nil && got != c.want || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.file, got, c.want)
		}
	}
}
