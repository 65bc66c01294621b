package batch

import (
	"testing"

	"clew/internal/store"
)

// A folder cannot be called C:, so the evidence of a history on a drive goes to C.
func TestADriveIsAFolder(t *testing.T) {
	for path, want := range map[string]string{
		`C:/h/x.edn`: `ev\C\h\x.edn`, `C:h\x.edn`: `ev\C\h\x.edn`, `h/x.edn`: `ev\h\x.edn`, `\\server\share\x.edn`: `ev\server\share\x.edn`,
	} {
		f := folder{dir: "ev", ext: ".edn"}
		if got := f.fileOf(&Job{Source: store.Source{Path: path}}); got != want {
			t.Errorf("%s goes to %s, want %s", path, got, want)
		}
	}
}
