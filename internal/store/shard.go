package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Shard is a part of a list of histories: number I of Of parts, counted from 1. A
// history's Name and Of alone determine its part. Many machines can therefore
// split a list without communication.
type Shard struct{ I, Of int }

// maxShards bounds into how many parts a list may be split.
const maxShards = 100_000

// ParseShard reads "3/16", the third part of sixteen. "auto" stands for the part of a task of a
// job array, which the environment shows. It may be a Kubernetes Job (Indexed, with its number
// of completions in JOB_COMPLETIONS) or a Slurm array. "auto/16" says how many parts there are.
// The tasks of a Slurm array are then numbered from 1, and any of them may be started alone.
func ParseShard(text string, getenv func(name string) string) (Shard, error) {
	number, of, hasOf := strings.Cut(text, "/")
	var s Shard
	var err error
	if hasOf {
		if s.Of, err = strconv.Atoi(of); err != nil || s.Of < 1 || s.Of > maxShards {
			return s, fmt.Errorf("expected I/N, such as 3/16, or auto, with an N from 1 to %d, found %q", maxShards, text)
		}
	}
	if number == "auto" {
		return s.ofTask(getenv)
	}
	if s.I, err = strconv.Atoi(number); err != nil || !hasOf || s.I < 1 || s.I > s.Of {
		return s, fmt.Errorf("expected I/N, such as 3/16, or auto, with an I from 1 to N, found %q", text)
	}
	return s, nil
}

// ofTask returns the shard of a task. Of is 0 if it must come from the environment.
func (s Shard) ofTask(getenv func(string) string) (Shard, error) {
	kubernetes, slurm := getenv("JOB_COMPLETION_INDEX"), getenv("SLURM_ARRAY_TASK_ID")
	number := func(name string) (int, error) {
		n, err := strconv.Atoi(getenv(name))
		if err != nil || n < 0 {
			return 0, fmt.Errorf("auto: expected a number in %s, found %q", name, getenv(name))
		}
		return n, nil
	}
	first, step, count := 0, 1, "JOB_COMPLETIONS"
	var task int
	var err error
	switch {
	case kubernetes == "" && slurm == "":
		return s, errors.New("auto: neither JOB_COMPLETION_INDEX (Kubernetes) nor SLURM_ARRAY_TASK_ID (Slurm) is set; expected I/N, such as 3/16")
	case kubernetes != "" && slurm != "":
		return s, errors.New("auto: both JOB_COMPLETION_INDEX (Kubernetes) and SLURM_ARRAY_TASK_ID (Slurm) are set; expected I/N, such as 3/16")
	case kubernetes != "":
		task, err = number("JOB_COMPLETION_INDEX")
	default:
		task, err = number("SLURM_ARRAY_TASK_ID")
		first, count = 1, "SLURM_ARRAY_TASK_COUNT"
		if err == nil && s.Of == 0 {
			first, err = number("SLURM_ARRAY_TASK_MIN")
		}
		if err == nil && s.Of == 0 && getenv("SLURM_ARRAY_TASK_STEP") != "" {
			step, err = number("SLURM_ARRAY_TASK_STEP")
		}
	}
	if err != nil {
		return s, err
	}
	if s.Of == 0 {
		if s.Of, err = number(count); err != nil {
			return s, fmt.Errorf("%w; auto/16 says that there are 16", err)
		}
	}
	if s.Of > maxShards {
		return s, fmt.Errorf("auto: expected at most %d tasks, found %d", maxShards, s.Of)
	}
	if s.I = (task-first)/max(step, 1) + 1; task < first || (task-first)%max(step, 1) != 0 || s.I > s.Of {
		return s, fmt.Errorf("auto: task %d is not among the %d tasks from %d on; a task started by itself needs auto/N", task, s.Of, first)
	}
	return s, nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.Of) }

// Has says whether the history of that name is in the shard. The hash is the first
// 8 bytes of SHA-256, as a number modulo Of.
func (s Shard) Has(name string) bool { return hashOf(name, s.Of) == s.I-1 }

