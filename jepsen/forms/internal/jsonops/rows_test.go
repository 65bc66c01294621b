package jsonops

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/effort"
	"clew/internal/opmap"
)

// alike is a history whose ops are mostly alike, with others between them.
const alike = "\ufeff" + `{"index":0,"time":11946,"type":"invoke","process":0,"f":"read","value":null}
{"index":1,"time":11947,"type":"ok","process":0,"f":"read","value":7}
{"index":2,"time":11948,"type":"invoke","process":0,"f":"read","value":null}
{"index":3,"time":11949,"type":"ok","process":0,"f":"read","value":-7}
{"index":4,"time":12345678901,"type":"invoke","process":12,"f":"contains-it","value":"é x"}
{"index":5,"time":5,"type":"ok","process":12,"f":"contains-it","value":"a\n\"b"}
{"type":"invoke","f":"txn","value":[["append",3,[1,null]],["r", 4 , null]],"process":1}
{"type":"ok","f":"txn","value":[["append",3,[1,null]],["r","x",[]]],"process":1}
{"type":"ok","f":"txn","value":[["a b",3]],"process":1}
{"value":[["r",3]],"type":"invoke","f":"txn","process":1}
{"value":[["r",3]],"type":"invoke","f":"txn","process":1}

{"index":6,"time":1.5,"type":"invoke","process":3,"f":"write","value":1e3}
{"index":7,"time":-15,"type":"info","process":3,"f":"write","value":2.50,"error":["x",{"edn":":y"}]}
{"index":8,"time":15,"type":"invoke","process":3,"f":"write","value":{"a":1,"b":null},"error":"late"}
{"index":9,"time":15,"type":"info","process":"nemesis","f":"start","value":{"edn":"#{1}"}}
{"index":10,"time":15,"type":"invoke","process":3,"f":"write","value":true}` + "\r\n" + `{"index":11,"time":16,"type":"ok","process":3,"f":"write","value":false}  {"index":12,"type":"invoke","process":3,"f":"write","value":0}
{"index":13,"time":16,"type":"invoke","process":123456789012345678,"f":"write","value":1234567890123456789}
{"index":014,"time":16}
`

// read returns the events of a text and all values, each event as its fields, place and text. If block is not 0, rows are taken.
func read(text string, block int, taken *int) (all []string) {
	v := edn.NewValues()
	r := NewReader(strings.NewReader(text), Options{File: "h", Values: v})
	if block > 0 {
		r.First, r.Later = block, block
		r.ReadAhead(1, true)
		r.lines.Blocks(block)
		defer r.Close()
	}
	var kept opmap.Texts
	n := 0
	add := func(e opmap.Event, end int64) {
		all = append(all, fmt.Sprint(e.Type, e.Process, e.F, e.Value, e.Key, e.Index, e.Has, e.Line, e.Col, end, " ", string(kept.Text(n, v, &e))))
		n++
	}
	for {
		if rows := r.Rows(); block > 0 {
			kept.AddRows(rows, len(rows.All))
			for i, row := range rows.All {
				e := opmap.Event{Type: row.Type, Process: row.Process, F: row.F, Value: row.Value, Line: rows.Line + i, Col: 1}
				if e.Has = opmap.HasType | opmap.HasProcess | opmap.HasF | opmap.HasValue; row.HasIndex {
					e.Has, e.Index = e.Has|opmap.HasIndex, row.Index
				}
				end := rows.End(i+1) - 1
				if r.InArray() { // behind the comma
					end--
				}
				add(e, end)
			}
			*taken += len(rows.All)
			if r.Take(len(rows.All)); len(rows.All) > 0 {
				continue
			}
		}
		var e opmap.Event
		if err := r.Next(&e); err != nil {
			if all = append(all, err.Error()); err != io.EOF { // what else the op has interned depends on the blocks
				return all
			}
			break
		}
		kept.Add(&e)
		add(e, e.End)
	}
	for id := range v.Len() {
		all = append(all, v.Text(edn.ID(id)))
	}
	return all
}

func TestRowsAreTheOpsThatNextReads(t *testing.T) {
	taken := 0
	check := func(text string, block int) {
		t.Helper()
		got, want := read(text, block, &taken), read(text, 0, nil)
		if i := 0; !slices.Equal(got, want) {
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Fatalf("%q in blocks of %d, from %d on:\n%q\nwant\n%q", text, block, i, got[i:], want[i:])
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	long := strings.Repeat(strings.TrimPrefix(alike[:strings.Index(alike, `{"index":014`)], "\ufeff"), 4)
	array := func(lines string) string {
		return "[\n" + strings.ReplaceAll(strings.TrimSpace(lines), "\n{", ",\n{") + "\n]\n"
	}
	for cut := range alike {
		check(alike[:cut], 100+cut%900)
	}
	regular := strings.Repeat(strings.TrimPrefix(alike[:strings.Index(alike, `{"index":4`)], "\ufeff"), 12)
	lines := taken
	for text, cut := array(regular), 0; cut <= len(text); cut++ {
		if !effort.Takes(cut) {
			continue
		}
		check(text[:cut], 100+cut%900)
	}
	if taken < lines+1000 {
		t.Errorf("only %d ops of arrays were taken in rows", taken-lines)
	}
	for i := range effort.Histories(2000, 2000) {
		text := []byte([]string{long, regular, regular, regular, array(long), array(regular), array(regular)}[i%7])
		for range 1 + r.IntN(3) {
			at := r.IntN(len(text))
			switch other := long[r.IntN(len(long))]; r.IntN(6) {
			case 0:
				text[at] = other
			case 1:
				text = slices.Delete(text, at, min(at+1+r.IntN(3), len(text)))
			case 2:
				text = slices.Insert(text, at, other)
			default: // before a value
				if next := bytes.IndexByte(text[at:], ':'); next >= 0 {
					text = slices.Insert(text, at+next+1, []byte([]string{"0", "-", "1", "-0", "00000000", "1.", " ", "\"", "[", "\n", "12345678901", ",", "]"}[r.IntN(13)])...)
				}
			}
		}
		check(string(text), []int{200, 300, 1000}[r.IntN(3)])
	}
	check("["+strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(long, "  {", "\n{")), "\n{", ",\n{")+"]", 500)
	if taken < 1000 {
		t.Errorf("only %d ops were taken in rows", taken)
	}
}
