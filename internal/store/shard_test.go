package store

import (
	"fmt"
	"strings"
	"testing"
)

func TestAShardIsGivenOrThatOfATask(t *testing.T) {
	for _, c := range []struct{ text, env, want string }{
		{"3/16", "", "3/16"},
		{"1/1", "", "1/1"},
		{"16/16", "JOB_COMPLETION_INDEX=3", "16/16"},
		{"0/16", "", `expected I/N, such as 3/16, or auto, with an I from 1 to N, found "0/16"`},
		{"17/16", "", `expected I/N, such as 3/16, or auto, with an I from 1 to N, found "17/16"`},
		{"3", "", `expected I/N, such as 3/16, or auto, with an I from 1 to N, found "3"`},
		{"", "", `expected I/N, such as 3/16, or auto, with an I from 1 to N, found ""`},
		{"3/0", "", `expected I/N, such as 3/16, or auto, with an N from 1 to 100000, found "3/0"`},
		{"3/x", "", `expected I/N, such as 3/16, or auto, with an N from 1 to 100000, found "3/x"`},
		{"1/1000000", "", `expected I/N, such as 3/16, or auto, with an N from 1 to 100000, found "1/1000000"`},
		{"auto", "JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=16", "1/16"},
		{"auto", "JOB_COMPLETION_INDEX=15 JOB_COMPLETIONS=16", "16/16"},
		{"auto/8", "JOB_COMPLETION_INDEX=7", "8/8"},
		{"auto/8", "JOB_COMPLETION_INDEX=8", "auto: task 8 is not among the 8 tasks from 0 on; a task started by itself needs auto/N"},
		{"auto/100000", "JOB_COMPLETION_INDEX=99999", "100000/100000"},
		{"auto", "JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=100001", "auto: expected at most 100000 tasks, found 100001"},
		{"auto", "JOB_COMPLETION_INDEX=3", `auto: expected a number in JOB_COMPLETIONS, found ""; auto/16 says that there are 16`},
		{"auto", "JOB_COMPLETION_INDEX=x JOB_COMPLETIONS=16", `auto: expected a number in JOB_COMPLETION_INDEX, found "x"`},
		{"auto", "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=16 SLURM_ARRAY_TASK_STEP=1", "1/16"},
		{"auto", "SLURM_ARRAY_TASK_ID=15 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=16", "16/16"},
		{"auto", "SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_STEP=2", "3/3"},
		// A list of tasks such as --array=1,7 has no step.
		{"auto", "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=2", "auto: task 7 is not among the 2 tasks from 1 on; a task started by itself needs auto/N"},
		{"auto", "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=2", `auto: expected a number in SLURM_ARRAY_TASK_MIN, found ""`},
		// This task is started again alone.
		{"auto/16", "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=7 SLURM_ARRAY_TASK_COUNT=1", "7/16"},
		{"auto/16", "SLURM_ARRAY_TASK_ID=0", "auto: task 0 is not among the 16 tasks from 1 on; a task started by itself needs auto/N"},
		{"auto", "", "auto: neither JOB_COMPLETION_INDEX (Kubernetes) nor SLURM_ARRAY_TASK_ID (Slurm) is set; expected I/N, such as 3/16"},
		{"auto", "JOB_COMPLETION_INDEX=1 SLURM_ARRAY_TASK_ID=1", "auto: both JOB_COMPLETION_INDEX (Kubernetes) and SLURM_ARRAY_TASK_ID (Slurm) are set; expected I/N, such as 3/16"},
	} {
		env := map[string]string{}
		for _, v := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		s, err := ParseShard(c.text, func(name string) string { return env[name] })
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.text, c.env, got, c.want)
		}
	}
}

