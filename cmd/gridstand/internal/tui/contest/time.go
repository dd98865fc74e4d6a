package contest

import (
	"time"

	tea "charm.land/bubbletea/v2"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// setTime estimates the server's clock from the time in a message. It ignores messages that
// took longer to arrive than an earlier one, since they are less accurate.
func (c *Contest) setTime(now time.Time) {
	const jump = 2 * time.Second // a larger difference means that a clock was adjusted
	ahead := now.Sub(c.env.Now)
	if !c.timed || ahead > c.ahead || c.ahead-ahead > jump {
		c.ahead, c.timed = ahead, true
	}
}

// Now returns the current time by the server's clock.
func (c *Contest) Now() time.Time { return c.env.Now.Add(c.ahead) }

// Stage returns the current stage of the challenge, or unspecified while it is unknown.
func (c *Contest) Stage() pb.ChallengeStatus {
	now := c.Now()
	switch opens, closes := c.GetOpenTime(), c.GetCloseTime(); {
	case c.Challenge == nil:
		return pb.ChallengeStatus_CHALLENGE_STATUS_UNSPECIFIED
	case opens == nil:
		return pb.ChallengeStatus_CHALLENGE_STATUS_WAITING
	case now.Before(opens.AsTime()):
		return pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED
	case now.Before(closes.AsTime()):
		return pb.ChallengeStatus_CHALLENGE_STATUS_OPEN
	default:
		return pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED
	}
}

// Open reports whether the challenge is open now.
func (c *Contest) Open() bool { return c.Stage() == pb.ChallengeStatus_CHALLENGE_STATUS_OPEN }

// Closed reports whether the challenge is closed now.
func (c *Contest) Closed() bool { return c.Stage() == pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED }

// Left returns the time left for the user's attempt. In a race, or if the user has no
// running attempt, it returns the time left in the challenge. It returns false if no end
// time is set yet.
func (c *Contest) Left() (time.Duration, bool) {
	end := c.GetCloseTime()
	// A race's end can change, which makes the deadline from the last Load stale.
	if own := c.Attempt.GetDeadline(); own != nil && !c.Race() && !c.finished() {
		end = own
	}
	if end == nil {
		return 0, false
	}
	return max(end.AsTime().Sub(c.Now()), 0), true
}

// finished reports whether the user's attempt was over at the last Load.
func (c *Contest) finished() bool { return c.Attempt.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED }

// Expired reports whether the time for the user's attempt has run out.
func (c *Contest) Expired() bool {
	left, ok := c.Left()
	return ok && left == 0
}

// Countdown returns the number of seconds until the challenge opens, or 0 if it is not
// about to open.
func (c *Contest) Countdown() int {
	if c.Stage() != pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED {
		return 0
	}
	return int((c.GetOpenTime().AsTime().Sub(c.Now()) + time.Second - 1) / time.Second)
}

// tick returns the command that sends a tickMsg when the countdown or the stage changes.
func (c *Contest) tick() tea.Cmd {
	var wait time.Duration
	switch c.Stage() {
	case pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED:
		wait = c.GetOpenTime().AsTime().Sub(c.Now()) - time.Duration(c.Countdown()-1)*time.Second
	case pb.ChallengeStatus_CHALLENGE_STATUS_OPEN:
		wait = c.GetCloseTime().AsTime().Sub(c.Now())
	default:
		return nil
	}
	c.ticks++
	return c.tasks.After(wait, tickMsg{c.ticks})
}
