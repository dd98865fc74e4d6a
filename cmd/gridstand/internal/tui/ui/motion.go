package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Times of the motion of a move.
const (
	motionTime  = 120 * time.Millisecond
	motionStep  = 24 * time.Millisecond // from frame to frame
	motionSteps = int(motionTime / motionStep)
)

// Motion counts the frames in which a page shows a move. It stops for the game once a frame
// comes more than twice as late as planned: then the terminal or the connection is slow.
// The zero Motion shows nothing.
type Motion struct {
	off         bool
	step        int // from 1; 0 if nothing moves
	run         int // counts moves, so that frames of an earlier one are dropped
	begun, last time.Time
}

// FrameMsg is the time of a motion's next frame.
type FrameMsg struct {
	motion *Motion
	run    int
}

// Start begins to show a move that the page has just learned of. Moves that follow each
// other faster than a motion takes are not shown in motion.
func (m *Motion) Start(env *Env, t *Tasks) tea.Cmd {
	m.step = 0
	if m.off || env.Theme.Still || !env.Theme.Colored() {
		return nil
	}
	fast := env.Now.Sub(m.begun) < motionTime
	m.begun, m.last = env.Now, env.Now
	if fast {
		return nil
	}
	m.run++
	m.step = 1
	return t.After(motionStep, FrameMsg{m, m.run})
}

// Reset allows motions again, for the next game.
func (m *Motion) Reset() { m.off, m.step = false, 0 }

// Stop shows the move as made.
func (m *Motion) Stop() { m.step = 0 }

// Update handles the time of a frame.
func (m *Motion) Update(msg FrameMsg, env *Env, t *Tasks) tea.Cmd {
	if msg.motion != m || msg.run != m.run || m.step == 0 {
		return nil
	}
	m.off = env.Now.Sub(m.last) > 2*motionStep
	m.step++
	m.last = env.Now
	if m.off || m.Progress() >= 1 {
		m.step = 0
		return nil
	}
	return t.After(motionStep, msg)
}

// Progress is how far the move is shown, from 0 to 1; 1 if nothing moves.
func (m *Motion) Progress() float64 {
	if m.step == 0 {
		return 1
	}
	return max(float64(m.step)/float64(motionSteps+1), float64(m.last.Sub(m.begun))/float64(motionTime))
}