func TestShardsPartAListEvenly(t *testing.T) {
	const names = 3_000
	for of := 1; of <= 16; of++ {
		sizes := make([]int, of)
		for n := range names {
			in := 0
			for i := range of {
				if (Shard{i + 1, of}).Has(fmt.Sprintf("store/etcd/2025%06d/history.edn", n)) {
					sizes[i]++
					in++
				}
			}
			if in != 1 {
				t.Fatalf("name %d is in %d of %d shards", n, in, of)
			}
		}
		for i, size := range sizes {
			if mean := names / of; size < mean*7/10 || size > mean*13/10 {
				t.Errorf("shard %d/%d has %d names", i+1, of, size)
			}
		}
	}
	// The hash must not change: shards of one list may be checked by different versions.
	if !(Shard{11, 16}).Has("store/etcd/20250102T000000.000Z/history.edn") {
		for i := range 16 {
			if (Shard{i + 1, 16}).Has("store/etcd/20250102T000000.000Z/history.edn") {
				t.Errorf("it is in shard %d now", i+1)
			}
		}
	}
}

func TestNamesAreTheSameWhereverAStoreIs(t *testing.T) {
	dir := aStore(t)
	for _, c := range []struct{ path, want string }{
		{"store/etcd", "etcd/20250102T000000.000Z/history.edn"},
		{"store", "store/etcd/20250102T000000.000Z/history.edn"},
		{"store/", "store/etcd/20250102T000000.000Z/history.edn"},
		{"store.tar.gz", "store.tar.gz/etcd/20250102T000000.000Z/history.edn"},
		{"store.zip", "store.zip/etcd/20250102T000000.000Z/history.edn"},
	} {
		found, err := Find(t.Context(), dir+"/"+c.path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := found[0].Name(); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
	t.Chdir(dir + "/store")
	found, err := Find(t.Context(), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := found[0].Name(), "./etcd/20250102T000000.000Z/history.edn"; got != want {
		t.Errorf(".: %s, want %s", got, want)
	}
	if got := (Source{Path: "a/history.edn"}).Name(); got != "a/history.edn" {
		t.Error(got)
	}
	if Fingerprint([]string{"a", "b"}) == Fingerprint([]string{"b", "a"}) || Fingerprint([]string{"a"}) == Fingerprint([]string{"a", "b"}) ||
		Fingerprint([]string{"ab"}) == Fingerprint([]string{"a", "b"}) {
		t.Error("fingerprints are not those of lists")
	}
}

func TestAFewShardsPartACompressedArchive(t *testing.T) {
	const members = 2_000
	for _, c := range []struct {
		size     int64
		of, want int // how many shards open it
	}{{0, 16, 1}, {64<<20 - 1, 16, 1}, {64 << 20, 16, 2}, {1 << 30, 16, 16}, {1 << 30, 1000, 17}, {1 << 40, 3, 3}, {5, 1, 1}} {
		p := Packed{"old.tar.gz", c.size}
		opened, total := 0, 0
		for i := range c.of {
			s := Shard{i + 1, c.of}
			n := 0
			for m := range members {
				if s.HasMember(p, fmt.Sprint("old.tar.gz/", m)) {
					n++
				}
			}
			if mean := members / c.want; s.Opens(p) != (n > 0) || n > 0 && (n < mean*7/10 || n > mean*13/10) {
				t.Errorf("%d bytes: shard %s has %d members, and opens it: %t", c.size, s, n, s.Opens(p))
			}
			if total += n; n > 0 {
				opened++
			}
		}
		if opened != c.want || total != members {
			t.Errorf("%d bytes: %d of %d shards open it, want %d; they have %d members of %d", c.size, opened, c.of, c.want, total, members)
		}
	}
	// Small archives are not all in one shard.
	firsts := map[int]bool{}
	for n := range 100 {
		for i := range 16 {
			if (Shard{i + 1, 16}).Opens(Packed{fmt.Sprint(n, ".tgz"), 1000}) {
				firsts[i] = true
			}
		}
	}
	if len(firsts) != 16 {
		t.Errorf("100 archives are in %d of 16 shards", len(firsts))
	}
}

func TestArchivesThatCanOnlyBeReadFromTheirFrontAreKnownByTheirNames(t *testing.T) {
	dir := aStore(t)
	for name, want := range map[string]bool{"store": false, "store.tar": false, "store.zip": false, "store.tar.gz": true, "nowhere.tar.gz": false} {
		p, ok := PackedAt(dir + "/" + name)
		if ok != want || ok && (p.Name != name || p.Size == 0) {
			t.Errorf("%s: %v %t", name, p, ok)
		}
	}
}
