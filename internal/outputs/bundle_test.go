package outputs_test

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"clew"
	"clew/internal/enginetest"
	"clew/internal/outputs"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

const history = `{:f :write, :index 0, :process 0, :type :invoke, :value 1}
{:f :write, :index 1, :process 0, :type :ok, :value 1}
{:f :read, :index 2, :process 1, :type :invoke, :value nil}
{:f :read, :index 3, :process 1, :type :ok, :value 1}
`

func TestABundleHoldsAllThatIsNeeded(t *testing.T) {
	for name, want := range map[string]string{
		"takes the last operation first": "witness.edn", "always says no": "core.edn",
	} {
		t.Run(name, func(t *testing.T) {
			h, err := clew.Read(strings.NewReader(history), "h.edn", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{Engine: enginetest.Wrong[name]})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := outputs.WriteBundle(&b, "clew of today\n", r); err != nil {
				t.Fatal(err)
			}
			got := unpacked(t, b.Bytes())
			if got["history.edn"] != history {
				t.Errorf("history %q", got["history.edn"])
			}
			if about := got["about.txt"]; !strings.HasPrefix(about, "clew of today\n") || !strings.Contains(about, r.Error) || strings.Contains(about, "not whole") {
				t.Error(about)
			}
			if !strings.Contains(got["result.edn"], ":analyzer :clew/frontier") || got[want] == "" || len(got) != 4 {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestThereIsNoBundleOfAVerdictThatStands(t *testing.T) {
	if err := outputs.WriteBundle(io.Discard, "", &report.Result{}); err == nil {
		t.Error("expected an error")
	}
}

func unpacked(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range in.File {
		part, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}
