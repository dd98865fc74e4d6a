package version

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ version, commit, want string }{
		{"dev", "", "dev"},
		{"dev", "2b935ce", "dev (2b935ce)"},
		{"v1.2.0", "2b935ce403106d116689ddc5f59f20eb1753eaec", "v1.2.0 (2b935ce40310)"},
	} {
		assert.Equal(t, tc.want, describe(tc.version, tc.commit))
	}
}

// Ensure that the linker's values take precedence, and that the version of a build without one is
// "dev".
func TestResolve(t *testing.T) {
	t.Parallel()
	recorded := &debug.BuildInfo{
		Main:     debug.Module{Version: "v0.1.0"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "2b935ce"}},
	}
	unknown := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}
	for _, tc := range []struct {
		version, commit string
		info            *debug.BuildInfo
		want            string
	}{
		{"v1.2.0", "abc", recorded, "v1.2.0 (abc)"},
		{"", "", recorded, "v0.1.0 (2b935ce)"},
		{"", "", unknown, "dev"},
		{"", "", &debug.BuildInfo{}, "dev"},
	} {
		assert.Equal(t, tc.want, describe(resolve(tc.version, tc.commit, tc.info)))
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	assert.Contains(t, String(), Version)
}
