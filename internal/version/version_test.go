package version

import (
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

func TestString(t *testing.T) {
	t.Parallel()
	assert.Contains(t, String(), Version)
}
