package store

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/jepsen"
)

// FindRun returns the history of a run: the folder with a name below root, whose regular files the caller has listed.
// It returns false if the folder has none. Reading the history never leads out of root, even if links do.
func FindRun(root *os.Root, folder string, names []string) (Source, bool) {
	at := path.Join(filepath.ToSlash(root.Name()), folder)
	found := sources(names, nil, func(name string) Source {
		s := stored(at, name)
		s.local = true
		s.open = func(context.Context) (io.ReadCloser, error) { return OpenRegular(root, path.Join(folder, name)) }
		return s
	})
	if len(found) == 0 {
		return Source{Path: at}, false
	}
	return found[0], true
}

// IsRunFolder says whether a folder has a name that Jepsen gives to a run, which is a time.
func IsRunFolder(name string) bool { return timestamp.MatchString(name) }

// IsHistory says whether a file is the history of a run by its name, compressed or not.
func IsHistory(name string) bool {
	name, _ = files.PackedName(name)
	return isRun(name)
}

var errIrregular = errors.New("it is not a regular file")

// OpenRegular opens a regular file below root. It would have to wait for anything else, such as a pipe.
func OpenRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		return nil, err
	}
	return root.Open(name)
}

// Outcome is what the results of a test say about all of it.
type Outcome struct {
	Verdict jepsen.Verdict   // :valid?
	Clew    []jepsen.Verdict // what clew's plugin says of each history or key that it checked
	Count   int64            // how many operations returned, 0 if that is not known
}

// ReadOutcome reads a results.edn of a run, until the context is done. memory, if not 0, bounds what is read.
func ReadOutcome(ctx context.Context, root *os.Root, name string, memory int64) (o Outcome, err error) {
	f, err := OpenRegular(root, name)
	if err != nil {
		return o, err
	}
	defer f.Close()
	limited := &io.LimitedReader{R: limits.Whole(ctx, f, memory), N: maxResults + 1}
	text, err := io.ReadAll(limited)
	if err != nil {
		return o, err
	}
	if limited.N == 0 {
		return o, limits.ErrOutOfMemory
	}
	v := edn.NewValues()
	results, err := v.ParseLenient(text)
	if err != nil {
		return o, err
	}
	c := claimsIn(results, v)
	switch valid, _ := c.get(results, "valid?"); valid {
	case edn.True:
		o.Verdict = jepsen.Valid
	case edn.False:
		o.Verdict = jepsen.Invalid
	}
	if stats, ok := c.get(results, "stats"); ok {
		count, _ := c.get(stats, "count")
		o.Count, _ = v.Int(count)
	}
	for _, claim := range c.found {
		if strings.HasPrefix(claim.By, "clew") {
			o.Clew = append(o.Clew, claim.Verdict)
		}
	}
	return o, nil
}
