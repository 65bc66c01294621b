package monitor_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// A failure is reported while the writer is still there.
func TestFollowEndsAtAFailure(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(kit.Path("testdata/histories/stale-read.edn"))
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	defer w.Close()
	go w.Write(append(text, "\n{:process 90, :type :invoke, :f :write, :value 77}\n"...))
	spec := models.Spec{Name: "register"}
	got, err := clew.Follow(context.Background(), r, "x", jepsen.Options{}, spec, clew.Options{Verify: clew.VerifyAlways}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := kit.Judged(t, spec, string(text), "")
	if got.Verdict != jepsen.Invalid || got.FailEvent != want.FailEvent || got.Explanation != want.Explanation || !got.Verified {
		t.Errorf("%s\nCheck says\n%s", got.Text(), want.Text())
	}
	if _, err := clew.Follow(context.Background(), r, "x", jepsen.Options{}, models.Spec{}, clew.Options{}, 0); err == nil || !strings.Contains(err.Error(), "needs a model") {
		t.Errorf("without a model: %v", err)
	}
}

// A later get shows whether nothing is the empty string in a kv, so no failure is final before it.
func TestFollowWaitsForWhatNothingIs(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		w.Write([]byte(`{:process 0 :type :invoke :f :cas :value ["x" ["" "a"]]}` + "\n" + `{:process 0 :type :ok :f :cas :value ["x" ["" "a"]]}` + "\n"))
		time.Sleep(500 * time.Millisecond)
		w.Write([]byte(`{:process 0 :type :invoke :f :get :value ["y" nil]}` + "\n" + `{:process 0 :type :ok :f :get :value ["y" ""]}` + "\n"))
		w.Close()
	}()
	got, err := clew.Follow(t.Context(), r, "x", jepsen.Options{}, models.Spec{Name: "kv"}, clew.Options{}, 0)
	if err != nil || got.Verdict != jepsen.Valid {
		t.Fatalf("%v\n%s", err, got.Text())
	}
}

// A failure of one key is final, whatever is open in another.
func TestFollowEndsAtAFailureOfAKey(t *testing.T) {
	t.Parallel()
	text := `{:process 0, :type :invoke, :f :write, :value [:a 1]}
{:process 1, :type :invoke, :f :write, :value [:b 5]}
{:process 0, :type :ok, :f :write, :value [:a 1]}
{:process 0, :type :invoke, :f :read, :value [:a nil]}
{:process 2, :type :invoke, :f :read, :value [:a nil]}
{:process 0, :type :ok, :f :read, :value [:a 2]}
{:process 2, :type :ok, :f :read, :value [:a 1]}
`
	r, w := io.Pipe()
	defer w.Close()
	go w.Write([]byte(text))
	got, err := clew.Follow(context.Background(), r, "x", jepsen.Options{}, models.Spec{Name: "register"}, clew.Options{Independent: true}, 0)
	if err != nil || got.Verdict != jepsen.Invalid || got.FailingIndex() != 5 || got.History.Operations() != 4 {
		t.Errorf("%v: %s", err, got.Text())
	}
}

// A model that does not know an :f will not know it later.
func TestFollowEndsWhenTheModelIsTheWrongOne(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n")
	_, err := clew.Follow(t.Context(), r, "h", jepsen.Options{}, models.Spec{Name: "mutex"}, clew.Options{}, 0)
	if err == nil || !strings.Contains(err.Error(), "mutex does not know :f :write") {
		t.Error(err)
	}
}
