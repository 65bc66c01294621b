package models_test

import (
	"regexp"
	"strings"
	"testing"

	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// TestModelsAdmitNoStrangerWithTheirFs skips events of a process that is not a client. With
// an :f of the model they are an error, whatever their value.
func TestModelsAdmitNoStrangerWithTheirFs(t *testing.T) {
	keyword := regexp.MustCompile(`:[a-zA-Z-]+`)
	for _, d := range models.All() {
		spec := models.Spec{Name: d.Name}
		if d.Name == "semaphore" || d.Name == "owner-semaphore" {
			spec.Permits = 1
		}
		fs, _, _ := strings.Cut(d.Fs, " with ") // without the form of their values
		for _, f := range append(keyword.FindAllString(fs, -1), ":frobnicate", "nil", `"read"`) {
			text := "{:process :nemesis, :type :info, :f " + f + "} {:process 0, :type :invoke, :f :none} {:process \"a\", :type :info, :f " + f + "}"
			h, err := forms.Read(strings.NewReader(text), "h", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			known := strings.HasPrefix(f, ":") && f != ":frobnicate"
			if err := spec.Admits(h); (err != nil) != known || known && !strings.Contains(err.Error(), "'s :info "+f+" (index 2): its process is not an integer") {
				t.Errorf("%s and :f %s: %v", d.Name, f, err)
			}
		}
	}
}
