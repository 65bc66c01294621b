package jepsen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"clew/edn"
)

// Claim is what somebody else says of the linearizability of a history, or of
// one of its keys.
type Claim struct {
	// Checker says where it stands: ":linear", ":workload :linear", or the
	// algorithm of a table's row.
	Checker string
	// Key is the independent key that it is about, where IsKey.
	Key   edn.ID
	IsKey bool

	Verdict  Verdict
	Op       int64 // the :index of the failing operation, where HasOp
	HasOp    bool
	OpText   string // the failing operation, as EDN
	Model    string // the model's name, as far as the claim shows it, else ""
	Init     string // its initial value, as far as the claim shows it, else ""
	Analyzer string
	Ms       float64 // 0 where it is not known
}

// maxClaimDepth bounds how deep in a results.edn a claim is looked for: checkers
// nest a few levels.
const maxClaimDepth = 20

// ReadClaims finds the results of linearizability checkers in a results.edn,
// whatever they are called and however deep they stand, keys of
// jepsen.independent included. They are in the order of the text.
func ReadClaims(in io.Reader, name string, v *edn.Values) ([]Claim, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	id, err := v.ParseLenient(text)
	if err != nil {
		var e *edn.Error
		if errors.As(err, &e) {
			e.Pos.File = name
		}
		return nil, err
	}
	if v.Kind(id) != edn.KindMap {
		return nil, &Error{name, 1, 1, "expected a map of results, found something else"}
	}
	c := claims{v: v, valid: v.InternKeyword("valid?"), results: v.InternKeyword("results"), failures: v.InternKeyword("failures")}
	c.find(id, Claim{}, 0)
	return c.found, nil
}

// claims collects the claims in a map of results.
type claims struct {
	v                        *edn.Values
	valid, results, failures edn.ID
	found                    []Claim
}

func (c *claims) get(m edn.ID, key string) (edn.ID, bool) {
	return c.v.Get(m, c.v.InternKeyword(key))
}

// find looks for claims in a map of results, which is the checker's that at
// names.
func (c *claims) find(m edn.ID, at Claim, depth int) {
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
	perKey, hasResults := v.Get(m, c.results)
	_, hasFailures := v.Get(m, c.failures)
	if hasResults && hasFailures && v.Kind(perKey) == edn.KindMap && !at.IsKey {
		for kvs := v.Items(perKey); len(kvs) > 0; kvs = kvs[2:] {
			key := at
			key.Key, key.IsKey = kvs[0], true
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

// isClaim says whether a map is what a linearizability checker answers: it has a
// verdict, and configurations, final paths or a cause.
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
	return false
}

func (c *claims) claim(m edn.ID, at Claim) Claim {
	v := c.v
	switch valid, _ := v.Get(m, c.valid); valid {
	case edn.True:
		at.Verdict = Valid
	case edn.False:
		at.Verdict = Invalid
	}
	if op, ok := c.get(m, "op"); ok && at.Verdict == Invalid {
		if v.Kind(op) == edn.KindTagged {
			op = v.Items(op)[0] // #jepsen.history.Op{..}
		}
		at.OpText = v.Text(op)
		if v.Kind(op) == edn.KindMap {
			index, _ := c.get(op, "index")
			at.Op, at.HasOp = v.Int(index)
		}
	}
	if analyzer, ok := c.get(m, "analyzer"); ok && analyzer != edn.Nil {
		at.Analyzer = strings.TrimPrefix(v.Text(analyzer), ":")
	}
	at.Model = c.model(m, 0)
	return at
}

// knossosModels are our names of models by the names of records.
var knossosModels = map[string]string{
	"Register": "register", "CASRegister": "cas-register", "MultiRegister": "multi-register",
	"Mutex": "mutex", "FIFOQueue": "fifo-queue", "UnorderedQueue": "unordered-queue", "Set": "set",
	"VersionedRegister": "versioned-register", "Stack": "stack", "KV": "kv", "LookupSet": "lookup-set",
	"PriorityQueue": "priority-queue", "Semaphore": "semaphore",
}

// model is the model of the first record of one in a form.
func (c *claims) model(id edn.ID, depth int) string {
	v := c.v
	if v.Kind(id) == edn.KindTagged {
		if tag, ok := strings.CutPrefix(v.Text(id), "#"); ok {
			tag, _, _ = strings.Cut(tag, "{")
			name := tag[strings.LastIndexByte(tag, '.')+1:]
			if model := knossosModels[strings.TrimSpace(name)]; model != "" {
				return model
			}
		}
	}
	if depth > maxClaimDepth {
		return ""
	}
	for _, item := range v.Items(id) {
		if model := c.model(item, depth+1); model != "" {
			return model
		}
	}
	return ""
}

// TableRow is a claim of a table of verdicts, and the file that it is about.
type TableRow struct {
	File string
	Claim
}

// ReadTable reads a table of verdicts, its columns parted by tabs: file and
// verdict, in this order; or, where the first line names them, file and verdict
// in any order, and as far as there are any, model (with ":INIT" for an initial
// value), algo, ms and fail_index. A verdict is true, valid or ok, false, invalid
// or illegal, or unknown.
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
		if at := index(fields); n == 1 && at != nil {
			columns = at
			continue
		}
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
			row.Verdict = Valid
		case "false", "invalid", "illegal":
			row.Verdict = Invalid
		case "unknown", ":unknown":
		default:
			return nil, &Error{name, n, 1, fmt.Sprintf("expected a verdict (true, false or unknown), found %q", field("verdict"))}
		}
		var err error
		if ms := field("ms"); ms != "" {
			if row.Ms, err = strconv.ParseFloat(ms, 64); err != nil {
				return nil, &Error{name, n, 1, fmt.Sprintf("expected milliseconds, found %q", ms)}
			}
		}
		if fail := field("fail_index"); fail != "" {
			if row.Op, err = strconv.ParseInt(fail, 10, 64); err != nil {
				return nil, &Error{name, n, 1, fmt.Sprintf("expected the index of the failing operation, found %q", fail)}
			}
			row.HasOp = true
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) == 0 {
		return nil, &Error{name, 1, 1, "expected a table of verdicts, found none"}
	}
	return rows, nil
}

// index is the columns of a table by name, nil if a line does not name them.
func index(fields []string) map[string]int {
	at := map[string]int{}
	for i, f := range fields {
		at[f] = i
	}
	if _, ok := at["file"]; !ok {
		return nil
	}
	if _, ok := at["verdict"]; !ok {
		return nil
	}
	return at
}
