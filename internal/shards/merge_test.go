package shards_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"clew/internal/option"
	"clew/internal/shards"
	"clew/internal/store"
	"clew/jepsen"
	"clew/report"
)

func init() { option.AsFlags() } // as in clew merge

// shard returns what a shard of a list of histories without operations prints.
func shard(i, of, histories int) string {
	s := store.Shard{I: i, Of: of}
	t := shards.Trailer{Shard: s.String(), List: fmt.Sprint(histories, " histories"), Listed: histories, Settings: "--model register", Clew: "v1"}
	var b strings.Builder
	for at := i - 1; at < histories; at += of {
		r := &report.Result{File: fmt.Sprintf("%d.edn", at), Verdict: jepsen.Valid}
		if t.Valid++; at%3 == 2 {
			r.Verdict, r.Cause = jepsen.Unknown, jepsen.Timeout
			t.Valid, t.Unknown = t.Valid-1, t.Unknown+1
		}
		line, sum := shards.Sealed(shards.NewLine(store.Source{Path: r.File}, r, s, shards.Place{At: at}, "", false, nil))
		b.WriteString(line)
		t.Sums += sum
		t.Lines++
	}
	trailer, _ := shards.Sealed(t)
	return b.String() + trailer
}

// shardOf finds the shard in a line.
var shardOf = regexp.MustCompile(`"shard":"[0-9x/]*"`)

// resealed returns changed lines with checksums of their present text.
func resealed(text string) string {
	var b strings.Builder
	sums, of := shards.Sum(0), ""
	for line := range strings.Lines(text) {
		rest, sealed := strings.CutSuffix(line, "\"}\n")
		at := strings.LastIndex(rest, `,"sum":"`)
		if !sealed || at < 0 {
			b.WriteString(line)
			continue
		}
		object := rest[:at] + "}"
		if shard := shardOf.FindString(object); shard != of {
			sums, of = 0, shard
		}
		if i := strings.Index(object, `"sums":"`); strings.HasPrefix(object, `{"trailer"`) && i >= 0 {
			hex, _ := sums.MarshalText()
			object = object[:i+len(`"sums":"`)] + string(hex) + object[i+len(`"sums":"`)+len(hex):]
			sums = 0
		}
		if !json.Valid([]byte(object)) {
			b.WriteString(line)
			continue
		}
		line, sum := shards.Sealed(json.RawMessage(object))
		if b.WriteString(line); !strings.HasPrefix(object, `{"trailer"`) {
			sums += sum
		}
	}
	return b.String()
}

// merged returns the files of the whole, or what is wrong, after correcting all checksums.
func merged(t *testing.T, texts ...string) string {
	t.Helper()
	var all []string
	for _, text := range texts {
		all = append(all, resealed(text))
	}
	return mergedAsIs(t, all...)
}

