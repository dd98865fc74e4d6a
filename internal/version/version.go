// Package version names the build that is running.
package version

import (
	"cmp"
	"runtime/debug"
)

// Version and Commit are set by the linker (see the Makefile): the release and the
// full id of the commit that it was built from. They do not change at run time.
var (
	Version = "dev"
	Commit  = ""
)

// String is the version, and the beginning of the commit if it is known: "v1.2.0
// (2b935ce40310)". A binary that was built without the Makefile has its commit from
// the Go toolchain.
func String() string { return describe(Version, cmp.Or(Commit, recorded())) }

func describe(version, commit string) string {
	if commit == "" {
		return version
	}
	return version + " (" + commit[:min(len(commit), 12)] + ")"
}

// recorded is the commit that the toolchain stamped, empty if it did not.
func recorded() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
