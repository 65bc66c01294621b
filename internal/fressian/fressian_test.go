package fressian

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/fuzzing"
)

// unhex returns the bytes of hexadecimal digits with blanks between them.
func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// all reads the objects of a text and prints them.
func all(data []byte) (string, error) {
	v := edn.NewValues()
	r := NewReader(data, edn.Pos{File: "f", Offset: 100}, v)
	var texts []string
	for r.More() {
		if id := r.Value(); r.Err() == nil {
			texts = append(texts, v.Text(id))
		}
	}
	return strings.Join(texts, " "), r.Err()
}

// The testdata of package testfile has what Debian's Fressian writes. Here are objects that
// it does not write, or writes only for very long texts.
func TestObjectsAreRead(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"integers in their ranges", "ff 00 3f 40 00 50 40 5f ff 60 00 00 70 00 00 00 74 00 00 00 00 78 00 00 00 00 00 7c 00 00 00 00 00 00 f8 80 00 00 00 00 00 00 00",
			"-1 0 63 -4096 64 4095 -524288 -33554432 -8589934592 -2199023255552 -562949953421312 -9223372036854775808"},
		{"a string in chunks", "e2 02 61 62 e2 01 63 dc 64 65", `"abcde"`},
		{"a string in chunks, the last with its length", "e2 02 61 62 e3 01 63", `"abc"`},
		{"a character that is cut in two by chunks", "e2 04 ed a0 bd ed dc b8 80", `"😀"`},
		{"half a character", "dd ed a0 bd", `"\ud83d"`},
		{"a character below the halves, and one above", "e0 ed 9f bf ee 80 80", "\"\ud7ff\ue000\""},
		{"characters whose later bytes are those of halves", "e0 e6 a8 80 e6 b0 80", "\"\u6a00\u6c00\""},
		{"half a character, and two bytes", "df ed a0 bd c3 a9", `"\ud83dé"`},
		{"the second half alone, and the first", "e0 ed b8 80 ed a0 bd", `"\ude00\ud83d"`},
		{"bytes in chunks", "d8 01 01 d9 02 02 ff", "#bytes [1 2 -1]"},
		{"lists that go on to a mark", "ed 01 02 fd ed fd", "[1 2] []"},
		{"a list that goes on to the end", "ee 01 ed 02 fd", "[1 [2]]"},
		{"an open list with a mark", "ee 01 fd 05", "[1] 5"},
		{"an object in the cache", "cd dc 61 62 80 cc 00", `"ab" "ab" "ab"`},
		{"objects in the cache, one in the other", "cd e5 cd da 80 81", `[""] [""] ""`},
		{"caches that are emptied", "cd 05 fe cd 06 80", "5 6 6"},
		{"a map of a list in the cache", "cd e6 01 02 c0 80", "[1 2] {1 2}"},
		{"a map of nothing", "c0 f7 c0 e4 c1 f7", "{} {} #{}"},
		{"tags by their places", "ef db 61 01 05 a0 06 f0 00 07", "#a [5] #a [6] #a [7]"},
		{"a known tag that is named", "ef dd 6b 65 79 02 f7 db 61", ":a"},
		{"equal keys and elements", "c0 e8 01 02 01 03 c1 e6 01 01", "{1 3} #{1}"},
		{"a footer", "05 cf cf cf cf 00 00 00 01 15 3d 03 43 06", "5 6"},
		{"doubles", "fb fc fa 3f f8 00 00 00 00 00 00 f9 3d cc cc cd", "0.0 1.0 1.5 0.1"},
		{"characters", "ef de 63 68 61 72 01 50 61 a0 20 a0 50 7f a0 68 d7 ff a0 68 d8 00 a0 68 df ff a0 68 e0 00 a0 68 ff ff a0 00",
			"\\a \\u0020 \\u007f \\\ud7ff \\ud800 \\udfff \\\ue000 \\\uffff \\u0000"},
		{"decimals", "c7 d1 05 00 c7 d1 05 4f fd c7 d1 0f 4f fe c7 d1 05 06 c7 d1 05 07 c7 d1 f1 01", "5M 5E+3M 1.5E+3M 0.000005M 5E-7M -1.5M"},
		{"a regular expression that EDN cannot spell", "c4 db 22", `#regex "\""`},
	} {
		got, err := all(unhex(t, c.data))
		if err != nil || got != c.want {
			t.Errorf("%s:\ngot  %s, %v\nwant %s", c.name, got, err, c.want)
		}
	}
}

func TestErrorsSayWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"an integer that is cut", "05 f8 00", "102: expected 8 bytes of an integer, found 1"},
		{"a string that is cut", "dd 61", "101: expected 3 bytes of a string, found 1"},
		{"a string with a length that is too great", "e3 74 00 00 00 00", "101: expected a length of at most 0 bytes, found -8589934592"},
		{"a string longer than the data", "e3 7f ff ff ff ff ff ff 61", "101: expected a length of at most 1 bytes, found 562949953421311"},
		{"a list longer than the data", "ec 50 ff 05", "101: expected a length of at most 1 elements, found 255"},
		{"a list that does not end", "ed 05", "102: expected an object, found the end of the data"},
		{"the end of a list without one", "fd", "100: expected an object, found the end of a list"},
		{"a code that means nothing", "05 f1", "101: expected an object, found the code 0xf1"},
		{"a text that is no UTF-8", "db ff", "101: expected UTF-8 in a string, found other bytes"},
		{"a text that is no UTF-8 beside half a character", "de ed a0 bd ff", "101: expected UTF-8 in a string, found other bytes"},
		{"the first byte of half a character", "db ed", "101: expected UTF-8 in a string, found other bytes"},
		{"two bytes of half a character", "dc ed a0", "101: expected UTF-8 in a string, found other bytes"},
		{"half a character with an end that is none", "dd ed a0 41", "101: expected UTF-8 in a string, found other bytes"},
		{"half a character with a middle that is none", "dd ed c0 80", "101: expected UTF-8 in a string, found other bytes"},
		{"what looks like the rest of half a character", "dd ee a0 c0", "101: expected UTF-8 in a string, found other bytes"},
		{"chunks without an end", "e2 01 61 05", "103: expected the rest of a string, found an integer"},
		{"nothing in the cache", "80", "100: expected one of the 0 cached objects, found number 0"},
		{"nothing at a place in the cache", "cc 05", "100: expected one of the 0 cached objects, found number 5"},
		{"an object that holds itself", "cd e5 80", "102: the cached object 0 contains itself"},
		{"a tag that has not been named", "a3 05", "100: expected one of the 0 tags that were named, found number 3"},
		{"a tag that is no string", "ef 05 01 05", "101: expected the name of a tag, found an integer"},
		{"a known tag with too many fields", "ef dd 6b 65 79 03 f7 f7 f7", "100: expected a key of 2 fields, found 3"},
		{"a map of an odd list", "c0 e5 01", "101: expected keys and values in turn, found 1 objects"},
		{"a map of no list", "c0 05", "101: expected a list, found an integer"},
		{"a keyword whose name is none", "ca f7 05", "102: expected a name, found an integer"},
		{"a keyword whose namespace is none", "ca 05 da", "101: expected a namespace, found an integer"},
		{"a UUID that is too short", "c3 d1 00", "100: expected a UUID of 16 bytes, found 1"},
		{"a UUID that is no bytes", "c3 05", "101: expected bytes, found an integer"},
		{"an integer where a string should be", "c5 05", "101: expected a string, found an integer"},
		{"a string where an integer should be", "c8 da", "101: expected an integer, found a string"},
		{"a ratio by 0", "ef df 72 61 74 69 6f 02 01 00", "100: expected a ratio with a positive denominator, found 1/0"},
		{"a character that is none", "ef de 63 68 61 72 01 ff", "100: expected a character, found the number -1"},
		{"a decimal with a scale that is too great", "c7 d1 01 7f 00 00 00 00 00 00", "100: expected a decimal with a scale of 32 bits, found 281474976710656"},
		{"a footer of something else", "05 cf cf cf cf 00 00 00 02 00 00 00 00", "101: the footer does not match the data before it: the data is damaged"},
		{"half a footer", "cf cf", "100: expected 12 bytes of a footer, found 2"},
		{"an array that is too long", "b3 05 01", "101: expected a length of at most 1 elements, found 5"},
	} {
		_, err := all(unhex(t, c.data))
		var at *edn.Error
		if err == nil || err.Error() != "f: offset "+c.want || !errors.As(err, &at) || !strings.HasPrefix(c.want, itoa(at.Offset)) {
			t.Errorf("%s:\ngot  %v\nwant f: offset %s", c.name, err, c.want)
		}
	}
}

func itoa(n int64) string {
	v := edn.NewValues()
	return v.Text(v.InternInt(n))
}

