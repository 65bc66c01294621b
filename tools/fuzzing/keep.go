package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// How long an input may be that becomes a seed, in bytes, and how many become seeds
// at once for a target.
const (
	longest = 400
	most    = 16
)

// candidate begins the name of a seed that is being tried. Such seeds come after all others.
const candidate = "zz-"

// keepSeeds turns what was found into seeds, for each target.
func keepSeeds(only string) error {
	targets, err := find(only)
	if err != nil {
		return err
	}
	for _, t := range targets {
		n, err := t.keep(t.cache())
		if err != nil {
			return err
		}
		fmt.Printf("%4d seeds more of %s\n", n, t)
	}
	return nil
}

// keep turns inputs that fuzzing has found into seeds. It takes those that reach most of
// the module's statements that neither existing seeds nor shorter inputs reach.
func (t target) keep(cache string) (kept int, err error) {
	found, err := os.ReadDir(filepath.Join(cache, t.name))
	if os.IsNotExist(err) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	seeds := filepath.Join(t.dir, "testdata", "fuzz", t.name)
	if err := os.MkdirAll(seeds, 0o777); err != nil {
		return 0, err
	}
	defer func() {
		tried, _ := filepath.Glob(filepath.Join(seeds, candidate+"*"))
		for _, path := range tried {
			os.Remove(path)
		}
		os.Remove(seeds) // if it is empty
		os.Remove(filepath.Dir(seeds))
	}()
	for _, f := range found {
		text, err := os.ReadFile(filepath.Join(cache, t.name, f.Name()))
		if err != nil {
			return 0, err
		}
		if len(text) > longest {
			continue
		}
		shorterFirst := fmt.Sprintf("%s%04d-%s", candidate, len(text), f.Name())
		if err := os.WriteFile(filepath.Join(seeds, shorterFirst), text, 0o666); err != nil {
			return 0, err
		}
	}
	list, err := os.CreateTemp("", "kept")
	if err != nil {
		return 0, err
	}
	list.Close()
	defer os.Remove(list.Name())
	c := exec.Command("go", "test", "-count=1", "-cover", "-coverpkg=./...", "-run", "^"+t.name+"$", t.pkg)
	c.Env = append(os.Environ(), "CLEW_FUZZ_KEEP="+list.Name())
	if out, err := c.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", t, err, out)
	}
	names, err := os.ReadFile(list.Name())
	if err != nil {
		return 0, err
	}
	for _, line := range slices.Backward(slices.Sorted(strings.Lines(string(names)))) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		name = filepath.Base(name)
		if !strings.HasPrefix(name, candidate) || kept == most {
			continue
		}
		seed := name[len(candidate+"0000-"):]
		if err := os.Rename(filepath.Join(seeds, name), filepath.Join(seeds, seed)); err != nil {
			return kept, err
		}
		kept++
	}
	return kept, nil
}
