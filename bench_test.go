package clew_test

import (
	"context"
	"path/filepath"
	"testing"

	"clew"
	"clew/internal/archive"
	"clew/jepsen"
	"clew/models"
)

// BenchmarkRedisStore is the check of real histories with unique values, after
// they have been read.
func BenchmarkRedisStore(b *testing.B) {
	files, err := filepath.Glob(filepath.Join(archive.Path(b, "redis-store"), "*", "*", "history.edn"))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		h, err := clew.ReadFile(file, jepsen.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, algorithm := range []string{"fast", "porcupine"} {
			b.Run(filepath.Base(filepath.Dir(filepath.Dir(file)))+"/"+algorithm, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{Algorithm: algorithm}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(h.Operations()), "operations")
			})
		}
	}
}