func hashOf(name string, n int) int {
	sum := sha256.Sum256([]byte(name))
	return int(binary.BigEndian.Uint64(sum[:]) % uint64(n))
}

// Packed is a compressed tar archive, which can only be read from front to back.
// If every shard did that for the names of its members, it would take as long as
// all the checking. Its members are therefore split among a few consecutive
// shards, one for every bytesOfAShard of it. The others need not open it.
type Packed struct {
	Name string // its name, regardless of its place
	Size int64  // in bytes, compressed
}

// bytesOfAShard corresponds to some hundreds of megabytes of history, which take seconds.
const bytesOfAShard = 64 << 20

// PackedAt returns the archive at a path, if it is of that kind.
func PackedAt(path string) (p Packed, ok bool) {
	if !isTar(path) || strings.HasSuffix(path, ".tar") {
		return p, false
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return p, false
	}
	return Packed{filepath.Base(path), info.Size()}, true
}

// Opens says whether the shard may contain members of an archive.
func (s Shard) Opens(p Packed) bool { return s.after(p) < p.shards(s.Of) }

// HasMember says whether the member of that name in an archive is in the shard.
func (s Shard) HasMember(p Packed, name string) bool {
	return s.after(p) == hashOf(name, p.shards(s.Of))
}

// HasSource says whether a history that was found belongs to the shard. p is the archive that holds it, or nil. A nil
// shard has all.
func (s *Shard) HasSource(found Source, p *Packed) bool {
	switch {
	case s == nil:
		return true
	case p == nil:
		return s.Has(found.Name())
	case !found.Member(): // the archive itself: it could not be read, or the shard does not open it and has none of its names
		return s.HasMember(*p, p.Name)
	}
	return s.HasMember(*p, found.Name())
}

// shards returns how many shards its members are split among, at most of.
func (p Packed) shards(of int) int { return int(min(p.Size/bytesOfAShard+1, int64(of))) }

// after returns how many shards s comes after the first one of an archive.
func (s Shard) after(p Packed) int { return (s.I - 1 + s.Of - hashOf(p.Name, s.Of)) % s.Of }

// Name returns the name of a history regardless of the place of its store. It is
// the path from the last folder of the given path, or from the archive. The name
// of a history that was itself given is its path.
func (s Source) Name() string {
	if s.Below == "" {
		return s.Path
	}
	root := strings.TrimSuffix(strings.TrimSuffix(s.Path, s.Below), "/")
	return path.Base(root) + "/" + s.Below
}

// Fingerprint returns the same text for two lists if and only if they have the
// same names in the same order.
func Fingerprint(names []string) string {
	h := sha256.New()
	for _, name := range names {
		fmt.Fprintf(h, "%d ", len(name))
		io.WriteString(h, name)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// A large file is distinguished from others by its size and by some pieces of it, from its
// beginning to its end. Reading all of every file would take as long as checking them.
const (
	wholeFile = 16 << 10
	pieces    = 4
	pieceSize = wholeFile / pieces
)

// FingerprintOfFiles returns the same text for the same files in the same order. It
// covers their sizes and their contents. It reads large files at the beginning, at the
// end, and at two places in between. Files that are missing or not regular count as none.
func FingerprintOfFiles(ctx context.Context, paths []string) string {
	h := sha256.New()
	held := make([]byte, wholeFile)
	for _, path := range paths {
		if ctx.Err() != nil {
			break
		}
		addFile(h, path, held)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func addFile(h io.Writer, path string, held []byte) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		fmt.Fprint(h, "none ")
		return
	}
	size := info.Size()
	fmt.Fprintf(h, "%d ", size)
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	n := 0
	if size <= wholeFile {
		n, _ = f.ReadAt(held, 0)
	} else {
		for i := range pieces {
			at := (size - pieceSize) * int64(i) / (pieces - 1)
			read, _ := f.ReadAt(held[n:n+pieceSize], at)
			n += read
		}
	}
	h.Write(held[:n])
}
