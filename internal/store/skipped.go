package store

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

type hidden struct {
	name string
	kind kind
}

// kind says what is not read, and what is not done with it.
type kind struct{ one, many, not string }

var (
	link    = kind{"symbolic link", "symbolic links", "followed"}
	linkOut = kind{"symbolic link that leads to other folders", "symbolic links that lead to other folders", "followed"}
	kinds   = []kind{link, linkOut, {"FIFO", "FIFOs", "read"}, {"socket", "sockets", "read"}, {"device", "devices", "read"},
		{"folder", "folders", "a history"}, {"file of an unknown type", "files of unknown types", "read"}}
)

// kindOf returns the kind of something that is not a regular file.
func kindOf(mode fs.FileMode) kind {
	for i, is := range []fs.FileMode{fs.ModeSymlink, 0, fs.ModeNamedPipe, fs.ModeSocket, fs.ModeDevice, fs.ModeDir} {
		if mode&is != 0 {
			return kinds[i]
		}
	}
	return kinds[len(kinds)-1]
}

// skippedAmong says what is skipped although it looks like a history. This includes links to other
// folders, compressed histories, and other things that would be histories if they were files.
func skippedAmong(files []string, others []hidden) (said []string) {
	kindOf := map[string]kind{}
	names := slices.Clip(files)
	var left []string
	for _, o := range others {
		kindOf[o.name] = o.kind
		if o.kind == linkOut {
			left = append(left, o.name)
		} else {
			names = append(names, o.name)
		}
	}
	c, taken := choose(names), choose(files)
	if len(taken.chosen) > 0 && isRun(taken.chosen[0]) { // without runs, choose considers all files
		taken.packed, taken.logs = c.packed, c.logs
		taken.possible = slices.DeleteFunc(c.possible, func(name string) bool { return kindOf[name] != kind{} })
	}
	left = append(left, c.chosen...)
	runs := map[string]bool{} // the folders of histories
	for _, name := range taken.chosen {
		runs[path.Dir(filepath.ToSlash(name))] = true
	}
	for _, o := range others { // what would count beside a history; notKnown tells of a test.jepsen
		if dir, base := path.Split(filepath.ToSlash(o.name)); runs[path.Clean(dir)] && base != "test.jepsen" && (slices.Contains(RunFiles, base) || slices.Contains(testMaps, base)) {
			left = append(left, o.name)
		}
	}
	slices.Sort(left)
	left = slices.Compact(left)
	for _, k := range kinds {
		of := slices.DeleteFunc(slices.Clone(left), func(name string) bool { return kindOf[name] != k })
		if len(of) == 1 {
			said = append(said, fmt.Sprintf("1 %s is not %s, such as %s", k.one, k.not, of[0]))
		} else if len(of) > 1 {
			said = append(said, fmt.Sprintf("%d %s are not %s, such as %s", len(of), k.many, k.not, of[0]))
		}
	}
	return append(said, taken.skipped()...)
}

const maxLooked = 10_000

func leadsToFolder(link string) bool {
	info, err := os.Stat(link)
	return err == nil && info.IsDir()
}

// leadsOut says whether a symbolic link leads to a folder with histories that is
// not below the root.
func leadsOut(root, link string) bool {
	root, err := resolved(root)
	to, failed := resolved(link)
	if err != nil || failed != nil {
		return false
	}
	if inside, err := filepath.Rel(root, to); err == nil && filepath.IsLocal(inside) {
		return false
	}
	found, looked := false, 0
	filepath.WalkDir(to, func(p string, d fs.DirEntry, err error) error {
		if looked++; looked > maxLooked {
			return fs.SkipAll
		}
		if err == nil && d.Type().IsRegular() && (isRun(p) || isEDN(p) || mayBeOfReport(p)) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// resolved returns the absolute path to which a path leads.
func resolved(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
