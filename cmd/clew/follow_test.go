package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	histories "clew/internal/archive"
	"clew/internal/effort"
)

const followed = `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`

// A signal ends a history that is followed, and what has come by then is decided.
func TestASignalEndsWhatIsFollowed(t *testing.T) {
	for _, signal := range signals {
		patiently(t, func(wait time.Duration) (string, bool) {
			cmd, out := reading(t, exec.Command("patientclew", "check", "--follow", "--model", "register", "-"), followed, true)
			time.Sleep(wait)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			ended(t, cmd)
			s := out.String()
			return s, cmd.ProcessState.ExitCode() == exitValid && strings.Contains(s, "-: valid\n  register, 1 operation")
		})
	}
}

// patiently tries with longer and longer waits, since clew may need seconds to start on a busy machine. It fails with
// what the last try printed.
func patiently(t *testing.T, try func(wait time.Duration) (printed string, ok bool)) {
	t.Helper()
	printed, ok := "", false
	for wait := 300 * time.Millisecond; !ok && wait < effort.Hang/2; wait *= 3 {
		printed, ok = try(wait)
	}
	if !ok {
		t.Error(printed)
	}
}

// A signal does not wait for a decision that takes long: clew says how much is decided.
func TestASignalSaysHowFarWhatIsFollowedIsDecided(t *testing.T) {
	easy := "{:process 999, :type :invoke, :f :txn, :value [[:w :easy 1]]}\n{:process 999, :type :ok, :f :txn, :value [[:w :easy 1]]}\n"
	patiently(t, func(wait time.Duration) (string, bool) {
		file, err := os.Create(filepath.Join(t.TempDir(), "h.edn"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		file.WriteString(easy)
		cmd := exec.Command("patientclew", "check", "--follow", "--model", "multi-register", file.Name())
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		time.Sleep(2 * wait) // until that is decided
		file.WriteString(hard(60))
		time.Sleep(wait / 2) // whether or not that is looked at
		if err := cmd.Process.Signal(signals[0]); err != nil {
			t.Fatal(err)
		}
		ended(t, cmd)
		s := out.String()
		return s, cmd.ProcessState.ExitCode() == exitUnknown && strings.Contains(s, "h.edn: unknown: interrupted: linearizable up to line 2 (1 operation); undecided: ")
	})
}

// A failure is reported while more may come.
func TestAFailureEndsWhatIsFollowed(t *testing.T) {
	bad := followed + `{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 2}
`
	cmd, out := clewReading(t, bad, true, "check", "--follow", "--model", "register", "-")
	ends(t, cmd, exitInvalid)
	if s := out.String(); !strings.HasPrefix(s, "-: INVALID\n") {
		t.Error(s)
	}
}

// The README's own line works on a real log that its test writes bit by bit: latest is a link to the folder of the
// run.
func TestARealLogIsFollowedByItsPath(t *testing.T) {
	for run, want := range map[string]string{"12-scalardb-linkv": "store/latest/jepsen.log: INVALID\n", "10-omnipaxos-multiline": "store/latest/jepsen.log: valid\n  cas-register from nil, 245 operations of 2 keys, 23 crashed"} {
		text, err := os.ReadFile(histories.Path(t, "wild", run, "run", "jepsen.log"))
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(t.TempDir())
		if err := os.MkdirAll("store/etcd/20250620T115313", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("etcd/20250620T115313", "store/latest"); err != nil {
			t.Skip(err) // Windows
		}
		log, err := os.Create("store/etcd/20250620T115313/jepsen.log")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer log.Close()
			for rest := text; len(rest) > 0; {
				n := min(1+bytes.IndexByte(rest[min(777, len(rest)):], '\n')+700, len(rest)) // mostly within a line
				if _, err := log.Write(rest[:n]); err != nil {
					return
				}
				rest = rest[n:]
				time.Sleep(time.Millisecond)
			}
		}()
		_, stdout, stderr := clewRun("check", "--model", "cas-register", "--init", "nil", "--independent", "--follow", "--idle", "1s", "store/latest/jepsen.log")
		if !strings.HasPrefix(stdout, want) || stderr != "" {
			t.Errorf("%s: %.300s%s", run, stdout, stderr)
		}
	}
}
