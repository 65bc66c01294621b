package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"clew/internal/effort"
	"clew/tools/licenses"
)

// clone returns a clone of the last commit, tagged v1.2.3.
func clone(t *testing.T, name string) string {
	t.Helper()
	if effort.Few() {
		t.Skip("this builds clew more than once")
	}
	if out, err := exec.Command("git", "-C", "../..", "rev-parse", "HEAD").CombinedOutput(); err != nil {
		t.Skipf("this is no git repository, %v: %s", err, out)
	}
	to := filepath.Join(t.TempDir(), name)
	command(t, ".", "git", "clone", "-q", "--no-tags", "../..", to)
	command(t, to, "git", "tag", "-f", "v1.2.3")
	return to
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// folder returns the contents of the files in a folder, by name.
func folder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// equal releases two clones, in different folders and environments, and compares the
// results. It returns one of them. If again is true, everything is compiled twice.
func equal(t *testing.T, platforms []licenses.Platform, again bool) string {
	first, second := filepath.Join(t.TempDir(), "dist"), filepath.Join(t.TempDir(), "dist")
	if again {
		t.Setenv("GOCACHE", t.TempDir())
	}
	one, other := clone(t, "clew"), clone(t, "elsewhere and longer") // of one commit, however long this takes
	if err := release(one, first, published, platforms); err != nil {
		t.Fatal(err)
	}
	if again {
		t.Setenv("GOCACHE", t.TempDir())
	}
	t.Setenv("TZ", "Asia/Kathmandu")
	t.Setenv("GOAMD64", "v3")
	t.Setenv("CGO_ENABLED", "1")
	if err := release(other, second, published, platforms); err != nil {
		t.Fatal(err)
	}
	was, is := folder(t, first), folder(t, second)
	for name := range maps.Keys(was) {
		if !bytes.Equal(was[name], is[name]) {
			t.Errorf("%s is another if it is built again", name)
		}
	}
	if len(was) != len(is) {
		t.Errorf("%d files, and %d if they are built again", len(was), len(is))
	}
	return first
}

func TestARelease(t *testing.T) {
	platform := licenses.Platform{OS: "linux", Arch: runtime.GOARCH}
	if !slices.Contains(licenses.Platforms, platform) {
		t.Skip("there is no release for ", platform)
	}
	dist := equal(t, []licenses.Platform{platform}, false)
	name, files := "clew_1.2.3_linux_"+platform.Arch, folder(t, dist)
	sums(t, files)
	contents := unpacked(t, files[name+".tar.gz"])
	for _, want := range []string{"README.md", "CHANGELOG.md", "LICENSE", thirdPartyName, "clew.1", "completion/_clew", "completion/clew.bash", "completion/clew.fish", "docs/limits.md", "jepsen/clojure/src/clew/checker.clj"} {
		if len(contents[name+"/"+want]) == 0 {
			t.Errorf("the archive has no %s", want)
		}
	}
	if !bytes.Contains(contents[name+"/clew.1"], []byte("v1.2.3")) {
		t.Error("the man page is of another version")
	}
	clew := contents[name+"/clew"]
	standsAlone(t, clew, dist)
	hasAll(t, files[name+".cdx.json"], clew)
	if _, err := exec.LookPath("cc"); err == nil {
		hasLibrary(t, dist, files, name+"_library")
	} else {
		t.Log(err)
	}
	if want := "\nARG RELEASE=clew_1.2.3\n"; strings.Count(string(files["Dockerfile"]), want) != 2 {
		t.Errorf("the container file is of another release:\n%s", files["Dockerfile"])
	}
	isReady(t, filepath.Join(dist, name+".tar.gz"), name)
	areRecipes(t, dist, files, name+".tar.gz")
	runsInNode(t, filepath.Join(dist, "clew-1.2.3.tgz"))
	if page := files["clew_1.2.3_page.zip"]; !bytes.Contains(page, []byte("clew_1.2.3_page/index.html")) || !bytes.Contains(page, []byte("clew_1.2.3_page/clew.js")) {
		t.Error("the page is not whole")
	}
	isPackage(t, filepath.Join(dist, "clew_1.2.3-1_"+platform.Arch+".deb"), clew)
	if err := release("../..", dist, published, nil); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a release over another: %v", err)
	}
}

// isReady unpacks an archive, and runs the first command of its README there.
func isReady(t *testing.T, archive, name string) {
	t.Helper()
	dir := t.TempDir()
	command(t, dir, "tar", "xzf", archive)
	readme, err := os.ReadFile(filepath.Join(dir, name, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`(?m)^    (.*)$`).FindSubmatch(readme)
	run := exec.Command("sh", "-c", string(first[1]))
	run.Dir = filepath.Join(dir, name)
	out, _ := run.CombinedOutput()
	if run.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "stale-read.edn: INVALID") {
		t.Errorf("%s: %v\n%s", first[1], run.ProcessState, out)
	}
	if strings.Contains(string(readme), "go run ") {
		t.Error("the README of the archive still needs Go")
	}
}

