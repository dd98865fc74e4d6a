package testkit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
)

// recorder records what Skip does to a test.
type recorder struct {
	testing.TB

	name            string
	skipped, failed bool
}

func (r *recorder) Name() string          { return r.name }
func (r *recorder) Helper()               {}
func (r *recorder) Skip(...any)           { r.skipped = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true }

func TestLongtest_Skip(t *testing.T) {
	for _, tt := range []struct {
		name, value     string
		skipped, failed bool
	}{
		{"TestStorm_long", "", true, false},
		{"TestStorm_long", "1", false, false},
		{"TestStorm", "1", false, true},
	} {
		t.Setenv("TEST_LONG", tt.value)
		r := &recorder{TB: t, name: tt.name}
		longtest.Skip(r)
		assert.Equal(t, tt.skipped, r.skipped, tt)
		assert.Equal(t, tt.failed, r.failed, tt)
	}
}