func TestNestingAndNumbersAreBounded(t *testing.T) {
	deep := func(unit string, n int) []byte { return bytes.Repeat(unhex(t, unit), n) }
	for _, unit := range []string{"e5", "cd", "ed", "c0", "ef", "c1 e5", "c0 e6 01", "ca", "ca f7", "ef ef", "ef db 61 01", "cc", "cd cc", "fe cd", "f0", "c8", "ec", "e2"} {
		if _, err := all(deep(unit, 1_000_000)); err == nil {
			t.Errorf("%s..: no error", unit)
		}
	}
	if got, err := all(append(deep("e5", 1000), 5)); err != nil || len(got) != 2001 {
		t.Errorf("1000 levels: %v", err)
	}
	_, err := all(append(deep("e5", 1001), 5))
	if err == nil || !strings.Contains(err.Error(), "offset 1100: expected at most 1000 levels of nesting, found more") {
		t.Errorf("1001 levels: %v", err)
	}
	for n, deepest := range map[int]bool{999: true, 1000: false} {
		r := NewReader(append(append([]byte{0xef}, deep("cd", n)...), unhex(t, "db 61 01 05")...), edn.Pos{}, edn.NewValues())
		if r.Op() || (r.Err() == nil) != deepest {
			t.Errorf("the name of a tag %d levels deep: %v", n, r.Err())
		}
	}
	// An object in the cache nests as deep as the place where it is used.
	for n, deepest := range map[int]bool{499: true, 500: false} {
		list := append(append(append(unhex(t, "e6 cd"), deep("e5", 500)...), 5), append(deep("e5", n), 0x80)...)
		got, err := all(list)
		if (err == nil) != deepest {
			t.Errorf("500 levels in %d: %v", n, err)
		}
		if err == nil {
			if _, err := edn.NewValues().ParseLenient([]byte(got)); err != nil {
				t.Error(err)
			}
		}
	}
	// Each of these objects is two of the one before.
	doubled := unhex(t, "cd e5 05")
	for n := range byte(26) {
		doubled = append(doubled, 0xcd, 0xe6, 0x80+n, 0x80+n)
	}
	if _, err := all(doubled); err == nil || !strings.Contains(err.Error(), "expected an object with at most 8388608 bytes of cached objects, found more") {
		t.Errorf("objects that are twice as long as those before them: %v", err)
	}
	for _, n := range []int{1600, 1800, 5000} {
		b := append(append(unhex(t, "c6 d9"), byte(0x50+n>>8), byte(n)), bytes.Repeat([]byte{0x7f}, n)...)
		if _, err := all(b); (err == nil) != (n == 1600) {
			t.Errorf("an integer of %d bytes: %v", n, err)
		}
	}
}

// FuzzReader reads any bytes. It must not panic, and the values that it reads can be
// printed and read again, with the same value.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"ff 00 3f 40 00 f8 80 00 00 00 00 00 00 00", "e2 02 61 62 dc 64 65", "ed 01 02 fd", "cd dc 61 62 80 cc 00", "ef db 61 01 05 a0 06 f0 00 07",
		"c0 e8 01 02 01 03", "05 cf cf cf cf 00 00 00 01 15 3d 03 43 06", "c3 d9 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", "c7 d1 01 05", "c4 db 22",
		"ef e3 11 6a 65 70 73 65 6e 2e 68 69 73 74 6f 72 79 2e 4f 70 07 00 00 ca f7 db 61 00 ca f7 db 62 f7 f7", "ef df 72 61 74 69 6f 02 01 02", "ef de 63 68 61 72 01 20",
		"c8 7a 00 00 00 00 00", "c8 7c 30 30 30 30 30 30", "c8 f8 80 00 00 00 00 00 00 00", "ef dd 69 6e 73 74 61 6e 74 01 dc 6e 6f", "dd ed a0 bd", "ef df 74 68 72 6f 77 01 05",
	} {
		f.Add(unhex(f, seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzzing.Guard(t)()
		v := edn.NewValues()
		r := NewReader(data, edn.Pos{}, v)
		for r.More() {
			id := r.Value()
			if r.Err() != nil {
				break
			}
			text := v.Text(id)
			if strings.Contains(text, "\n") {
				t.Errorf("%q has two lines", text)
			}
			again, err := v.ParseLenient([]byte(text))
			if err != nil || v.Same(again) != v.Same(id) && !strings.Contains(text, "##NaN") {
				t.Errorf("%s is read back as %s, %v", text, v.Text(again), err)
			}
		}
	})
}