// hasLibrary compiles the program of docs/c.md with the library, shared and static, and installs the package for Python into
// an empty environment. Both check a history.
func hasLibrary(t *testing.T, dist string, files map[string][]byte, name string) {
	t.Helper()
	contents := unpacked(t, files[name+".tar.gz"])
	for _, want := range []string{"LICENSE", thirdPartyName, "clew.h", "libclew.a", "libclew.so"} {
		if len(contents[name+"/"+want]) == 0 {
			t.Errorf("the archive of the library has no %s", want)
		}
	}
	library := contents[name+"/libclew.so"]
	hasAll(t, files[name+".cdx.json"], library)
	if bytes.Contains(library, []byte(filepath.Dir(dist))) || bytes.Contains(library, []byte(strings.TrimSpace(command(t, ".", "go", "env", "GOROOT"))+"/src")) {
		t.Error("the library names folders of this machine")
	}
	dir := t.TempDir()
	command(t, dir, "tar", "xzf", filepath.Join(dist, name+".tar.gz"), "--strip-components=1")
	page, err := os.ReadFile("../../docs/c.md")
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```c\n(.*?)```").FindSubmatch(page)
	if err := os.WriteFile(filepath.Join(dir, "check.c"), program[1], 0o666); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "cc", "-o", "check", "check.c", "-I.", "-L.", "-lclew", "-Wl,-rpath,"+dir)
	command(t, dir, "cc", "-o", "whole", "check.c", "-I.", "libclew.a", "-pthread")
	finds(t, dir, "./check")
	finds(t, dir, "./whole")

	if out, err := exec.Command("python3", "-c", "import ensurepip, venv").CombinedOutput(); err != nil {
		t.Log(err, string(out))
		return
	}
	command(t, dir, "python3", "-m", "venv", "venv")
	wheels, err := filepath.Glob(filepath.Join(dist, "clew-1.2.3-py3-none-*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("%q, %v: expected a package for Python", wheels, err)
	}
	command(t, dir, "venv/bin/pip", "install", "--no-index", "--disable-pip-version-check", wheels[0])
	finds(t, dir, "venv/bin/python", "-c", "import clew, sys; r = clew.check(sys.argv[1]); print(r.line); sys.exit(r.status)")
	if got := command(t, dir, "venv/bin/python", "-c", "import clew; print(clew.version())"); !strings.HasPrefix(got, "v1.2.3 (commit ") {
		t.Errorf("the package for Python says that it is %s", got)
	}
}

// finds runs a command on a history, of which it must say that it is not linearizable.
func finds(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	history, err := filepath.Abs("../../testdata/histories/stale-read.edn")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(name, append(args, history)...)
	run.Dir = dir
	out, _ := run.CombinedOutput()
	if run.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "stale read") && !strings.Contains(string(out), "stale-read") {
		t.Errorf("%s: %v\n%s", run, run.ProcessState, out)
	}
}

// runsInNode unpacks the package for JavaScript, and checks a history with it.
func runsInNode(t *testing.T, pack string) {
	t.Helper()
	dir := t.TempDir()
	command(t, dir, "tar", "xzf", pack)
	manifest, err := os.ReadFile(filepath.Join(dir, "package", "package.json"))
	if err != nil || !bytes.Contains(manifest, []byte(`"version": "1.2.3"`)) {
		t.Fatalf("%v\n%s", err, manifest)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Log(err)
		return
	}
	finds(t, dir, "node", "package/bin/clew.js", "check")
	for _, args := range [][]string{
		{"package/bin/clew.js", "--version"},
		{"--input-type=module", "-e", `import { version } from "./package/index.js"; console.log(await version())`},
	} {
		if got := command(t, dir, "node", args...); !strings.Contains(got, "v1.2.3 (commit ") {
			t.Errorf("the package for JavaScript says that it is %s", got)
		}
	}
}