func mergedAsIs(t *testing.T, texts ...string) string {
	t.Helper()
	var m shards.Merger
	for i, text := range texts {
		if err := m.Read(strings.NewReader(text), string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := m.Lines()
	if err != nil {
		return err.Error()
	}
	var files []string
	for _, l := range lines {
		files = append(files, l.File)
	}
	return strings.Join(files, " ")
}

func TestMembersOfAnArchiveAreOneOfTheList(t *testing.T) {
	one := strings.NewReplacer(`"at":2`, `"at":1,"member":1,"members":2`, `"listed":3`, `"listed":2`).Replace(shard(1, 2, 3))
	two := strings.NewReplacer(`"at":1`, `"at":1,"members":2`, `"listed":3`, `"listed":2`).Replace(shard(2, 2, 3))
	if got := merged(t, one, two); got != "0.edn 1.edn 2.edn" {
		t.Error(got)
	}
	if got, want := merged(t, strings.ReplaceAll(one, `"listed":2`, `"listed":3`), strings.ReplaceAll(two, `"listed":2`, `"listed":3`)),
		"history 3 of 3 has no line: these are not shards of one list"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestOnlyShardsThatMakeAWholeAreMerged(t *testing.T) {
	one, two, three := shard(1, 3, 7), shard(2, 3, 7), shard(3, 3, 7)
	const all = "0.edn 1.edn 2.edn 3.edn 4.edn 5.edn 6.edn"
	lines := strings.SplitAfter(two, "\n")
	for _, c := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"all of them", []string{one, two, three}, all},
		{"in any order", []string{three, one, two}, all},
		{"in one file", []string{two + one + three}, all},
		{"with empty lines between", []string{two + "\n" + one, three + "\n\n"}, all},
		{"one of one", []string{shard(1, 1, 2)}, "0.edn 1.edn"},
		{"more shards than histories", []string{shard(1, 2, 1), shard(2, 2, 1)}, "0.edn"},
		{"one is missing", []string{one, three}, "shard 2/3 is missing"},
		{"two are missing", []string{two}, "2 shards are missing: 1/3, 3/3"},
		{"one is doubled", []string{one, two, three, two}, "shard 2/3 occurs twice: in b and in d"},
		{"one is doubled in a file", []string{one + two + three + two}, "shard 2/3 occurs twice: in a and in a"},
		{"one is of another number of shards", []string{one, two, three, shard(1, 4, 7)}, "d: shard 1/4 does not match 1/3 in a: expected shards of one N"},
		{"one is of another list", []string{one, shard(2, 3, 8), three},
			"b: shard 2/3 does not match 1/3 in a: it belongs to a list of 8 entries, not of 7; expected the same paths, with the same histories in them\nshard 2/3 is missing"},
		{"one is of another store", []string{one, strings.Replace(two, `"inputs":""`, `"inputs":"fe"`, 1), three},
			"b: shard 2/3 does not match 1/3 in a: it belongs to another store, whose files have the same names but different contents; expected the same paths, with the same histories in them\nshard 2/3 is missing"},
		{"one is of another version", []string{one, strings.Replace(two, `"clew":"v1"`, `"clew":"v2"`, 1), three},
			"b: shard 2/3 does not match 1/3 in a: it was checked by clew v2, not by clew v1; expected one version\nshard 2/3 is missing"},
		{"one has other flags", []string{one, strings.Replace(two, "--model register", "", 1), three},
			"b: shard 2/3 does not match 1/3 in a: it was checked with no flags, not with --model register; expected the same flags\nshard 2/3 is missing"},
		{"one has no trailer", []string{one, strings.Join(lines[:len(lines)-2], ""), three}, "b: shard 2/3 was cut short after 2 histories: it has no trailer; run it again"},
		{"and another one follows", []string{strings.Join(lines[:len(lines)-2], "") + one, three}, "a: shard 2/3 was cut short after 2 histories: it has no trailer; run it again"},
		{"and only a trailer follows", []string{strings.Join(lines[:len(lines)-2], "") + shard(2, 2, 1), one, three},
			"a: shard 2/3 was cut short after 2 histories: it has no trailer; run it again\n" +
				"b: shard 1/3 does not match 2/2 in a: expected shards of one N\nc: shard 3/3 does not match 2/2 in a: expected shards of one N\nshard 1/2 is missing"},
		{"one lacks a line", []string{one, lines[0] + strings.Join(lines[2:], ""), three},
			"b:2: shard 2/3 is damaged: its trailer counts 2 lines (2 valid, 0 invalid, 0 unknown, 0 unreadable), and there are 1 (1, 0, 0, 0)"},
		{"one has a line twice", []string{one, lines[0] + two, three},
			"b:4: shard 2/3 is damaged: its trailer counts 2 lines (2 valid, 0 invalid, 0 unknown, 0 unreadable), and there are 3 (3, 0, 0, 0)"},
		{"one has a history of another one", []string{one, strings.Replace(two, `"at":1`, `"at":0`, 1), three},
			"history 1 of 7 (0.edn) has 2 lines, expected 1: these are not shards of one list"},
		{"one has a history that is none of the list", []string{one, two, strings.Replace(three, `"at":5`, `"at":7`, 1)},
			"a line is that of history 7 of 7 (6.edn), expected one of history 6: these are not shards of one list"},
		{"one has a history beyond the list", []string{strings.Replace(one, `"at":6`, `"at":7`, 1), two, three},
			"a line is that of history 8 of 7 (6.edn), expected one of history 7: these are not shards of one list"},
		{"one has some of an archive", []string{one, strings.Replace(two, `"at":4`, `"at":4,"members":2`, 1), three},
			"a line is that of history 6 of 7 (5.edn), expected one of history 5 (member 2 of 2): these are not shards of one list"},
		{"one has another part of an archive", []string{one, strings.Replace(two, `"at":4`, `"at":4,"member":1,"members":2`, 1), three},
			"a line is that of history 5 (member 2 of 2) of 7 (4.edn), expected one of history 5 (member 1 of 2): these are not shards of one list"},
		{"an archive is not what it was", []string{strings.Replace(one, `"at":3`, `"at":4,"member":1,"members":3`, 1), strings.Replace(two, `"at":4`, `"at":4,"members":2`, 1), strings.Replace(three, `"at":5`, `"at":3`, 1)},
			"a line is that of history 5 (member 2 of 3) of 7 (3.edn), expected one of history 5 (member 2 of 2): these are not shards of one list"},
		{"a trailer with no shard", []string{strings.ReplaceAll(one, `"shard":"1/3"`, `"shard":"x"`), two, three},
			"a:4: the trailer has no shard: expected I/N, such as 3/16, or auto, with an I from 1 to N, found \"x\"\nshard 1/3 is missing"},
		{"lines without shards", []string{one, two, three, `{"file":"x.edn","valid":true}` + "\n"}, "d:1: this is not a line of clew check --shard: it has no shard"},
		{"a history", []string{"{:process 0, :type :invoke}\n"}, "a:1: this is not a line of clew check --shard: invalid character ':' looking for beginning of object key string"},
		{"no verdict", []string{one, strings.Replace(two, "true", "maybe", 1), three}, "b:1: this is not a line of clew check --shard: invalid character 'm' looking for beginning of value\n" +
			"b:3: shard 2/3 is damaged: its trailer counts 2 lines (2 valid, 0 invalid, 0 unknown, 0 unreadable), and there are 1 (1, 0, 0, 0)"},
		{"an empty file", []string{one, two, three, ""}, "d: it is empty: a shard was cut short before its first line; run it again"},
		{"a torn line", []string{one, two[:10], three}, "b:1: a shard was cut off in the middle of this line; run it again\nshard 2/3 is missing"},
		{"a torn second line", []string{one, lines[0] + lines[1][:10], three}, "b:2: shard 2/3 was cut off in the middle of this line, after 1 histories; run it again"},
		{"a trailer without its newline", []string{one, strings.TrimSuffix(two, "\n"), three}, "b:3: shard 2/3 was cut off in the middle of this line, after 2 histories; run it again"},
		{"nothing", nil, "there is no shard"},
	} {
		if got := merged(t, c.texts...); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestNoByteOfAShardChangesInSilence changes bytes of a line and of the trailer.
func TestNoByteOfAShardChangesInSilence(t *testing.T) {
	one, two := shard(1, 2, 5), shard(2, 2, 5)
	for i := range two {
		for _, flip := range []byte{1, 32} {
			damaged := two[:i] + string([]byte{two[i] ^ flip}) + two[i+1:]
			if got := mergedAsIs(t, one, damaged); strings.HasPrefix(got, "0.edn") && strings.TrimSpace(damaged) != strings.TrimSpace(two) {
				t.Fatalf("byte %d, %q instead of %q: %s", i, damaged[i], two[i], got)
			}
		}
	}
	line, _, _ := strings.Cut(two, "\n")
	other := strings.Replace(two, line+"\n", resealed(strings.Replace(line, "1.edn", "9.edn", 1)+"\n"), 1)
	want := "b:3: shard 2/2 is damaged: its lines do not match its trailer; run it again"
	if got := mergedAsIs(t, one, other); got != want {
		t.Error(got)
	}
	old := strings.SplitAfter(two, "\n")
	for i, line := range old {
		if at := strings.LastIndex(line, `,"sum"`); at >= 0 {
			old[i] = line[:at] + "}\n"
		}
	}
	want = "b:1: a line of shard 2/2 has no checksum, as those of older versions of clew; run the shard again"
	if got := mergedAsIs(t, one, strings.Join(old, "")); !strings.HasPrefix(got, want) {
		t.Error(got)
	}
}

// TestAShardThatEndsAnywhereIsMissedByName cuts a shard off after every byte.
func TestAShardThatEndsAnywhereIsMissedByName(t *testing.T) {
	one, two := shard(1, 2, 9), shard(2, 2, 9)
	for n := range len(two) {
		if got := merged(t, one, two[:n]); !strings.Contains(got, "shard 2/2") || !strings.HasPrefix(got, "b") {
			t.Errorf("%d of %d bytes: %s", n, len(two), got)
		}
		if got := merged(t, two[:n]+one); n > 0 && !strings.Contains(got, "shard 2/2") {
			t.Errorf("%d of %d bytes, with another shard behind them: %s", n, len(two), got)
		}
	}
	if got := merged(t, one, two); got != "0.edn 1.edn 2.edn 3.edn 4.edn 5.edn 6.edn 7.edn 8.edn" {
		t.Error(got)
	}
}

// failing is a reader that fails.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is on fire") }

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	var m shards.Merger
	if err := m.Read(failing{}, "x"); err == nil || err.Error() != "x: the disk is on fire" {
		t.Error(err)
	}
}

// Among answers about the keys of one history the worst counts, regardless of its shard.
func TestTheWorstOfWhatShardsSayOfKeysCounts(t *testing.T) {
	worstFirst := []report.Result{
		{Cause: jepsen.Unreadable}, {Cause: jepsen.Panicked}, {Verdict: jepsen.Invalid},
		{Cause: jepsen.SelfCheckFailed}, {Cause: jepsen.Timeout}, {Verdict: jepsen.Valid},
	}
	for i, worst := range worstFirst {
		for _, other := range worstFirst[i+1:] {
			for _, both := range [][]report.Result{{worst, other}, {other, worst}} {
				var m shards.Merger
				for n := range both {
					r := both[n]
					if r.Cause != "" {
						r.Verdict = jepsen.Unknown
					}
					l := shards.NewLine(store.Source{Path: "h.edn"}, &report.Result{File: "h.edn", Cause: r.Cause}, store.Shard{I: n + 1, Of: 2}, shards.Place{}, "", true, nil)
					l.Valid = r.Verdict
					line, sum := shards.Sealed(l)
					trailer := shards.Trailer{Shard: l.Run.Shard, List: "one", Listed: 1, Lines: 1, Sums: sum}
					switch {
					case r.Verdict == jepsen.Valid:
						trailer.Valid++
					case r.Verdict == jepsen.Invalid:
						trailer.Invalid++
					case r.Cause == jepsen.Unreadable:
						trailer.Unreadable++
					default:
						trailer.Unknown++
					}
					end, _ := shards.Sealed(trailer)
					if err := m.Read(strings.NewReader(line+end), l.Run.Shard); err != nil {
						t.Fatal(err)
					}
				}
				lines, err := m.Lines()
				if err != nil || len(lines) != 1 {
					t.Fatal(lines, err)
				}
				if got := jepsen.Cause(lines[0].Cause); got != worst.Cause || lines[0].Valid == jepsen.Valid {
					t.Errorf("%v %q of %q and %q", lines[0].Valid, got, both[0].Cause, both[1].Cause)
				}
			}
		}
	}
}

// An endless line does not take endless memory.
func TestALineWithoutEndIsNotOfAShard(t *testing.T) {
	var m shards.Merger
	err := m.Read(io.LimitReader(endless{}, 1<<30), "a.jsonl")
	if err == nil || err.Error() != "a.jsonl: line 1 is longer than 128 MB, so it is not of a shard" {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '{'
	}
	return len(p), nil
}
