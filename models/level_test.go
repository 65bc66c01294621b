package models_test

import (
	"testing"

	"clew/models"
)

func TestLevelsHaveTheNamesOfOthers(t *testing.T) {
	for name, want := range map[string]models.Level{
		"linearizable": "", "strict-serializable": models.StrictSerializable, "strong-serializable": models.StrictSerializable,
		"conflict-serializable": models.Serializable, "PL-3": models.Serializable, "repeatable-read": models.Serializable,
		"PL-SI": models.SnapshotIsolation, "PL-2": models.ReadCommitted, "PL-1": models.ReadUncommitted, "pl-si": models.SnapshotIsolation, "Serializable": models.Serializable,
	} {
		if level, err := models.ParseLevel(name); level != want || err != nil {
			t.Errorf("%s: %q, %v; expected %q", name, level, err, want)
		}
	}
	for _, level := range models.AllLevels() {
		if same, err := models.ParseLevel(string(level)); same != level || err != nil {
			t.Errorf("%s: %q, %v", level, same, err)
		}
	}
	if level, err := models.ParseLevel("PL-4"); err == nil {
		t.Errorf("PL-4 is %q", level)
	}
}
