package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Timing of a move's animation.
const (
	motionTime = 120 * time.Millisecond
	motionStep = 24 * time.Millisecond // interval between frames
)

// Motion is the animation of a move. On a slow terminal, it has fewer frames. The zero Motion is idle.
type Motion struct {
	begun time.Time
	left  float64 // from 1 to 0; 0 while idle
	frame Timer
}

// Start starts the animation of a move that has just arrived. Moves that follow each other
// faster than an animation takes are not animated.
func (m *Motion) Start(env *Env, t *Tasks) tea.Cmd {
	m.Stop()
	if env.Theme.Still || !env.Theme.Colored() {
		return nil
	}
	fast := env.Now.Sub(m.begun) < motionTime
	m.begun = env.Now
	if fast {
		return nil
	}
	m.left = 1 - float64(motionStep)/float64(motionTime)
	return m.next(env, t)
}

// Stop ends the animation. The page then shows the finished move.
func (m *Motion) Stop() {
	m.left = 0
	m.frame.Stop()
}

// next waits until the next frame is due.
func (m *Motion) next(env *Env, t *Tasks) tea.Cmd {
	return m.frame.Start(t, motionStep, func() tea.Cmd {
		left := 1 - float64(env.Now.Sub(m.begun))/float64(motionTime)
		if left <= 0 || left > m.left { // over, or the clock was set back
			m.left = 0
			return nil
		}
		m.left = left
		return m.next(env, t)
	})
}

// Progress returns the progress of the animation from 0 to 1. It is 1 while idle.
func (m *Motion) Progress() float64 { return 1 - m.left }
