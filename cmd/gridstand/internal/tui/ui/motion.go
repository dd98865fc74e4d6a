package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Timing of a move's animation.
const (
	motionTime  = 120 * time.Millisecond
	motionStep  = 24 * time.Millisecond // interval between frames
	motionSteps = int(motionTime / motionStep)
)

// Motion counts the frames of a move's animation. If a frame takes more than twice the
// planned time, the terminal or the connection is slow, and the rest of the game is not
// animated. The zero Motion is idle.
type Motion struct {
	off         bool
	step        int // from 1; 0 while idle
	frame       Timer
	begun, last time.Time
}

// Start starts the animation of a move that has just arrived. Moves that follow each other
// faster than an animation takes are not animated.
func (m *Motion) Start(env *Env, t *Tasks) tea.Cmd {
	m.Stop()
	if m.off || env.Theme.Still || !env.Theme.Colored() {
		return nil
	}
	fast := env.Now.Sub(m.begun) < motionTime
	m.begun, m.last = env.Now, env.Now
	if fast {
		return nil
	}
	m.step = 1
	return m.next(env, t)
}

// Stop ends the animation. The page then shows the finished move.
func (m *Motion) Stop() {
	m.step = 0
	m.frame.Stop()
}

// next waits until the next frame is due.
func (m *Motion) next(env *Env, t *Tasks) tea.Cmd {
	return m.frame.Start(t, motionStep, func() tea.Cmd {
		m.off = env.Now.Sub(m.last) > 2*motionStep
		m.step++
		m.last = env.Now
		if m.off || m.Progress() >= 1 {
			m.step = 0
			return nil
		}
		return m.next(env, t)
	})
}

// Progress returns the progress of the animation from 0 to 1. It is 1 while idle.
func (m *Motion) Progress() float64 {
	if m.step == 0 {
		return 1
	}
	return max(float64(m.step)/float64(motionSteps+1), float64(m.last.Sub(m.begun))/float64(motionTime))
}
