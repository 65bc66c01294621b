package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// flag is the beginning of a flag in a message.
var flag = regexp.MustCompile(`(^|[^-\w])--[a-z]`)

// ofOthers are the flags of other programs in messages.
var ofOthers = strings.NewReplacer("elle-cli --model", "", "without --long=28", "")

// Messages of the library call options by their fields. Only the command has flags, and package option has them for it.
func TestTheLibraryNamesNoFlags(t *testing.T) {
	for _, s := range sources(t) {
		if !isLibrary(s.path) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && flag.MatchString(ofOthers.Replace(text)) {
				t.Errorf("%s: %s names a flag; expected a field, or an option of internal/option", s.fset.Position(lit.Pos()), lit.Value)
			}
			return true
		})
	}
}

// isLibrary reports whether a file belongs to what a program in Go can call: not to the command, not to package api, whose
// options have the names of flags, and not to packages that only these and tests use.
func isLibrary(path string) bool {
	for _, other := range []string{"cmd/", "tools/", "contrib/", "internal/option/", "internal/usage/", "internal/campaign/", "internal/gen/", "internal/memory/", "internal/doctor/", "internal/checking/", "api/"} {
		if strings.HasPrefix(path, other) {
			return false
		}
	}
	return true
}
