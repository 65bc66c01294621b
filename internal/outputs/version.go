package outputs

import (
	"runtime/debug"
	"sync"
)

// Version returns the version that the Go toolchain recorded when it built the program.
var Version = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
})

func versionOf(info *debug.BuildInfo) string {
	if info == nil || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// Build returns the version and the commit of the program.
func Build() string {
	info, _ := debug.ReadBuildInfo()
	return BuildOf(info)
}

// BuildOf returns what Build does, of a build that is given.
func BuildOf(info *debug.BuildInfo) string {
	line, built := versionOf(info), map[string]string{}
	if info != nil {
		for _, s := range info.Settings {
			built[s.Key] = s.Value
		}
	}
	if commit := built["vcs.revision"]; commit != "" {
		said := "commit " + commit[:min(len(commit), 12)]
		if when := built["vcs.time"]; when != "" {
			said += " of " + when
		}
		if built["vcs.modified"] == "true" {
			said += ", modified"
		}
		line += " (" + said + ")"
	}
	return line
}
