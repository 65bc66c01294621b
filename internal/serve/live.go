package serve

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"clew/internal/batch"
	"clew/internal/page"
	"clew/internal/store"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/report"
)

// Bounds of following. At most maxFollowed runs are followed at once. A run that no client has asked about for
// unasked is not followed anymore.
const (
	maxFollowed = 4
	unasked     = 30 * time.Second
)

// A model is inferred once nothing new comes, or after inferring. If it turns out not to fit, or if following fails, the run is followed
// again after again.
const (
	inferring = 2 * time.Second
	again     = 3 * time.Second
)

// followed are the files of a run that are followed. The first one that is there counts.
var followed = []string{"history.edn", store.RecorderFile, "test.jepsen", "history.txt", "jepsen.log"}

// follower follows a run that still grows. It looks at the history again and again.
type follower struct {
	s     *Server
	r     *run
	quiet *time.Timer // ends it when no client has asked for a while
	end   context.CancelFunc

	mu      sync.Mutex
	state   checked
	asked   time.Time // for its page
	html    []byte
	looks   int
	stopped fileStamp // of the file when following it ended, zero while it goes on
	at      time.Time // when it ended
}

// follow returns what is known of a run that grows, and begins to follow it. It returns nil if too many others are
// followed. A client that asks for the page of a run comes before those that only see it in a list.
func (s *Server) follow(r *run, f *facts, forPage bool) *follower {
	s.live.Lock()
	defer s.live.Unlock()
	x := s.followers[r.path]
	if x != nil && x.overtaken(f) {
		x.end()
		delete(s.followers, r.path)
		x = nil
	}
	if x == nil {
		if len(s.followers) >= maxFollowed && (!forPage || !s.makeRoom()) {
			return nil
		}
		var ctx context.Context
		x = &follower{s: s, r: r, state: checked{class: "live", word: "running"}}
		ctx, x.end = context.WithCancel(s.ctx)
		x.quiet = time.AfterFunc(unasked, x.end)
		s.followers[r.path] = x
		s.background.Go(func() { x.run(ctx, f) })
	}
	x.quiet.Reset(unasked)
	if forPage {
		x.mu.Lock()
		x.asked = time.Now()
		x.mu.Unlock()
	}
	return x
}

// makeRoom ends the follower whose page has not been asked for for longest, unless all pages are being looked at.
func (s *Server) makeRoom() bool {
	var oldest *follower
	for _, x := range s.followers {
		if oldest == nil || x.lastAsked().Before(oldest.lastAsked()) {
			oldest = x
		}
	}
	if time.Since(oldest.lastAsked()) < unasked {
		return false
	}
	oldest.end()
	delete(s.followers, oldest.r.path)
	return true
}

func (x *follower) lastAsked() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked
}

// overtaken reports whether following has ended, and the history has grown since.
func (x *follower) overtaken(f *facts) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, now := f.followed()
	return x.stopped != (fileStamp{}) && x.stopped != now && x.state.class != "invalid" && time.Since(x.at) > again
}

// followed returns the file of a run that is followed, or "".
func (f *facts) followed() (name string, of fileStamp) {
	for i, of := range []fileStamp{f.stamp.history, f.stamp.recorder, f.stamp.test, f.stamp.history, f.stamp.log} {
		if has := slices.Contains(f.files, followed[i]); has && of != (fileStamp{}) {
			return followed[i], of
		}
	}
	return "", fileStamp{}
}

// run follows until the context is done, the history certainly fails, or nothing comes anymore.
func (x *follower) run(ctx context.Context, f *facts) {
	var err error
	if bug := watchdog.Guarded(func() { err = x.follow(ctx, f) }); bug != "" {
		x.s.log("%s: this is a bug in clew: %s", x.r.path, bug)
		err = errors.New("this is a bug in clew; its output says more")
	}
	x.quiet.Stop()
	now := x.s.look(x.s.ctx, x.r)
	x.mu.Lock()
	if x.at = time.Now(); err != nil {
		x.state = checked{class: "unknown", word: string(jepsen.Unreadable), sentence: err.Error(), operations: x.state.operations}
		x.looks++
		x.html = nil
	}
	if _, x.stopped = now.followed(); x.stopped == (fileStamp{}) {
		x.stopped.changed = -1
	}
	if err == nil && ctx.Err() == nil { // lists go on to say this once the run does not grow anymore
		last := x.state
		last.read = now.read()
		x.r.checked.Store(&last)
	}
	x.mu.Unlock()
	if ctx.Err() != nil { // no client asks about it, or another run needs its place
		x.s.live.Lock()
		if x.s.followers[x.r.path] == x {
			delete(x.s.followers, x.r.path)
		}
		x.s.live.Unlock()
	}
}

