package jsonops

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/blocks"
	"clew/internal/fuzzing"
	"clew/internal/layouts"
	"clew/internal/opmap"
)

// opsInJSON returns the events of a history in JSON that is read in pieces of a given size,
// and the error at its end. quick says whether ops that are like others are read quickly.
func opsInJSON(t testing.TB, text string, piece int, quick bool) (all []string, err error) {
	t.Helper()
	v := edn.NewValues()
	r := NewReader(&pieces{text, piece}, Options{File: "h", Values: v, Eager: true})
	if !quick {
		r.quick.tree.Known = layouts.Max
	}
	maps := edn.NewValues()
	var e opmap.Event
	for err = r.Next(&e); err == nil; err = r.Next(&e) {
		id, parseErr := maps.ParseLenient(e.AppendText(nil, v)) // ParseLenient sorts the keys
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		all = append(all, fmt.Sprintf("%s %s %s %s %s %d %b %d:%d to %d %s", v.Text(e.Process), v.Text(e.Type), v.Text(e.F), v.Text(e.Value), v.Text(e.Key),
			e.Index, e.Has, e.Line, e.Col, e.End, maps.Text(id)))
	}
	return all, err
}

// pieces is a reader of a text in pieces of a given size.
type pieces struct {
	text string
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.text)
	p.text = p.text[n:]
	return n, nil
}

// oddJSON are values; only a few of them are read quickly in any place. Some are not JSON.
var oddJSON = []string{
	"0", "-0", "1", "-1", "12345678", "123456789012345678", "1234567890123456789", "99999999999999999999", "1.5", "1e3", "1E+3", "1e400", "null", "true", "false",
	`""`, `"a"`, `"a b"`, `"a\n\u0041\/"`, `"\ud83d"`, `"\ud83d\ude00"`, `"é"`, `"` + "\x7f" + `"`, `"txn"`, `"t\u0078n"`, `"ok"`, `"nemesis"`,
	"[]", "[1, 2]", "[ 1 ,2 ]", `[["r",1,null]]`, `[["r","x",1],["append",1,{"a":["w",1]}],"r",[]]`, "{}", `{"a":1}`, `{"b":1,"a":2}`, `{"a":1,"a":2}`, `{"a b":[null],"":{}}`,
	`{"edn":":k"}`, `{"edn":"#{1 2}"}`, `{"edn":"{1 2}"}`, `{"edn":"1N"}`, `{"edn":"(1 [2])"}`, `{"edn":"a;b"}`, `{"edn":"1x3"}`, `{"edn":"{:a"}`, `{"edn":"\"a\nb\""}`,
	`{"edn":":a","x":1}`, `{"x":1,"edn":":a"}`, `{"edn":1}`, `[{"edn":"\\a"}]`, ` { "edn" : ":a" } `,
	"nul", "tru", "+1", "01", "1.", ".5", "1e", "--1", `"`, `"\u12"`, `"\x"`, "\"\t\"", "\"\xff\"", "[1,]", "[1 2]", `{"a"}`, `{"a":1,}`, "{a:1}", "[", "{", "]", "}", "", "[,]", "nan", "1 2",
	strings.Repeat("[", 399) + strings.Repeat("]", 399), strings.Repeat("[", 999) + strings.Repeat("]", 999), strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
	strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500), strings.Repeat("[", 300) + `{"edn":"` + strings.Repeat("(", 800) + strings.Repeat(")", 800) + `"}` + strings.Repeat("]", 300),
}

// opInJSON returns an op with the given values.
func opInJSON(values []string, comma, colon string) string {
	var b strings.Builder
	for i, key := range []string{"process", "type", "value", "f", "index", "key", "time", "error"} {
		b.WriteString([]string{comma, "{"}[min(1, 1/(i+1))] + `"` + key + `"` + colon + values[i])
	}
	return b.String() + "}"
}

