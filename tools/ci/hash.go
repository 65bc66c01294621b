package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// hashOf returns a hash of the files that git tracks or would track in the paths, which
// are git's pathspecs, of their names, of the version, and of the names and sizes of the
// real histories.
func hashOf(version string, paths []string) (string, error) {
	args := append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, paths...)
	names, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git ls-files: %w", err)
	}
	all := sha256.New()
	fmt.Fprintf(all, "%s\x00", version)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, but not committed yet
		}
		if err != nil {
			return "", err
		}
		one := sha256.New()
		_, err = io.Copy(one, f)
		f.Close()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(all, "%s\x00%x\x00", name, one.Sum(nil))
	}
	if real := os.Getenv("CLEW_HISTORIES"); real != "" {
		err := filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				fmt.Fprintf(all, "%s\x00%d\x00", strings.TrimPrefix(path, real), info.Size())
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(all.Sum(nil)[:16]), nil
}