// areRecipes checks that the recipes have the sum of an archive, and their syntax where there is a program for that.
func areRecipes(t *testing.T, dist string, files map[string][]byte, archive string) {
	t.Helper()
	sum := fmt.Sprintf("%x", sha256.Sum256(files[archive]))
	for name, parser := range map[string][]string{"clew.rb": {"ruby", "-c"}, "clew.nix": {"nix-instantiate", "--parse"}} {
		if recipe := string(files[name]); !strings.Contains(recipe, sum) || !strings.Contains(recipe, published+"/v1.2.3/"+archive) {
			t.Errorf("%s does not have the archive:\n%s", name, recipe)
		}
		if _, err := exec.LookPath(parser[0]); err != nil {
			t.Log(err)
			continue
		}
		command(t, dist, parser[0], append(parser[1:], filepath.Join(dist, name))...)
	}
	if notes := string(files["NOTES.md"]); !strings.HasPrefix(notes, "### ") || strings.Contains(notes, "\n## ") {
		t.Errorf("the notes are %.200q", notes)
	}
}

func sums(t *testing.T, files map[string][]byte) {
	t.Helper()
	var want []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != "SHA256SUMS" {
			want = append(want, fmt.Sprintf("%x  %s\n", sha256.Sum256(files[name]), name))
		}
	}
	if got := string(files["SHA256SUMS"]); got != strings.Join(want, "") || len(want) < 4 {
		t.Errorf("SHA256SUMS has\n%s\nwant\n%s", got, strings.Join(want, ""))
	}
}

// unpacked returns the files of an archive, and checks that root owns them.
func unpacked(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	raw, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(raw); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if mode := int64(0o644); h.Typeflag == tar.TypeReg && h.Mode != mode && (h.Mode != 0o755 || !slices.Contains([]string{"clew", "run", "knossos"}, filepath.Base(h.Name))) || h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s has mode %o, and is %d's", h.Name, h.Mode, h.Uid)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// standsAlone checks that a program needs only a kernel, and which program it is.
func standsAlone(t *testing.T, clew []byte, dist string) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(clew))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program has a segment %v, so it is not static", p.Type)
		}
	}
	if bytes.Contains(clew, []byte(filepath.Dir(dist))) || bytes.Contains(clew, []byte(strings.TrimSpace(command(t, ".", "go", "env", "GOROOT"))+"/src")) {
		t.Error("the program names folders of this machine")
	}
	path := filepath.Join(t.TempDir(), "clew")
	if err := os.WriteFile(path, clew, 0o777); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	commit := command(t, ".", "git", "log", "-1", "--format=%H")[:12]
	if got, want := command(t, "/", path, "version"), "clew v1.2.3 (commit "+commit+" of "; !strings.HasPrefix(got, want) {
		t.Errorf("%swant %s..", got, want)
	}
}

// hasAll compares a bill of materials with what Go recorded in the program.
func hasAll(t *testing.T, bom, clew []byte) {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(clew))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go")}
	for _, d := range info.Deps {
		want = append(want, "pkg:golang/"+d.Path+"@"+d.Version)
	}
	var b bill
	if err := json.Unmarshal(bom, &b); err != nil {
		t.Fatal(err)
	}
	var got []string
	refs := map[string]bool{b.Metadata.Component.Ref: true}
	for _, c := range b.Components {
		got, refs[c.Ref] = append(got, c.Package), true
	}
	for _, d := range b.Dependencies {
		for _, ref := range append(d.Upon, d.Ref) {
			if !refs[ref] {
				t.Errorf("%s imports %s, which is no component", d.Ref, ref)
			}
		}
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) || len(b.Dependencies) != len(refs) {
		t.Errorf("the bill has %q and %d dependencies, the program %q", got, len(b.Dependencies), want)
	}
	if digest := fmt.Sprintf("%x", sha256.Sum256(clew)); b.Metadata.Component.Hashes[0].Content != digest || b.Metadata.Component.Version != "v1.2.3" {
		t.Errorf("the bill is for %v", b.Metadata.Component)
	}
}

// isPackage lets dpkg check a package.
func isPackage(t *testing.T, deb string, clew []byte) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Log(err)
		return
	}
	if got, want := command(t, ".", "dpkg-deb", "-f", deb, "Package", "Version"), "Package: clew\nVersion: 1.2.3-1\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	to := t.TempDir()
	command(t, ".", "dpkg-deb", "-x", deb, to)
	for name, want := range map[string]string{
		"bin/clew": string(clew), "share/man/man1/clew.1.gz": "", "share/bash-completion/completions/clew": "_clew", "share/zsh/vendor-completions/_clew": "#compdef clew",
		"share/fish/vendor_completions.d/clew.fish": "complete -c clew", "share/doc/clew/copyright": "urfave/cli", "share/doc/clew/README.md": "# clew",
		"share/doc/clew/" + thirdPartyName + ".gz": "", "share/doc/clew/changelog.gz": "", "share/doc/clew/changelog.Debian.gz": "",
	} {
		if data, err := os.ReadFile(filepath.Join(to, "usr", name)); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, %d bytes", name, err, len(data))
		}
	}
}

