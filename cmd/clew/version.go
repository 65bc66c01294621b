package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

func versionCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the version",
		Description: "Prints the version, the commit that it was built from, and Go's version, as clew --version does.",
		Action:      func(*cli.Context) error { return printVersion(stdout) },
	}
}

func printVersion(stdout io.Writer) error {
	info, _ := debug.ReadBuildInfo()
	_, err := fmt.Fprintln(stdout, "clew", versionLine(info))
	return err
}

// version is what the Go toolchain recorded when it built the program.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if info == nil || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// versionLine is the version, the commit, if it is known, and what built it:
//
//	v1.2.3 (commit 7304e3f58c06 of 2026-11-22T10:14:06Z, modified), go1.26.0 linux/amd64
func versionLine(info *debug.BuildInfo) string {
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
	return line + ", " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
