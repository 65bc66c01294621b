package main

import (
	"strings"
	"testing"
)

const followed = `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`

// A signal ends a history that is followed, and what has come by then is decided.
func TestASignalEndsWhatIsFollowed(t *testing.T) {
	for _, signal := range signals {
		cmd, out := clewReading(t, followed, true, "check", "--follow", "--model", "register", "-")
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		ends(t, cmd, exitValid)
		if s := out.String(); !strings.Contains(s, "-: valid\n  register, 1 operation") {
			t.Errorf("%s: %s", signal, s)
		}
	}
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
