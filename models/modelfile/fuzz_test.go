package modelfile_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"clew"
	"clew/internal/fuzzing"
	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
)

// FuzzModel reads any text as a model file, and checks the histories of its examples and
// another one with it. It must not panic, must stay within the bounds of every model, and
// must give errors with a place in the file. Labels are short. Two engines that both decide agree, unless the
// file declares something that may be untrue.
func FuzzModel(f *testing.F) {
	broken, err := txtar.ParseFile(filepath.Join("testdata", "broken.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, x := range broken.Files {
		f.Add(string(x.Data), comment(string(x.Data), "on"))
	}
	own, err := filepath.Glob(filepath.Join("..", "..", "testdata", "models", "*.star"))
	if err != nil || len(own) == 0 {
		f.Fatal(own, err)
	}
	for _, path := range own {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), "add 1, read nil -> 1, write 2, !enqueue [1 \"a\"], dequeue nil -> {:a #{1.5}}")
	}
	const path = "m.star"
	f.Fuzz(func(t *testing.T, text, ops string) {
		defer fuzzing.Guard(t)()
		file, err := modelfile.Parse(path, []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+":") {
				t.Fatalf("the error has no place: %v", err)
			}
			return
		}
		var histories []*jepsen.History
		for _, x := range file.Examples() {
			if h, err := x.History(); err == nil {
				histories = append(histories, h)
			}
		}
		if h, err := historyOf(ops); err == nil {
			histories = append(histories, h)
		}
		for i, h := range histories[:min(len(histories), 8)] {
			if h.Operations() > 12 {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			first, _ := clew.Check(ctx, h, models.Own(file.Definition()), clew.Options{})
			second, _ := clew.Check(ctx, h, models.Own(file.Definition()), clew.Options{Algorithm: "porcupine"})
			if h.Operations() > 0 {
				if label := models.Own(file.Definition()).Words(ctx, h, 0); utf8.RuneCountInString(label) > 40 {
					t.Errorf("history %d has the label %q", i, label)
				}
			}
			cancel()
			if declares := strings.Contains(text, "reads") || strings.Contains(text, "overwrites") || strings.Contains(text, "partition"); declares {
				continue
			}
			if first != nil && second != nil && first.Verdict != jepsen.Unknown && second.Verdict != jepsen.Unknown && first.Verdict != second.Verdict {
				t.Errorf("history %d is %s by %s, %s by %s", i, first.Verdict, first.Analyzer, second.Verdict, second.Analyzer)
			}
		}
	})
}
