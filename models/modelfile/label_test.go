package modelfile_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
)

func TestLabels(t *testing.T) {
	all, err := txtar.ParseFile(filepath.Join("testdata", "labels.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all.Files {
		f, err := modelfile.Parse(x.Name, x.Data)
		if err != nil {
			t.Fatal(err)
		}
		h := history(t, comment(string(x.Data), "on"))
		var labels []string
		for op := range jepsen.Operation(h.Operations()) {
			labels = append(labels, models.Own(f.Definition()).Words(t.Context(), h, op))
		}
		if err := models.Own(f.Definition()).Unlabeled(t.Context(), h, []jepsen.Operation{0, jepsen.Operation(h.Operations() - 1)}); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
		if got, want := strings.Join(labels, "; "), comment(string(x.Data), "labels"); got != want {
			t.Errorf("%s: %s, want %s", x.Name, got, want)
		}
	}
}