// errOtherModel says that the model that was inferred does not fit what has come since.
var errOtherModel = errors.New("later operations need another model")

func (x *follower) follow(ctx context.Context, f *facts) error {
	name, _ := f.followed()
	source, found := x.s.source(x.r, f)
	if name == "" || !found {
		return errNoHistory
	}
	ctx, release := x.s.Checker.Room(ctx)
	defer release()
	for {
		j := x.s.Job(source, nil)
		inferred := j.Spec.Name == ""
		if inferred {
			if err := x.infer(ctx, j, name); err != nil || ctx.Err() != nil {
				return err
			}
		}
		err := x.check(ctx, j, name, inferred)
		if !errors.Is(err, errOtherModel) {
			return err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return nil
		}
	}
}

// infer finds the model of what has come by now.
func (x *follower) infer(ctx context.Context, j *batch.Job, name string) error {
	in, err := store.OpenRegular(x.s.root, path.Join(x.r.path, name))
	if err != nil {
		return err
	}
	defer in.Close()
	events, since := 0, time.Now()
	_, err = forms.Follow(ctx, in, x.named(name), x.pairing(j), forms.Following{Idle: liveFor, Look: func(h *jepsen.History) bool {
		spec, _, unclear := j.Spec.Infer(h)
		if came := len(h.Type) > events; h.Operations() == 0 || unclear != nil || came && time.Since(since) < inferring {
			events = len(h.Type)
			return true
		}
		j.Spec = spec
		return false
	}})
	if err == nil && j.Spec.Name == "" && ctx.Err() == nil {
		return errors.New("the model cannot be inferred; give it when clew serve starts")
	}
	return err
}

// named returns what messages call a file of the run.
func (x *follower) named(name string) string { return path.Join(x.s.root.Name(), x.r.path, name) }

// pairing says how the events of a job are paired.
func (x *follower) pairing(j *batch.Job) jepsen.Options {
	o := j.Pairing()
	o.Memory = x.s.Checker.Memory
	return o
}

// check follows the history with a model. If that was inferred, it may turn out not to fit.
func (x *follower) check(ctx context.Context, j *batch.Job, name string, inferred bool) error {
	in, err := store.OpenRegular(x.s.root, path.Join(x.r.path, name))
	if err != nil {
		return err
	}
	defer in.Close()
	own, end := context.WithCancel(ctx)
	defer end()
	misfit := false
	r, err := x.s.Follow(own, in, x.named(name), j, x.pairing(j), liveFor, func(r *report.Result) {
		if misfit = inferred && r.Cause == jepsen.Unreadable; misfit {
			end()
			return
		}
		x.looked(ctx, r, false)
	})
	switch {
	case misfit:
		return errOtherModel
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	x.looked(ctx, r, true)
	return nil
}

// looked notes what is known of the run by now, and makes its page. A failure is certain only at the end.
func (x *follower) looked(ctx context.Context, r *report.Result, certain bool) {
	state := newChecked(r, stamp{})
	switch {
	case certain:
	case r.Verdict == jepsen.Valid:
		state.word = "valid so far"
	case r.Verdict == jepsen.Invalid:
		state.class, state.word = "unknown", "fails so far"
		state.sentence = "operations that return later may still explain this: " + state.sentence
	}
	x.mu.Lock()
	token := fmt.Sprint(x.looks + 1) // only this goroutine counts
	x.mu.Unlock()
	html, err := x.s.written(ctx, r, x.served(token))
	if err != nil {
		html = nil // page says what is known
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.state, x.html = *state, html
	x.looks++
}

// served says what the page has besides the result. It asks for another one once there is one.
func (x *follower) served(token string) page.Served {
	links := x.s.links(x.r)
	return page.Served{Links: links, Poll: page.Poll{Address: address("state", x.r.path), Token: token, Reload: true}}
}

// page returns the page of the last look. If there is none yet, it says what is known.
func (x *follower) page(ctx context.Context) ([]byte, error) {
	x.mu.Lock()
	html, state, token := x.html, x.state, fmt.Sprint(x.looks)
	x.mu.Unlock()
	if html != nil {
		return html, nil
	}
	word := state.word
	if state.word == "running" {
		word = "the run has begun, and its page will appear here once there are operations"
	}
	r := &report.Result{File: path.Join(x.s.root.Name(), x.r.path), Cause: jepsen.Cause(word), Error: state.sentence}
	return x.s.written(ctx, r, x.served(token))
}

// known returns what is known of the run, and a token that changes with it.
func (x *follower) known() (checked, string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state, fmt.Sprint(x.looks)
}
