package store

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/limits"
	"clew/internal/prints"
	"clew/internal/testfile"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// maxClaimDepth bounds how deep the search for claims in a results.edn goes.
// Checkers nest only a few levels deep.
const maxClaimDepth = 20

// ReadClaims finds the results of linearizability checkers in a results.edn, at any
// depth and under any name, including those under the keys of jepsen.independent.
// It returns them in the order of the text.
func ReadClaims(in io.Reader, name string, v *edn.Values) ([]jepsen.Claim, error) {
	c, err := readClaims(in, name, v)
	return c.found, err
}

func readClaims(in io.Reader, name string, v *edn.Values) (c claims, err error) {
	if in == nil || v == nil {
		return c, fmt.Errorf("%s: expected a reader and a table of values, found nil", name)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	id, err := v.ParseLenient(text)
	if err != nil {
		var e *edn.Error
		if errors.As(err, &e) {
			e.Pos.File = name
		}
		return c, err
	}
	if v.Kind(id) != edn.KindMap {
		return c, edn.Pos{File: name, Line: 1, Col: 1}.Errorf("expected a map of results, found something else")
	}
	return claimsIn(id, v), nil
}

// ClaimsAbout returns the claims about the history at a path in the first of these that has some: the history itself,
// if it is a test.jepsen, and the results.edn and the test.jepsen beside it. It opens regular files only: opening a pipe
// would wait for a writer.
func ClaimsAbout(ctx context.Context, history string, memory int64, v *edn.Values) ([]jepsen.Claim, error) {
	dir := filepath.Dir(history)
	for i, path := range []string{history, filepath.Join(dir, resultsFile), filepath.Join(dir, "test.jepsen")} {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		var c claims
		if i == 1 {
			c, err = readClaims(limits.Whole(ctx, f, memory), path, v)
		} else {
			c, err = readTestClaims(ctx, f, path, memory, v)
		}
		if f.Close(); err != nil || len(c.found) > 0 {
			return c.found, err
		}
	}
	return nil, nil
}

// ReadTestClaims does the same as ReadClaims for the results in a test.jepsen. It
// returns no claims if the file is not a test.jepsen, or does not have results yet.
func ReadTestClaims(ctx context.Context, f *os.File, name string, memory int64, v *edn.Values) ([]jepsen.Claim, error) {
	c, err := readTestClaims(ctx, f, name, memory, v)
	return c.found, err
}

func readTestClaims(ctx context.Context, f *os.File, name string, memory int64, v *edn.Values) (c claims, err error) {
	var head [testfile.Head]byte
	info, err := f.Stat()
	if n, _ := f.ReadAt(head[:], 0); err != nil || !testfile.Is(head[:n]) {
		return c, nil
	}
	test, err := testfile.Open(ctx, f, info.Size(), name, memory)
	if err != nil {
		return c, err
	}
	results, ok, err := test.Results(v)
	if !ok || err != nil {
		return c, err
	}
	return claimsIn(results, v), nil
}

func claimsIn(results edn.ID, v *edn.Values) claims {
	c := claims{v: v, valid: v.InternKeyword("valid?"), results: v.InternKeyword("results"), failures: v.InternKeyword("failures")}
	c.find(results, jepsen.Claim{}, 0)
	c.name(results, false, false, 0)
	c.count(results)
	return c
}

// maxNamed bounds the events that results name and that are looked for in the history.
const maxNamed = 64

// name gathers the events that results name: every map with a process, a type and an :f. Those of Knossos are as they are in
// the history, but for the keys of their values.
func (c *claims) name(id edn.ID, ofKey, must bool, depth int) {
	v := c.v
	if depth > maxClaimDepth || len(c.named) == maxNamed {
		return
	}
	if v.Kind(id) != edn.KindMap {
		for _, item := range v.Items(id) {
			c.name(item, ofKey, must, depth+1)
		}
		return
	}
	if n, ok := c.event(id, false); ok {
		if n.OfKey, n.Must = ofKey, must; !slices.Contains(c.named, n) {
			c.named = append(c.named, n)
		}
		return
	}
	if c.isClaim(id) {
		must = true
		op, _ := c.get(id, "op")
		if valid, _ := v.Get(id, c.valid); valid == edn.False {
			if n, ok := c.event(c.fields(op), true); ok {
				n.OfKey, n.Must = ofKey, true
				c.named = append(c.named, n)
			}
		}
	}
	perKey, _ := v.Get(id, c.results)
	_, keyed := v.Get(id, c.failures)
	for kvs := v.Items(id); len(kvs) > 0; kvs = kvs[2:] {
		c.name(kvs[1], ofKey || keyed && kvs[1] == perKey, must, depth+1)
	}
}

// event returns what a map says of an event of a client. one says that it is one, even if it does not say all of it.
func (c *claims) event(m edn.ID, one bool) (n Named, ok bool) {
	v := c.v
	if v.Kind(m) != edn.KindMap {
		return n, false
	}
	process, hasProcess := c.get(m, "process")
	f, hasF := c.get(m, "f")
	_, hasType := c.get(m, "type")
	if !one && (!hasProcess || !hasF || !hasType || v.Kind(process) != edn.KindInt) {
		return n, false
	}
	n.Text = text.Shorten(v.Text(m), maxNamedText)
	if hasProcess {
		n.Process = v.Text(process)
	}
	if hasF {
		n.F = v.Text(f)
	}
	if value, has := c.get(m, "value"); has {
		n.Value = v.Text(value)
	}
	index, _ := c.get(m, "index")
	n.Index, n.HasIndex = v.Int(index)
	at, _ := c.get(m, "time")
	n.Time, n.HasTime = v.Int(at)
	return n, true
}

// maxNamedText bounds the characters that a message shows of an event.
const maxNamedText = 160

// count takes how many operations returned from the statistics of a test, under any name, if they add up.
func (c *claims) count(results edn.ID) {
	v := c.v
	number := func(m edn.ID, key string) (int64, bool) {
		n, _ := c.get(m, key)
		return v.Int(n)
	}
	whole := func(m edn.ID) (int64, bool) {
		all, has := number(m, "count")
		sum := int64(0)
		for _, key := range []string{"ok-count", "fail-count", "info-count"} {
			n, ok := number(m, key)
			has, sum = has && ok, sum+n
		}
		return all, has && all == sum
	}
	for kvs := v.Items(results); v.Kind(results) == edn.KindMap && len(kvs) > 0; kvs = kvs[2:] {
		stats := kvs[1]
		byF, has := c.get(stats, "by-f")
		all, ok := whole(stats)
		if !ok || !has || v.Kind(byF) != edn.KindMap {
			continue
		}
		c.counts = map[string]int64{"": all}
		for kvs := v.Items(byF); len(kvs) > 0; kvs = kvs[2:] {
			if n, ok := whole(kvs[1]); ok {
				c.counts[v.Text(kvs[0])] = n
			}
		}
		return
	}
}

// claims collects the claims in a map of results.
type claims struct {
	v                        *edn.Values
	valid, results, failures edn.ID
	found                    []jepsen.Claim
	field                    string // of the record in which Knossos's results show the initial value, or ""
	keyed                    bool   // there are results by key, as of jepsen.independent, whatever checked each key
	named                    []Named
	counts                   map[string]int64
}

func (c *claims) get(m edn.ID, key string) (edn.ID, bool) {
	return c.v.Get(m, c.v.InternKeyword(key))
}

// find looks for claims in a map of results. The map belongs to the checker that at names.
func (c *claims) find(m edn.ID, at jepsen.Claim, depth int) {
	v := c.v
	if v.Kind(m) == edn.KindTagged {
		m = v.Items(m)[0] // a record of results
	}
	if v.Kind(m) != edn.KindMap || depth > maxClaimDepth {
		return
	}
	if c.isClaim(m) {
		c.found = append(c.found, c.claim(m, at))
		return
	}
	if c.isElle(m, at.Checker) {
		c.found = append(c.found, c.elle(m, at))
		return
	}
	perKey, hasResults := v.Get(m, c.results)
	_, hasFailures := v.Get(m, c.failures)
	if hasResults && hasFailures && v.Kind(perKey) == edn.KindMap && !at.IsKey {
		c.pluginFlags(m, &at)
		c.keyed = true
		for kvs := v.Items(perKey); len(kvs) > 0; kvs = kvs[2:] {
			key := at
			key.Key, key.IsKey = v.Value(kvs[0]), true
			c.find(kvs[1], key, depth+1)
		}
		return
	}
	for kvs := v.Items(m); len(kvs) > 0; kvs = kvs[2:] {
		below := at
		below.Checker = strings.TrimSpace(at.Checker + " " + v.Text(kvs[0]))
		c.find(kvs[1], below, depth+1)
	}
}

// isClaim says whether a map is the answer of a linearizability checker. It must have a
// verdict, and configurations, final paths, or the name of one of Knossos's analyzers.
func (c *claims) isClaim(m edn.ID) bool {
	if _, ok := c.v.Get(m, c.valid); !ok {
		return false
	}
	for _, key := range []string{"configs", "final-paths"} {
		if _, ok := c.get(m, key); ok {
			return true
		}
	}
	if analyzer, ok := c.get(m, "analyzer"); ok {
		switch c.v.Text(analyzer) {
		case ":linear", ":wgl", ":competition":
			return true
		}
	}
	return c.gaveUp(m)
}

// isElle says whether a map is an answer of Elle: it has types of anomalies, or is nothing but a verdict of a checker that is
// called as Elle's are.
func (c *claims) isElle(m edn.ID, checker string) bool {
	if _, ok := c.v.Get(m, c.valid); !ok {
		return false
	}
	if _, ok := c.get(m, "anomaly-types"); ok {
		return true
	}
	name := checker[strings.LastIndexByte(checker, ' ')+1:]
	return len(c.v.Items(m)) == 2 && (name == ":elle" || name == ":workload")
}

// emptyGraph is what Elle finds if no transaction is related to another one, which says nothing about the history.
const emptyGraph = "empty-transaction-graph"

// elle reads an answer of Elle.
func (c *claims) elle(m edn.ID, at jepsen.Claim) jepsen.Claim {
	switch valid, _ := c.v.Get(m, c.valid); valid {
	case edn.True:
		at.Verdict = jepsen.Valid
	case edn.False:
		at.Verdict = jepsen.Invalid
	}
	at.Elle, at.By = true, "Elle"
	types, _ := c.get(m, "anomaly-types")
	for _, kind := range c.v.Items(types) {
		at.Anomalies = append(at.Anomalies, strings.TrimPrefix(c.v.Text(kind), ":"))
	}
	if len(at.Anomalies) == 1 && at.Anomalies[0] == emptyGraph {
		at.Lost = "Elle had nothing to judge: its graph of transactions is empty"
	}
	return at
}

// gaveUp says whether a map is what is left of the answer of Knossos's competition after a limit.
func (c *claims) gaveUp(m edn.ID) bool {
	valid, _ := c.v.Get(m, c.valid)
	cause, _ := c.get(m, "cause")
	switch c.v.Text(cause) {
	case ":timeout", ":out-of-memory":
		return c.v.Text(valid) == ":unknown"
	}
	return false
}

func (c *claims) claim(m edn.ID, at jepsen.Claim) jepsen.Claim {
	v := c.v
	switch valid, _ := v.Get(m, c.valid); valid {
	case edn.True:
		at.Verdict = jepsen.Valid
	case edn.False:
		at.Verdict = jepsen.Invalid
	}
	if op, ok := c.get(m, "op"); ok && at.Verdict == jepsen.Invalid {
		if v.Kind(op) == edn.KindTagged {
			op = v.Items(op)[0] // #jepsen.history.Op{..}
		}
		at.OpText = v.Text(op)
		if v.Kind(op) == edn.KindMap {
			index, _ := c.get(op, "index")
			at.OpIndex, at.HasOp = v.Int(index)
			if p, ok := c.get(op, "process"); ok {
				at.OpProcess = v.Value(p)
			}
			if f, ok := c.get(op, "f"); ok {
				at.OpF = v.Value(f)
			}
		}
	}
	if analyzer, ok := c.get(m, "analyzer"); ok && analyzer != edn.Nil {
		at.Analyzer = strings.TrimPrefix(v.Text(analyzer), ":")
	}
	c.pluginFlags(m, &at)
	field := ""
	if _, supposed := c.get(m, "told-by"); at.Flags == nil && !supposed {
		at.Init, field = c.initial(m)
	}
	if at.Flags == nil {
		at.Model = c.model(m, 0)
	}
	if at.NoOp = at.Verdict == jepsen.Valid && c.noOp(m); !at.NoOp {
		c.field = cmp.Or(field, c.field)
	}
	at.By = "Knossos's competition"
	if at.Analyzer != "" {
		at.By = "Knossos's " + at.Analyzer
	}
	if at.Flags != nil || strings.HasPrefix(at.Analyzer, "clew/") {
		at.By = "clew's plugin"
	}
	return at
}

// pluginFlags takes what clew's plugin says about its own check, in a result or in that of all keys.
func (c *claims) pluginFlags(m edn.ID, at *jepsen.Claim) {
	said, _ := c.get(m, "clew")
	if c.v.Kind(said) != edn.KindMap {
		return
	}
	at.Flags = map[string]string{}
	for kvs := c.v.Items(said); len(kvs) > 0; kvs = kvs[2:] {
		value := strings.TrimPrefix(c.v.Text(kvs[1]), ":")
		if c.v.Kind(kvs[1]) == edn.KindString {
			value = c.v.Str(kvs[1])
		}
		switch flag := strings.TrimPrefix(c.v.Text(kvs[0]), ":"); flag {
		case "version":
		case flagModel:
			at.Model = value
		case flagInit:
			at.Init = c.v.Text(kvs[1])
		default:
			at.Flags[flag] = value
		}
	}
}

// initial returns the initial value, or "" if it is not certain. Every configuration
// in which no operation has been linearized has it in a field of its record.
func (c *claims) initial(m edn.ID) (init, field string) {
	v := c.v
	configs, _ := c.get(m, "configs")
	for _, config := range v.Items(configs) {
		last, ok := c.get(config, "last-op")
		state, found := c.get(config, "model")
		if !ok || !found || last != edn.Nil {
			continue
		}
		if state = c.fields(state); v.Kind(state) != edn.KindMap {
			continue
		}
		for _, in := range []string{"value", "s", "pending"} {
			value, ok := c.get(state, in)
			switch {
			case !ok || len(v.Items(state)) != 2:
			case field != "" && (in != field || v.Text(value) != init):
				return "", "" // they differ
			default:
				init, field = v.Text(value), in
			}
		}
	}
	return init, field
}

func (c *claims) fields(record edn.ID) edn.ID {
	if c.v.Kind(record) == edn.KindTagged {
		return c.v.Items(record)[0]
	}
	if value, ok := c.get(record, "value"); ok {
		if _, tagged := c.get(record, "tag"); tagged {
			return value
		}
	}
	return record
}

// noOp says whether every state of a result is one of Knossos's no-op model, which has no fields.
func (c *claims) noOp(m edn.ID) bool {
	var states []edn.ID
	if state, ok := c.get(m, "model"); ok {
		states = append(states, state)
	}
	configs, _ := c.get(m, "configs")
	for _, config := range c.v.Items(configs) {
		if state, ok := c.get(config, "model"); ok {
			states = append(states, state)
		}
	}
	for _, state := range states {
		if text := c.v.Text(state); strings.Contains(text, "NoOp") {
			continue
		}
		if c.v.Kind(state) != edn.KindMap || len(c.v.Items(state)) > 0 {
			return false
		}
	}
	return len(states) > 0
}

// model returns the model of the first record in a form that stands for one, or "".
func (c *claims) model(id edn.ID, depth int) string {
	v := c.v
	if v.Kind(id) == edn.KindTagged {
		if tag, ok := strings.CutPrefix(v.Text(id), "#"); ok {
			tag, _, _ = strings.Cut(tag, "{")
			name := tag[strings.LastIndexByte(tag, '.')+1:]
			if model, known := models.OfRecord(strings.TrimSpace(name)); known {
				return model
			}
		}
	}
	if depth > maxClaimDepth {
		return ""
	}
	if tag, ok := c.get(id, "tag"); ok && v.Kind(id) == edn.KindMap {
		name := v.Text(tag)
		if model, known := models.OfRecord(name[strings.LastIndexByte(name, '.')+1:]); known {
			return model
		}
	}
	for _, item := range v.Items(id) {
		if model := c.model(item, depth+1); model != "" {
			return model
		}
	}
	return ""
}

// printedVerdicts are the words of Knossos's command line.
var printedVerdicts = map[string]jepsen.Verdict{"true": jepsen.Valid, "false": jepsen.Invalid, ":unknown": jepsen.Unknown, "unknown": jepsen.Unknown}

// ClaimOf returns what Knossos's command line printed about a file. It checks from the models' default state.
func ClaimOf(p prints.Print, v *edn.Values) jepsen.Claim {
	claim := jepsen.Claim{Checker: "knossos.cli", FromDefault: true}
	if p.Result == nil {
		claim.Verdict, claim.Lost = printedVerdicts[p.Verdict], p.Lost
		return claim
	}
	id, err := v.ParseLenient(p.Result)
	c := claims{v: v, valid: v.InternKeyword("valid?")}
	valid, has := v.Get(id, c.valid)
	switch {
	case p.Verdict == "" && (err != nil || !has):
		claim.Lost = p.Lost
	case err != nil:
		_, err = v.ParseLenient(placed(p))
		claim.Verdict, claim.Note = printedVerdicts[p.Verdict], fmt.Sprintf("only the last line of Knossos's result can be read: %s", err)
	case !has:
		claim.Verdict, claim.Note = printedVerdicts[p.Verdict], "Knossos's result has no :valid?"
	default:
		claim = c.claim(id, claim)
		switch said := v.Text(valid); {
		case p.Verdict == "":
			claim.Note = "the line after Knossos's result, its verdict, is missing"
		case claim.Verdict != printedVerdicts[p.Verdict]:
			claim.Lost = fmt.Sprintf("Knossos's result has :valid? %s, but the line after it is %s", said, p.Verdict)
		}
	}
	return claim
}

// placed returns the result where it stands in the print, for the places in errors.
func placed(p prints.Print) []byte {
	before := strings.Repeat("\n", p.Line-1) + strings.Repeat(" ", p.Column)
	return append([]byte(before), p.Result...)
}

// TableRow is a claim in a table of verdicts, with the file that it is about.
type TableRow struct {
	File string
	jepsen.Claim
}

// ReadTable reads a table of verdicts with columns that are separated by tabs. The columns are
// file and verdict, in this order. If the first line names the columns, they may be in any order.
// Then the table may also have the columns model (with ":INIT" for an initial value), algo, ms
// and fail_index. A verdict is true, valid or ok; false, invalid or illegal; or unknown.
func ReadTable(in io.Reader, name string) ([]TableRow, error) {
	columns := map[string]int{"file": 0, "verdict": 1}
	var rows []TableRow
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimRight(lines.Text(), "\r")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if named := index(fields); n == 1 && named != nil {
			columns = named
			continue
		}
		at := edn.Pos{File: name, Line: n, Col: 1}
		field := func(column string) string {
			if i, ok := columns[column]; ok && i < len(fields) {
				return fields[i]
			}
			return ""
		}
		row := TableRow{File: field("file")}
		row.Checker = field("algo")
		row.Model, row.Init, _ = strings.Cut(field("model"), ":")
		switch strings.ToLower(field("verdict")) {
		case "true", "valid", "ok":
			row.Verdict = jepsen.Valid
		case "false", "invalid", "illegal":
			row.Verdict = jepsen.Invalid
		case "unknown", ":unknown":
		default:
			return nil, at.Errorf("expected a verdict (true, false or unknown), found %q", field("verdict"))
		}
		var err error
		if ms := field("ms"); ms != "" {
			if row.Ms, err = strconv.ParseFloat(ms, 64); err != nil || math.IsInf(row.Ms, 0) || math.IsNaN(row.Ms) {
				return nil, at.Errorf("expected milliseconds, found %q", ms)
			}
		}
		if fail := field("fail_index"); fail != "" {
			if row.OpIndex, err = strconv.ParseInt(fail, 10, 64); err != nil {
				return nil, at.Errorf("expected the index of the failing operation, found %q", fail)
			}
			row.HasOp = true
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) == 0 {
		return nil, edn.Pos{File: name, Line: 1, Col: 1}.Errorf("expected a table of verdicts, found none")
	}
	return rows, nil
}

// index returns the columns of a table by name, or nil if a line does not name them.
func index(fields []string) map[string]int {
	if !slices.Contains(fields, "file") || !slices.Contains(fields, "verdict") {
		return nil
	}
	at := map[string]int{}
	for i, f := range fields {
		at[f] = i
	}
	return at
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
