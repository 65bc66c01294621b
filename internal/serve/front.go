package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"clew/internal/page"
	"clew/internal/text"
	"clew/jepsen"
)

// rowsPerPage is how many runs a page lists. A page looks into their folders for lookPatience; if that is not enough, it
// asks again for the others.
const (
	rowsPerPage  = 50
	lookPatience = 60 * time.Millisecond
)

// question is what a list is asked for.
type question struct {
	words, verdict string
	from, to       string // days as the browser sends them: 2026-11-25
	failuresFirst  bool
	number         int // of the page, from 1
}

// verdicts are what a list can be filtered by.
var verdicts = []page.Choice{
	{Value: "", Name: "any"},
	{Value: "invalid", Name: "invalid"},
	{Value: "unknown", Name: "unknown"},
	{Value: "valid", Name: "valid"},
	{Value: "unchecked", Name: "not checked yet"},
	{Value: "live", Name: "running"},
}

func newQuestion(v url.Values) question {
	q := question{words: v.Get("q"), from: v.Get("from"), to: v.Get("to"), failuresFirst: v.Get("failures") == "first"}
	if slices.ContainsFunc(verdicts, func(c page.Choice) bool { return c.Value == v.Get("verdict") }) {
		q.verdict = v.Get("verdict")
	}
	q.number, _ = strconv.Atoi(v.Get("page"))
	q.number = max(1, q.number)
	return q
}

// address returns the address of a page of the list, or of its state.
func (q question) address(path string, number int) string {
	v := url.Values{}
	for name, value := range map[string]string{"q": q.words, "verdict": q.verdict, "from": q.from, "to": q.to} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.failuresFirst {
		v.Set("failures", "first")
	}
	if number > 1 {
		v.Set("page", strconv.Itoa(number))
	}
	return (&url.URL{Path: path, RawQuery: v.Encode()}).String()
}

// looksInside reports whether the answer depends on what is in the folders of all runs.
func (q question) looksInside() bool { return q.verdict != "" || q.failuresFirst }

func (q question) filter() *page.Filter {
	f := &page.Filter{Words: q.words, From: q.from, To: q.to, FailuresFirst: q.failuresFirst, Verdicts: slices.Clone(verdicts)}
	for i := range f.Verdicts {
		f.Verdicts[i].Chosen = f.Verdicts[i].Value == q.verdict
	}
	f.Any = q.words+q.from+q.to+q.verdict != "" || q.failuresFirst
	return f
}

// chosen is a part of the list.
type chosen struct {
	rows          []page.Row
	of, number    int // runs that fit, and which page of them this is
	pages         int
	summary, note string
	token         string
	done          bool
}

// choose returns the runs that are asked for.
func (s *Server) choose(r *http.Request, q question) chosen {
	l := s.index.list(r.Context())
	fit := l.runs
	c := chosen{summary: text.Count(len(l.runs), "run"), done: true}
	if q.looksInside() && !l.partial && !s.scanned(l) {
		c.done = false
		c.note = fmt.Sprintf("%d of %d runs have been looked at so far; this list is not whole yet", min(s.scan.looked.Load(), int64(len(l.runs))), len(l.runs))
	}
	now := time.Now()
	if words := strings.Fields(strings.ToLower(q.words)); len(words) > 0 || q.from != "" || q.to != "" || q.verdict != "" {
		from, to := strings.ReplaceAll(q.from, "-", ""), strings.ReplaceAll(q.to, "-", "")
		fit = nil
		for _, run := range l.runs {
			if run.fits(words) && (from == "" || run.day >= from) && (to == "" || run.day <= to) && (q.verdict == "" || s.has(run, q.verdict, now)) {
				fit = append(fit, run)
			}
		}
	}
	if q.failuresFirst {
		rank := make(map[*run]int, len(fit))
		for _, run := range fit {
			if !s.has(run, "invalid", now) {
				rank[run] = 1
			}
		}
		fit = slices.Clone(fit)
		slices.SortStableFunc(fit, func(a, b *run) int { return cmp.Compare(rank[a], rank[b]) })
	}
	c.of, c.pages = len(fit), max(1, (len(fit)+rowsPerPage-1)/rowsPerPage)
	c.number = min(q.number, c.pages)
	for _, run := range fit[(c.number-1)*rowsPerPage : min(c.number*rowsPerPage, len(fit))] {
		f := run.facts.Load()
		if late := time.Since(now) > lookPatience; !late {
			f = s.look(r.Context(), run)
		} else if f == nil {
			f, c.done = &facts{unknown: true}, false
		}
		row, live := s.row(run, f, now)
		c.rows, c.done = append(c.rows, row), c.done && !live
	}
	if len(fit) < len(l.runs) {
		c.summary = fmt.Sprintf("%d of %s", len(fit), c.summary)
	}
	if c.note == "" {
		c.note = l.note
	}
	switch {
	case l.partial:
		c.note, c.done = "the store is still being listed; load the page again to see more", false
	case len(l.runs) == 0:
		c.note = "there are no runs: expected folders TEST/TIME below " + s.root.Name()
	case len(fit) == 0 && c.note == "":
		c.note = "no run fits"
	}
	c.token = fmt.Sprint(l.version)
	return c
}

