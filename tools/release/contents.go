package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"clew/tools/licenses"
)

// file is a file in an archive, or one that is made.
type file struct {
	name       string
	data       []byte
	executable bool
}

// common holds what the archives and packages of all platforms share.
type common struct {
	repository string
	version    string    // as clew --version prints it
	commit     time.Time // when it was made
	time       time.Time // of files in archives
	author     string    // of the commit, with an address
	man        []byte
	completion map[string][]byte // by shell
	docs       []file            // with their paths in the repository
	examples   []file            // the plugin for Jepsen, and histories
	thirdParty []byte
	licenses   []licenses.Entry
}

// thirdPartyName is the file with the texts of others' licenses.
const thirdPartyName = "THIRD_PARTY_LICENSES.txt"

// prepare builds clew for this machine, and lets it write its man page and completions.
func prepare(repository, work string) (*common, error) {
	here := licenses.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	_, b, err := build(repository, work, here)
	if err != nil {
		return nil, err
	}
	c := &common{repository: repository, version: b.version, commit: b.time, completion: map[string][]byte{}}
	if c.time, err = epoch(c.commit); err != nil {
		return nil, err
	}
	clew := filepath.Join(work, "clew-"+here.OS+"-"+here.Arch)
	if c.man, err = output(work, clew, "man"); err != nil {
		return nil, err
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if c.completion[shell], err = output(work, clew, "completion", shell); err != nil {
			return nil, err
		}
	}
	author, err := output(repository, "git", "log", "-1", "--format=%an <%ae>")
	if err != nil {
		return nil, err
	}
	c.author = strings.TrimSpace(string(author))
	if c.docs, err = c.tracked("README.md", "CHANGELOG.md", "LICENSE", "docs"); err != nil {
		return nil, err
	}
	if c.examples, err = c.tracked("testdata/histories", "jepsen/clojure"); err != nil {
		return nil, err
	}
	return c, c.readLicenses()
}

// tracked reads files that are in git.
func (c *common) tracked(paths ...string) (files []file, err error) {
	names, err := output(c.repository, "git", append([]string{"ls-files", "-z"}, paths...)...)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		path := filepath.Join(c.repository, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, data, info.Mode()&0o100 != 0})
	}
	return files, nil
}

func (c *common) readLicenses() error {
	modules, err := licenses.Used(c.repository, "./cmd/clew", licenses.Platforms...)
	if err != nil {
		return err
	}
	var texts bytes.Buffer
	if err := licenses.WriteTexts(&texts, modules); err != nil {
		return err
	}
	c.thirdParty = texts.Bytes()
	page, err := os.ReadFile(filepath.Join(c.repository, "docs", "licenses.md"))
	if err != nil {
		return err
	}
	c.licenses, err = licenses.Entries(string(page), "clew")
	return err
}

// name returns the name of a release, without the platform.
func (c *common) name() string { return "clew_" + strings.TrimPrefix(c.version, "v") }

// archived returns the contents of an archive, all of it in one folder.
func (c *common) archived(folder string, program []byte, p licenses.Platform) (files []file, err error) {
	name, call := "clew", "./clew"
	if p.OS == "windows" {
		name, call = "clew.exe", `.\clew`
	}
	files = slices.Concat(c.docs, c.examples, []file{
		{name, program, true},
		{thirdPartyName, c.thirdParty, false},
		{"clew.1", c.man, false},
		{"completion/clew.bash", c.completion["bash"], false},
		{"completion/_clew", c.completion["zsh"], false},
		{"completion/clew.fish", c.completion["fish"], false},
	})
	for i, f := range files {
		if f.name == "README.md" {
			if files[i].data, err = readme(f.data, call); err != nil {
				return nil, err
			}
		}
		files[i].name = folder + "/" + f.name
	}
	return files, nil
}
