package main

import (
	"bytes"
	"io"
	"strings"
	"testing/fstest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// damaged returns malformed inputs that are packed. It is a function because every clew that a script starts sets up
// the variables of the tests: packing took four times as long as all the rest of a short run.
func damaged() []badInput {
	return []badInput{
		{"a tar archive of another name", "", gzipped(tarred(write)),
			"h.edn:1:1: expected EDN or log lines, found a tar archive; its name must end in .tar, .tar.gz, .tgz or .tar.zst"},
		{"a gzip file cut in its header", "", gzipped(write)[:5],
			"h.edn: the gzip data is cut off: expected more of it, found the end of the file"},
		{"a gzip file of two bytes", "", gzipped(write)[:2],
			"h.edn: the gzip data is cut off: expected more of it, found the end of the file"},
		{"a gzip file cut in its data", "", gzipped(write)[:30],
			"h.edn: the gzip data is cut off: expected more of it, found the end of the file"},
		{"a gzip file without its checksum", "", cut(gzipped(write), 8),
			"h.edn: the gzip data is cut off: expected more of it, found the end of the file"},
		{"a gzip file with a wrong checksum", "", flipped(gzipped(write), -8),
			"h.edn: the gzip data is damaged: its checksum does not match"},
		{"a gzip file with an unknown method", "", flipped(gzipped(write), 2),
			"h.edn: the gzip data is damaged: gzip: invalid header"},
		{"a gzip file with a few bytes behind it", "", gzipped(write) + gzipped(write) + "more",
			"h.edn: the gzip data is damaged: something that is not gzip follows it"},
		{"a gzip file with many bytes behind it", "", gzipped(write) + strings.Repeat("more", 10),
			"h.edn: the gzip data is damaged: something that is not gzip follows it"},
		{"a gzip file cut in its second member", "", gzipped(write) + gzipped(write)[:1],
			"h.edn: the gzip data is cut off: expected more of it, found the end of the file"},
		{"a gzip file within a gzip file", "", gzipped(gzipped(write)),
			"h.edn:1:1: expected EDN or log lines, found binary data"},
		{"a zstd file cut in its header", "", cut(zstandard(write), 60),
			"h.edn: the zstd data is cut off: expected more of it, found the end of the file"},
		{"a zstd file cut in its data", "", cut(zstandard(write), 20),
			"h.edn: the zstd data is cut off: expected more of it, found the end of the file"},
		{"a zstd file without its checksum", "", cut(zstandard(write), 4),
			"h.edn: the zstd data is cut off: expected more of it, found the end of the file"},
		{"a zstd file with a wrong checksum", "", flipped(zstandard(write), -2),
			"h.edn: the zstd data is damaged: its checksum does not match"},
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

// tarred returns an archive of one history.
func tarred(history string) string {
	text, err := archived("h.tar", fstest.MapFS{"h.edn": {Data: []byte(history)}})
	if err != nil {
		panic(err)
	}
	return text
}

func zstandard(text string) string {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(z.EncodeAll([]byte(text), nil))
}

// cut returns a text without its last n bytes.
func cut(text string, n int) string { return text[:len(text)-n] }

// flipped returns a text with other bits in byte i, counted from the end if negative.
func flipped(text string, i int) string {
	b := []byte(text)
	if i < 0 {
		i += len(b)
	}
	b[i] ^= 0xff
	return string(b)
}