func (r *run) fits(words []string) bool {
	for _, w := range words {
		if !strings.Contains(r.words, w) {
			return false
		}
	}
	return true
}

// has reports whether a run has a verdict by clew or by its results, as far as that is known.
func (s *Server) has(r *run, verdict string, now time.Time) bool {
	f := r.facts.Load()
	if f == nil || f.gone {
		return false
	}
	if f.live(now) {
		s.live.Lock()
		x := s.followers[r.path]
		s.live.Unlock()
		if x == nil {
			return verdict == "live"
		}
		state, _ := x.known()
		return verdict == "live" || verdict == state.class
	}
	c := r.current(f)
	switch {
	case verdict == "unchecked":
		return c == nil
	case c != nil && c.class == verdict:
		return true
	}
	class, _ := page.VerdictOf(f.outcome.Verdict)
	return f.results && f.wrong == "" && class == verdict
}

// current returns what clew says of a run as it is now: its own check, or that of its plugin. It is nil if neither
// checked the run.
func (r *run) current(f *facts) *checked {
	if c := r.checked.Load(); c != nil && c.read == f.read() {
		return c
	}
	if len(f.outcome.Clew) == 0 {
		return nil
	}
	worst := jepsen.Valid
	for _, v := range f.outcome.Clew {
		if v == jepsen.Invalid || v == jepsen.Unknown && worst == jepsen.Valid {
			worst = v
		}
	}
	c := &checked{sentence: "according to results.edn"}
	c.class, c.word = page.VerdictOf(worst)
	return c
}

// columns are those of the list.
var columns = []string{"test", "clew", "time", "Jepsen", "operations", "why"}

// row returns the line of a run, and whether it may change soon.
func (s *Server) row(r *run, f *facts, now time.Time) (row page.Row, live bool) {
	row = page.Row{ID: address("run", r.path), Name: r.test, Word: "not checked yet"}
	if addressable(r.path) {
		row.Link = row.ID
	}
	claimed, count := "", int64(0)
	if f.results {
		if _, claimed = page.VerdictOf(f.outcome.Verdict); f.wrong != "" {
			claimed = "unreadable"
		}
		count = f.outcome.Count
	}
	c := r.current(f)
	if live = f.live(now); live {
		c = &checked{class: "live", word: "running"}
		if x := s.followed(r, f, false); x != nil {
			state, _ := x.known()
			c = &state
		}
	}
	switch {
	case f.unknown:
		row.Word = "…"
	case f.gone:
		row.Word, row.Link = "not a folder", ""
	case c != nil:
		row.Verdict, row.Word, row.Sentence = c.class, c.word, c.sentence
		if c.operations > 0 {
			count = int64(c.operations)
		}
	case !f.results && len(f.files) == 0 || f.results && len(f.files) == 1:
		row.Word = "no history"
	}
	operations := ""
	if count > 0 {
		operations = strconv.FormatInt(count, 10)
	}
	row.Cells = []string{r.time, claimed, operations}
	return row.Short(), live
}

// addressable reports whether the path of a run can be asked for.
func addressable(path string) bool {
	u, err := url.Parse(address("run", path))
	if err != nil {
		return false
	}
	_, ok := segments(u)
	return ok
}

// front answers with a list of runs.
func (s *Server) front(w http.ResponseWriter, r *http.Request) {
	q := newQuestion(r.URL.Query())
	c := s.choose(r, q)
	l := page.List{
		Title: s.root.Name(), Summary: c.summary, Note: c.note, Filter: q.filter(), Columns: columns, Rows: c.rows,
		Place: fmt.Sprintf("page %d of %d", c.number, c.pages),
	}
	l.Poll = page.Poll{Address: q.address("/state", c.number), Token: c.token}
	if c.number > 1 {
		l.Before = q.address("/", c.number-1)
	}
	if c.number < c.pages {
		l.After = q.address("/", c.number+1)
	}
	s.list(w, l)
}

// list answers with a page that lists something.
func (s *Server) list(w http.ResponseWriter, l page.List) {
	var b bytes.Buffer
	if err := page.WriteList(&b, l); err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	s.html(w, b.Bytes())
}

// frontState answers with what has changed in a list.
func (s *Server) frontState(w http.ResponseWriter, r *http.Request) {
	c := s.choose(r, newQuestion(r.URL.Query()))
	s.state(w, page.State{Rows: c.rows, Note: c.note, Token: c.token, Done: c.done})
}

// runState answers with what has changed about a run that grows, or has grown when its page was made.
func (s *Server) runState(w http.ResponseWriter, r *http.Request, run *run) {
	f := s.look(r.Context(), run)
	row, live := s.row(run, f, time.Now())
	state := page.State{Rows: []page.Row{row}, Token: "ended", Done: !live}
	if x := s.followed(run, f, true); x != nil {
		_, state.Token = x.known()
	}
	s.state(w, state)
}

func (s *Server) state(w http.ResponseWriter, state page.State) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(state)
}
