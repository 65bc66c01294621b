package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestTheVersionSaysWhatItWasBuiltFrom(t *testing.T) {
	built := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	const commit = "7304e3f58c06ad09d7a4d1d5bdbe1a7ed97a2e3e"
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "(devel)"},
		{built(""), "(devel)"},
		{built("v1.2.3"), "v1.2.3"},
		{built("v1.2.3", "vcs.revision", commit), "v1.2.3 (commit 7304e3f58c06)"},
		{built("v1.2.3", "vcs.revision", commit, "vcs.time", "2026-11-22T10:14:06Z", "vcs.modified", "false"), "v1.2.3 (commit 7304e3f58c06 of 2026-11-22T10:14:06Z)"},
		{built("(devel)", "vcs.revision", "abc", "vcs.modified", "true"), "(devel) (commit abc, modified)"},
	} {
		if got, want := versionLine(c.info), c.want+", "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