// FuzzJSON reads ops that may be like others quickly, and in the general way,
// which is encoding/json and the reader of op maps. Both must give the same
// result, wherever the text is cut into pieces, and into blocks of that length.
func FuzzJSON(f *testing.F) {
	usual := []string{"0", `"invoke"`, "[[1,2],[]]", `"read"`, "7", "null", "123456", `["x"]`}
	op := opInJSON(usual, ",", ":")
	for i := range usual {
		for _, odd := range oddJSON {
			other := slices.Clone(usual)
			other[i] = odd
			f.Add(op, opInJSON(other, ",", ":"), byte(3))
			if i == 2 {
				f.Add(opInJSON(other, ",", ":"), op, byte(200))
				other[3] = `"txn"`
				f.Add(opInJSON(other, ", ", ": "), opInJSON(other, ", ", ": "), byte(50))
			}
		}
	}
	for _, odd := range []string{"", " ", "{}", "[]", "1", `{"edn":"{:process 0}"}`, `{"edn":"1"}`, `{"edn":1}`, `{"f":1,"f":2}`, `{"x":1,"x":2}`, `{"va\u006cue":1}`, `{"a b":1}`, `{"":1}`, strings.ReplaceAll(op, ",", "\n,\r\n\t"), op[:len(op)-1]} {
		f.Add(op, odd, byte(1))
		f.Add(op, odd, byte(63))
		f.Add(odd, op, byte(7))
	}
	f.Fuzz(func(t *testing.T, first, other string, piece byte) {
		defer fuzzing.Guard(t)()
		for _, text := range []string{
			first + "\n" + other + " " + first + other + "\n" + other + "\n",
			"\ufeff[" + first + ",\n" + other + "," + other + "\n," + first + "] ",
		} {
			want, wantErr := opsInJSON(t, text, 1<<20, false)
			for _, size := range []int{1 << 20, int(piece) + 1} {
				restore := blocks.AtMost(size)
				got, err := opsInJSON(t, text, size, true)
				restore()
				if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(got, want) {
					t.Fatalf("in pieces of %d: %q\ngot  %q, %v\nwant %q, %v", size, text, got, err, want, wantErr)
				}
			}
		}
	})
}

// Half of a UTF-16 pair in a key or in EDN equals only itself, as in a value.
func TestHalvesOfPairsInJSONDiffer(t *testing.T) {
	for _, value := range []string{`"\ud800"`, `{"\ud800":1}`, `[{"a":{"x\ud800":1}}]`, `{"edn":"#{\"\ud800\"}"}`} {
		text := `{"process":0,"type":"ok","f":"read","value":` + value + "}\n"
		text += strings.ReplaceAll(text, "d800", "dfff") + strings.ReplaceAll(text, "d800", "fffd")
		for _, quick := range []bool{false, true} {
			ops, err := opsInJSON(t, text, 1<<20, quick)
			if err != io.EOF || len(ops) != 3 || strings.Contains(ops[0]+ops[1], "\ufffd") || !strings.Contains(ops[0], `\ud800`) || !strings.Contains(ops[1], `\udfff`) {
				t.Errorf("%s: %q, %v", value, ops, err)
			}
		}
	}
}

// TestJSONMayEndAnywhere reads every beginning of a history whose ops are alike.
func TestJSONMayEndAnywhere(t *testing.T) {
	var text string
	for _, value := range []string{"12345678", `[["r","x",null],["w","y",2]]`, `"a\nb"`, `{"edn":":a"}`} {
		for i := range 2 {
			text += fmt.Sprintf(`{"type":"ok","f":"txn","value":%s,"process":3,"index":%d,"time":123456789,"error":%s}`+"\n", value, i, value)
		}
	}
	for n := range len(text) {
		want, wantErr := opsInJSON(t, text[:n], 1<<20, false)
		got, err := opsInJSON(t, text[:n], 1+n%9, true)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(got, want) {
			t.Fatalf("%s\ngot  %q, %v\nwant %q, %v", text[:n], got, err, want, wantErr)
		}
	}
}

// Most ops are read quickly after one of their kind has been read.
func TestOrdinaryJSONIsReadQuickly(t *testing.T) {
	for _, line := range []string{
		`{"process":%d,"type":"ok","f":"write","value":%d,"index":%d}`,
		`{"index":%d,"process":%d,"type":"info","f":"cas","value":[%d,2],"time":1234567890123,"error":"x"}`,
		`{ "value" : [["r", %d, null], ["append", "x", [1.5]]], "f": "txn", "type" : "invoke", "process" : 7, "error": {"a": ["b", 1e3]} }`,
		`{"process":"nemesis","type":"info","f":"start","value":{"edn":":majority"},"index":%d}`,
		`{"process":1,"type":"ok","f":"read","value":{"edn":"#{%d -2}"},"key":"k%d"}`,
	} {
		var text strings.Builder
		for i := range 100 {
			text.WriteString(strings.ReplaceAll(line, "%d", fmt.Sprint(i)) + "\n")
		}
		r := NewReader(strings.NewReader(text.String()), Options{File: "h", Values: edn.NewValues()})
		var e opmap.Event
		n, err := 0, error(nil)
		for err = r.Next(&e); err == nil; err = r.Next(&e) {
			if n++; n > 1 && len(r.asEDN.op) > 0 {
				t.Errorf("read in the general way: %s", r.asEDN.op)
				break
			}
			r.asEDN.op = nil
		}
		if n != 100 && !t.Failed() {
			t.Errorf("%d ops, %v", n, err)
		}
	}
}
