package widget

import (
	"fmt"
	"testing"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// keys returns n keys, with labels from "key1" on.
func keys(n int) []key.Binding {
	var all []key.Binding
	for i := range n {
		all = append(all, ui.Bind(fmt.Sprintf("key%d", i+1), "does something"))
	}
	return all
}

// Ensure that a help that is taller than the window can be scrolled to its end, and that another
// key is not taken for scrolling.
func TestHelp_Scroll(t *testing.T) {
	t.Parallel()
	at, groups := NewScroll(), [][]key.Binding{keys(30)}
	const width, height = 40, 12
	drawn := func() string { return ansi.Strip(Help(style.Theme{}, groups, width, height, at)) }
	assert.Contains(t, drawn(), "key1 ")
	assert.NotContains(t, drawn(), "key30")
	across, down := lipgloss.Size(drawn())
	assert.LessOrEqual(t, across, width)
	assert.LessOrEqual(t, down, height)
	for range 30 {
		assert.True(t, at.Key(tea.KeyPressMsg{Code: tea.KeyDown}))
	}
	assert.Contains(t, drawn(), "key30")
	assert.NotContains(t, drawn(), "key1 ")
	assert.False(t, at.Key(tea.KeyPressMsg{Code: 'x', Text: "x"}))

	groups = [][]key.Binding{keys(3)}
	assert.Contains(t, drawn(), "key1 ")
	assert.False(t, at.Key(tea.KeyPressMsg{Code: tea.KeyDown}), "the whole text is visible")
}

// Ensure that a footer that is too long keeps its first keys and its last two.
func TestKeyLine(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		200: "key1 does something   key2 does something   key3 does something   key4 does something",
		65:  "key1 does something   key3 does something   key4 does something",
		45:  "key3 does something   key4 does something",
		25:  "key4 does something",
		10:  "key4 does…",
	} {
		assert.Equal(t, want, ansi.Strip(KeyLine(style.Theme{}, keys(4), width)), width)
	}
}
