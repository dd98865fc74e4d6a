package ui_test

import (
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// run plays an animation and returns the progress at every frame. each is the time between
// frames.
func run(t *testing.T, m *ui.Motion, env *ui.Env, each time.Duration) (shown []float64) {
	t.Helper()
	tasks := ui.NewTasks(t.Context())
	defer tasks.Stop()
	ended := 0
	cmd := m.Start(env, tasks, func() { ended++ })
	started := cmd != nil
	for cmd != nil {
		shown = append(shown, m.Progress())
		next := cmd().(ui.TaskMsg).Then
		env.Now = env.Now.Add(each)
		cmd = next()
		require.Less(t, len(shown), 20)
	}
	assert.InDelta(t, 1, m.Progress(), 0, "the animation is complete")
	assert.Equal(t, started, ended == 1, "the end is reported once")
	return shown
}

// Ensure that a move is animated within 120 ms, and that animations stop once a frame takes
// more than twice the planned time.
func TestMotion(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	const frame = 24 * time.Millisecond
	env := &ui.Env{Theme: style.Theme{Profile: colorprofile.TrueColor}, Now: time.Unix(0, 0)}
	var m ui.Motion
	shown := run(t, &m, env, frame)
	assert.Len(t, shown, 5)
	assert.IsIncreasing(t, shown)
	assert.Equal(t, 5*frame, env.Now.Sub(time.Unix(0, 0)))
	assert.Len(t, run(t, &m, env, 2*frame), 3, "late frames are skipped")
	assert.Len(t, run(t, &m, env, 2*frame+1), 1)
	env.Now = env.Now.Add(time.Hour)
	assert.Empty(t, run(t, &m, env, frame), "a slow terminal gets no more frames")

	m = ui.Motion{}
	assert.Len(t, run(t, &m, env, frame), 5)
	tasks := ui.NewTasks(t.Context())
	defer tasks.Stop()
	require.NotNil(t, m.Start(env, tasks, func() {}))
	assert.Nil(t, m.Start(env, tasks, func() {}), "the next move came too early")
	assert.InDelta(t, 1, m.Progress(), 0)

	for _, theme := range []style.Theme{{Profile: colorprofile.ASCII}, {Profile: colorprofile.TrueColor, Still: true}} {
		env.Theme = theme
		assert.Empty(t, run(t, new(ui.Motion), env, frame))
	}
}