// This takes minutes: everything is compiled twice.
func TestAllPlatformsAreReproducible(t *testing.T) {
	if os.Getenv("CLEW_LONG") == "" {
		t.Skip("CLEW_LONG is not set")
	}
	files := folder(t, equal(t, licenses.Platforms, true))
	sums(t, files)
	for _, p := range licenses.Platforms {
		if name := "clew_1.2.3_" + p.OS + "_" + p.Arch; files[name+".cdx.json"] == nil || files[name+".tar.gz"] == nil && files[name+".zip"] == nil {
			t.Errorf("the release lacks %s: %q", name, slices.Sorted(maps.Keys(files)))
		}
	}
}

var when = regexp.MustCompile(` of 2[-0-9T:]+Z`)

// A program tells the truth about itself, however it was built.
func TestVersions(t *testing.T) {
	repository, bin := clone(t, "clew"), t.TempDir()
	t.Setenv("GOBIN", bin)
	t.Setenv("GOFLAGS", "-buildvcs=auto -trimpath") // This reuses what a release has compiled.
	t.Setenv("CGO_ENABLED", "0")
	commit := command(t, repository, "git", "log", "-1", "--format=%H")[:12]
	for _, c := range []struct{ how, flag, want string }{
		{"of a tag", "-v", "clew v1.2.3 (commit " + commit + " of T), go"},
		{"modified", "-v", "clew v1.2.3+dirty (commit " + commit + " of T, modified), go"},
		{"without git", "-buildvcs=false", "clew (devel), go"},
	} {
		if c.how == "modified" {
			if err := os.WriteFile(filepath.Join(repository, "new"), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		command(t, repository, "go", "install", c.flag, "./cmd/clew")
		got := command(t, repository, filepath.Join(bin, "clew"), "version")
		got = when.ReplaceAllString(got, " of T")
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.how, got, c.want)
		}
	}
}

func TestDebianOrdersVersions(t *testing.T) {
	versions := []string{"v0.0.0-20261122133325-f01a681e4c9d", "v1.2.3-0.20261122133325-f01a681e4c9d", "v1.2.3-rc.1", "v1.2.3", "v1.2.3+dirty", "v1.2.4-0.20261122133325-f01a681e4c9d+dirty", "v1.2.4"}
	want := []string{"0.0.0~20261122133325.f01a681e4c9d-1", "1.2.3~0.20261122133325.f01a681e4c9d-1", "1.2.3~rc.1-1", "1.2.3-1", "1.2.3+dirty-1", "1.2.4~0.20261122133325.f01a681e4c9d+dirty-1", "1.2.4-1"}
	for i, v := range versions {
		c := common{version: v}
		if c.debian() != want[i] {
			t.Errorf("%s becomes %s, want %s", v, c.debian(), want[i])
		}
		if _, err := exec.LookPath("dpkg"); err == nil && i > 0 {
			command(t, ".", "dpkg", "--compare-versions", want[i-1], "lt", want[i])
		}
	}
}

func TestPythonHasItsOwnVersions(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	for version, want := range map[string]string{
		"v1.2.3 (commit 7304e3f58c06 of 2026-11-22T10:14:06Z)": "1.2.3", "v1.2.3+dirty": "1.2.3+dirty", "v1.2.3-rc.1": "1.2.3rc1", "v1.2.3-beta.2+dirty": "1.2.3b2+dirty",
		"v0.0.0-20261122133325-f01a681e4c9d": "0.0.0.dev20261122133325+f01a681e4c9d", "v1.2.4-0.20261122133325-f01a681e4c9d+dirty": "1.2.4.dev20261122133325+f01a681e4c9d.dirty",
		"v1.2.3-rc.1.0.20261122133325-f01a681e4c9d": "1.2.3rc1.dev20261122133325+f01a681e4c9d", "(devel)": "0.0.0.dev0", "v1.2.3-odd": "0.0.0.dev0",
	} {
		got := strings.TrimSpace(command(t, "../../packages/python", "python3", "-B", "-c", "import backend, sys; print(backend._version(sys.argv[1]))", version))
		if got != want {
			t.Errorf("%s becomes %s, want %s", version, got, want)
		}
	}
}

func TestTheEpoch(t *testing.T) {
	commit := time.Unix(1000, 0)
	for said, want := range map[string]int64{"": 1000, "2000": 2000} {
		t.Setenv("SOURCE_DATE_EPOCH", said)
		if got, err := epoch(commit); err != nil || got.Unix() != want {
			t.Errorf("%q: %v, %v", said, got, err)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "today")
	if _, err := epoch(commit); err == nil {
		t.Error("today is taken for seconds")
	}
}
