package fressian

import (
	"fmt"
	"strings"
	"testing"
)

// A message names the object found in place of the expected one.
func TestCodesHaveNames(t *testing.T) {
	var got []string
	first := 0
	for code := 1; code <= 256; code++ {
		if code == 256 || naming(byte(code)) != naming(byte(first)) {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%02x-%02x %s", first, code-1, naming(byte(first)))))
			first = code
		}
	}
	want := []string{
		"00-7f an integer",
		"80-9f a cached object",
		"a0-af a tagged object",
		"b0-b0 a long[]",
		"b1-b1 a double[]",
		"b2-b2 a boolean[]",
		"b3-b3 a int[]",
		"b4-b4 a float[]",
		"b5-b5 a Object[]",
		"b6-bf",
		"c0-c0 a map",
		"c1-c1 a set",
		"c2-c2",
		"c3-c3 a uuid",
		"c4-c4 a regex",
		"c5-c5 a uri",
		"c6-c6 a bigint",
		"c7-c7 a bigdec",
		"c8-c8 a inst",
		"c9-c9 a sym",
		"ca-ca a key",
		"cb-cb",
		"cc-cd a cached object",
		"ce-cf",
		"d0-d9 bytes",
		"da-e3 a string",
		"e4-ee a list",
		"ef-f0 a tagged object",
		"f1-f4",
		"f5-f6 a boolean",
		"f7-f7 null",
		"f8-f8 an integer",
		"f9-fc a float",
		"fd-fd the end of a list",
		"fe-fe",
		"ff-ff an integer",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("codes are named\n%s", strings.Join(got, "\n"))
	}
}
