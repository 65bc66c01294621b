package set_test

import (
	"testing"

	"clew/internal/effort"
)

func TestMain(m *testing.M) { effort.Main(m) }
