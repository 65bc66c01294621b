package store

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"clew/edn"
	"clew/internal/fuzzing"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// packings are the ways in which FuzzArchive packs two histories, by the archive's name.
var packings = []struct {
	name   string
	pack   func(w io.Writer, texts []string) error
	wanted int // how many histories are in it
}{
	{"h.edn", one, 1},
	{"h.edn.gz", gzipped(one), 1},
	{"h.edn.zst", zstandard(one), 1},
	{"s.tar", inTar, 2},
	{"s.tar.gz", gzipped(inTar), 2},
	{"s.tar.zst", zstandard(inTar), 2},
	{"s.zip", inZip, 2},
}

type packing = func(w io.Writer, texts []string) error

func one(w io.Writer, texts []string) error {
	_, err := io.WriteString(w, texts[0])
	return err
}

func gzipped(pack packing) packing {
	return func(w io.Writer, texts []string) error {
		z := gzip.NewWriter(w)
		return errors.Join(pack(z, texts), z.Close())
	}
}

func zstandard(pack packing) packing {
	return func(w io.Writer, texts []string) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstd.MinWindowSize))
		if err != nil {
			return err
		}
		return errors.Join(pack(z, texts), z.Close())
	}
}

// members are the names of histories in an archive.
var members = []string{"store/a/20250101T000000.000Z/history.edn", "store/b/history.edn"}

func inTar(w io.Writer, texts []string) error {
	t := tar.NewWriter(w)
	for i, text := range texts {
		if err := t.WriteHeader(&tar.Header{Name: members[i], Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		if _, err := io.WriteString(t, text); err != nil {
			return err
		}
	}
	return t.Close()
}

func inZip(w io.Writer, texts []string) error {
	z := zip.NewWriter(w)
	for i, text := range texts {
		member, err := z.Create(members[i])
		if err != nil {
			return err
		}
		if _, err := io.WriteString(member, text); err != nil {
			return err
		}
	}
	return z.Close()
}

// FuzzArchive packs two texts in each way in which histories come, damages the bytes, and
// reads what it finds. Undamaged archives must read the same as the texts themselves.
// Damaged ones must not cause a panic, and their errors must name the file. Each 3 bytes of
// damage say which byte changes and how. Without a packing the bytes are read unchanged.
func FuzzArchive(f *testing.F) {
	const history = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"
	for i, p := range packings {
		f.Add(uint8(i), history, strings.Repeat(history, 30), []byte{})
		f.Add(uint8(i), history, "[1", []byte{0, 20, 1})
		var packed bytes.Buffer
		if err := p.pack(&packed, []string{history, history}); err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i+len(packings)), packed.String(), "", []byte{1, 30, 2})
	}
	for _, window := range []byte{17, 18, 19, 22} {
		f.Add(uint8(2+len(packings)), "\x28\xb5\x2f\xfd\x00"+string([]byte{window << 3})+"\x03\x00\x10 ", "", []byte{})
	}
	f.Fuzz(func(t *testing.T, way uint8, first, second string, damage []byte) {
		defer fuzzing.Guard(t)()
		p := packings[int(way)%len(packings)]
		texts := []string{first, second}
		packed := []byte(first)
		whole := int(way)%(2*len(packings)) < len(packings)
		if whole {
			var out bytes.Buffer
			if err := p.pack(&out, texts); err != nil {
				return
			}
			packed = out.Bytes()
		}
		for ; len(damage) >= 3 && len(packed) > 0; damage = damage[3:] {
			whole = false
			packed[(int(damage[0])<<8+int(damage[1]))%len(packed)] ^= damage[2]
		}
		opts := jepsen.Options{Memory: 32 << 20}
		found, err := FindIn(t.Context(), p.name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }, Options{})
		if err != nil && (whole || !strings.HasPrefix(err.Error(), p.name+":")) {
			t.Fatal(err)
		}
		if whole && len(found) != p.wanted {
			t.Fatalf("%d histories; expected %d", len(found), p.wanted)
		}
		for i, s := range found[:min(len(found), 10)] {
			h, err := s.Read(context.Background(), opts)
			var at *edn.Error
			if err != nil && !errors.As(err, &at) && !strings.HasPrefix(err.Error(), s.Path) {
				t.Fatalf("the error does not name %s: %v", s.Path, err)
			}
			if isPacked := strings.HasPrefix(texts[i], "\x1f") || strings.HasPrefix(texts[i], "\x28\xb5\x2f\xfd"); !whole || isPacked {
				continue // a text that is itself packed is unpacked once
			}
			want, wantErr := forms.Read(strings.NewReader(texts[i]), s.Path, opts)
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("%s: %v; read by itself: %v", s.Path, err, wantErr)
			}
			if err == nil && (!slices.Equal(h.Type, want.Type) || !slices.Equal(h.Value, want.Value) || !slices.Equal(h.Completion, want.Completion)) {
				t.Fatalf("%s: another history than its text", s.Path)
			}
		}
	})
}
