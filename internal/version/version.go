// Package version identifies the running build.
package version

import (
	"cmp"
	"runtime/debug"
)

// Version is the release and Commit the full hash of the commit from which it was built. The linker
// sets both (see the Makefile). In other builds they come from the Go toolchain, if it recorded
// them: go install of a release records the version. They do not change at run time.
var (
	Version = ""
	Commit  = ""
)

func init() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	Version, Commit = resolve(Version, Commit, info)
}

// resolve fills in what the linker did not set.
func resolve(version, commit string, info *debug.BuildInfo) (string, string) {
	if info.Main.Version != "(devel)" {
		version = cmp.Or(version, info.Main.Version)
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = cmp.Or(commit, s.Value)
		}
	}
	return cmp.Or(version, "dev"), commit
}

// String returns the version, followed by the abbreviated commit if it is known: "v1.2.0
// (2b935ce40310)".
func String() string { return describe(Version, Commit) }

func describe(version, commit string) string {
	if commit == "" {
		return version
	}
	return version + " (" + commit[:min(len(commit), 12)] + ")"
}
