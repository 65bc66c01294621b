package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/limits"
	"clew/jepsen"
)

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
