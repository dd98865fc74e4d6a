package app

import (
	"image/color"
	"io"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/palette"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The tests in this file are those of the packages that all pages use. They are here so that only
// one program has to be linked for them.

// Ensure that a timer runs only the task with which it was started last, and none once it is stopped.
func TestTimer(t *testing.T) {
	t.Parallel()
	tasks, timer, ran := ui.NewTasks(t.Context()), ui.Timer{}, ""
	start := func(d time.Duration, name string) tea.Cmd {
		return timer.Start(tasks, d, func() tea.Cmd { ran += name; return nil })
	}
	ended := start(0, "first")().(ui.TaskMsg)
	waiting, second := start(time.Hour, "waiting"), start(0, "second")
	ended.Then()
	assert.Nil(t, waiting(), "it does not wait longer, and brings no message")
	second().(ui.TaskMsg).Then()
	assert.Equal(t, "second", ran)
	ended = start(0, "third")().(ui.TaskMsg)
	timer.Stop()
	ended.Then()
	assert.Equal(t, "second", ran)
}

// numbers is a stream that has the numbers up to its value, all at once.
type numbers struct{ next, end int }

func (n *numbers) Next() (int, error) {
	if n.next == n.end {
		return 0, io.EOF
	}
	n.next++
	return n.next, nil
}

// Ensure that the updates that have arrived are handled with one message, in order and each once.
func TestFollow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const all = 1000
		tasks, messages, got := ui.NewTasks(t.Context()), make(chan ui.TaskMsg, 1), []int{}
		var run func(cmd tea.Cmd)
		run = func(cmd tea.Cmd) {
			switch msg := cmd().(type) {
			case tea.BatchMsg:
				for _, c := range msg {
					go run(c)
				}
			case ui.TaskMsg:
				messages <- msg
			}
		}
		run(ui.Follow(tasks, &numbers{end: all}, func(n int, err error) tea.Cmd {
			if got = append(got, n); err != nil {
				tasks.Stop()
			}
			return nil
		}))
		handled := 0
		for ; tasks.Ctx.Err() == nil; handled++ {
			synctest.Wait() // as if drawing took long
			run((<-messages).Then())
		}
		for i, n := range got[:all] {
			require.Equal(t, i+1, n)
		}
		assert.Len(t, got, all+1, "and the end")
		assert.Less(t, handled, 10)
	})
}

// Ensure that a header leaves out its outer parts, those on the left first, and then truncates the title.
func TestHeader(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		40: "GRIDSTAND  TV  classic  1:00  live  here", 41: "GRIDSTAND  TV  classic   1:00  live  here",
		39: "TV  classic            1:00  live  here", 24: "TV  classic   1:00  live", 22: "classic     1:00  live", 12: "class…  1:00", 3: "1:…",
	} {
		assert.Equal(t, want, ui.Header(width, []string{"GRIDSTAND", "TV", "classic"}, []string{"1:00", "live", "here"}))
	}
	assert.Equal(t, "GRIDSTAND   ", ui.Header(12, []string{"GRIDSTAND"}, nil))
}

// Ensure that the badge shows the state of the connection, but only until the game is over.
func TestBadge(t *testing.T) {
	t.Parallel()
	g := &pb.Game{Status: pb.GameStatus_GAME_STATUS_ACTIVE}
	s := gamestate.New(g)
	assert.Contains(t, s.Badge(ui.Theme{}, time.Time{}), "◌ connecting")
	g.Status = pb.GameStatus_GAME_STATUS_FINISHED
	assert.Contains(t, s.Badge(ui.Theme{}, time.Time{}), "■ finished")
}

// Ensure that people with low vision can read the page and the terminal: WCAG 2 requires a contrast
// of 4.5 for text. Numbers on tiles need it too, because they are small in previews and terminals.
func TestPalette_Contrast(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*palette.Palette{"dark": &palette.Dark, "light": &palette.Light} {
		for ground, c := range map[string]color.Color{"ground": p.Ground, "page card": p.PageCard} {
			for text, ink := range map[string]color.Color{
				"text": p.Text, "dim": p.Dim, "accent": p.Accent,
				"good": p.Good, "warn": p.Warn, "bad": p.Bad,
			} {
				assert.GreaterOrEqual(t, contrast(c, ink), 4.5, "%s, %s on %s", name, text, ground)
			}
		}
		for i, tone := range slices.Concat(p.Tiles[:], palette.Classic.Tiles[:], palette.VT100.Tiles[:]) {
			assert.GreaterOrEqual(t, contrast(tone.Ground, tone.Ink), 4.5, "%s, tile %d", name, 2<<(i%17))
		}
		for i := range p.Owners {
			assert.GreaterOrEqual(t, contrast(p.Owners[i].Ground, p.Owners[i].Ink), 4.5, "%s, owner %d", name, i)
			assert.GreaterOrEqual(t, contrast(p.Fresh[i].Ground, p.Fresh[i].Ink), 4.5, "%s, fresh %d", name, i)
		}
	}
}

// contrast returns the contrast ratio of two colors as WCAG 2 defines it, from 1 to 21.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of a color as WCAG 2 defines it, from 0 to 1.
func luminance(c color.Color) float64 {
	linear := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.03928 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
