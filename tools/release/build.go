package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"clew/tools/licenses"
)

// built is what Go recorded in a program.
type built struct {
	*debug.BuildInfo
	version string
	time    time.Time
}

// settings fix what another environment could change in the program.
var settings = []string{"GOFLAGS=-trimpath -tags=" + licenses.Tag, "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "CGO_CFLAGS=-O2 -g", "CGO_LDFLAGS=-O2 -g"}

// build builds clew for a platform and returns the program. Without cgo, nothing is linked at run time. If Go and the commit are
// the same, so is the program, wherever it is built: -trimpath leaves folders out, and
// the symbols for debuggers are left out too. Panics keep their lines.
func build(repository, work string, p licenses.Platform) (program []byte, b built, err error) {
	path := filepath.Join(work, "clew-"+p.OS+"-"+p.Arch)
	if err := compile(repository, path, p, "CGO_ENABLED=0", "./cmd/clew"); err != nil {
		return nil, b, err
	}
	return read(path)
}

// compile runs go build for a platform, with cgo or without it.
func compile(repository, path string, p licenses.Platform, cgo string, args ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-buildvcs=true", "-ldflags=-s -w", "-o", path}, args...)...)
	cmd.Dir = repository
	for _, s := range os.Environ() {
		if !strings.HasPrefix(s, "GOEXPERIMENT=") {
			cmd.Env = append(cmd.Env, s)
		}
	}
	cmd.Env = append(append(cmd.Env, settings...), cgo, "GOOS="+p.OS, "GOARCH="+p.Arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// read reads a program that was built, and what Go recorded in it.
func read(path string) (program []byte, b built, err error) {
	if program, err = os.ReadFile(path); err != nil {
		return nil, b, err
	}
	if b.BuildInfo, err = buildinfo.ReadFile(path); err != nil {
		return nil, b, err
	}
	b.version = b.Main.Version
	for _, s := range b.Settings {
		if s.Key == "vcs.time" {
			b.time, err = time.Parse(time.RFC3339, s.Value)
		}
	}
	if err == nil && (b.time.IsZero() || b.version == "" || b.version == "(devel)") {
		err = errors.New("no version and no time were found; a release is built from a clone of the repository, not from a copy or a worktree of it")
	}
	return program, b, err
}

// epoch returns the time that files in archives have. It is the commit's, unless
// SOURCE_DATE_EPOCH names another one, as it does when packages of many projects
// are rebuilt (https://reproducible-builds.org/specs/source-date-epoch).
func epoch(commit time.Time) (time.Time, error) {
	said := os.Getenv("SOURCE_DATE_EPOCH")
	if said == "" {
		return commit, nil
	}
	seconds, err := strconv.ParseInt(said, 10, 64)
	if err != nil {
		return commit, fmt.Errorf("SOURCE_DATE_EPOCH is %q; expected seconds since 1970", said)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// output runs a program in the repository and returns what it prints.
func output(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, failed.Stderr)
	}
	return out, err
}
