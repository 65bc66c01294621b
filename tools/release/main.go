// Command release builds what a release consists of: an archive for each platform,
// Debian packages, lists of what is in the programs, the packages for JavaScript, Python and C, the page that checks what is
// dropped on it, a container file, recipes for Homebrew and Nix, notes, and checksums.
//
//	make release
//
// Two builds of one commit with one version of Go are equal byte for byte: nothing
// depends on the folder, the time, the user or the machine. The version and the time
// are those that Go finds in git. The version of a release says so if the tree has
// changes.
//
// It is our own because goreleaser brings hundreds of modules for a dozen go builds, and needs another
// program for bills of materials.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"clew/tools/licenses"
)

func main() {
	to := flag.String("o", "dist", "the `folder`, which is new or empty")
	url := flag.String("url", published, "where the files will be, below their tag")
	texts := flag.String("licenses", "", "write only the texts of others' licenses, to this `file`")
	flag.Parse()
	var err error
	if *texts != "" {
		err = writeLicenses(".", *texts)
	} else {
		err = release(".", *to, *url, licenses.Platforms)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// writeLicenses writes what the archives have as thirdPartyName, for packages that are built elsewhere.
func writeLicenses(repository, to string) error {
	c := &common{repository: repository}
	if err := c.readLicenses(); err != nil {
		return err
	}
	return os.WriteFile(to, c.thirdParty, 0o666)
}

// published stands for where the files will be, below their tag.
const published = "https://github.com/OWNER/clew/releases/download"

// release builds the repository in a folder for platforms, and puts everything into
// another folder, for a URL.
func release(repository, to, url string, platforms []licenses.Platform) error {
	if entries, err := os.ReadDir(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	} else if len(entries) > 0 {
		return fmt.Errorf("%s is not empty; a release needs a folder of its own", to)
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "clew-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	common, err := prepare(repository, work)
	if err != nil {
		return err
	}
	notes, err := common.notes()
	if err != nil {
		return err
	}
	files, installed := []file{{name: "Dockerfile", data: dockerfile(common.name())}, notes}, archives{}
	for _, p := range platforms {
		made, err := common.platform(p, work)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", p.OS, p.Arch, err)
		}
		files = append(files, made...)
		installed.add(p, made[1])
	}
	anywhere, err := common.webAssembly(work)
	if err != nil {
		return err
	}
	files = append(files, anywhere...)
	if slices.Contains(platforms, licenses.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}) {
		native, lacks, err := common.library(work)
		if err != nil {
			return err
		}
		files = append(files, native...)
		if lacks != "" {
			fmt.Fprintln(os.Stderr, "release:", lacks)
		}
	}
	recipes, err := common.recipes(url, installed)
	if err != nil {
		return err
	}
	files = append(files, recipes...)
	files = append(files, checksums(files))
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(to, f.name), f.data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// platform makes the files for a platform; the archive is the second.
func (c *common) platform(p licenses.Platform, work string) ([]file, error) {
	program, built, err := build(c.repository, work, p)
	if err != nil {
		return nil, err
	}
	if err := c.same(built); err != nil {
		return nil, err
	}
	folder := fmt.Sprintf("%s_%s_%s", c.name(), p.OS, p.Arch)
	bom, err := c.bom("./cmd/clew", program, built, p)
	if err != nil {
		return nil, err
	}
	files := []file{{name: folder + ".cdx.json", data: bom}}
	contents, err := c.archived(folder, program, p)
	if err != nil {
		return nil, err
	}
	archive, err := c.packed(folder, contents, p)
	if err != nil {
		return nil, err
	}
	files = append(files, archive)
	if p.OS == "linux" {
		deb, err := c.deb(program, p.Arch)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: fmt.Sprintf("clew_%s_%s.deb", c.debian(), p.Arch), data: deb})
	}
	return files, nil
}

// same returns an error if something was built from another tree than the rest.
func (c *common) same(b built) error {
	if b.version != c.version || !b.time.Equal(c.commit) {
		return fmt.Errorf("version %s of %s, beside %s of %s: the tree has changed meanwhile", b.version, b.time, c.version, c.commit)
	}
	return nil
}

// packed returns an archive of a name, in the form that a system's users expect.
func (c *common) packed(name string, contents []file, p licenses.Platform) (f file, err error) {
	if p.OS == "windows" {
		f.name = name + ".zip"
		f.data, err = zipped(contents, c.time)
	} else {
		f.name = name + ".tar.gz"
		f.data, err = tarball(contents, c.time)
	}
	return f, err
}

// checksums returns the file that sha256sum -c reads.
func checksums(files []file) file {
	var lines []string
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(f.data), f.name))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return file{name: "SHA256SUMS", data: []byte(strings.Join(lines, ""))}
}
