package gamestate

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Contest is a challenge that a page shows. Its times are by the server's clock, which it
// estimates from the times in the server's messages.
type Contest struct {
	// Challenge is nil until it is known.
	*pb.Challenge
	// ID is the id of the challenge.
	ID string
	// Attempt is the user's attempt as of the last Load, or nil.
	Attempt *pb.Attempt
	// Lines are lines of the standings: all of them in a race, otherwise the top ones or, after LookUp, those
	// around the user. Total is the number of attempts.
	Lines []*pb.Standing
	Total int32
	// Games has the games of a race's attempts that are followed, by id: at most MaxEntrants, without own.
	Games map[string]*State
	// Err is the reason why the challenge is unknown or no longer followed, or nil.
	Err error

	env    *ui.Env
	tasks  *ui.Tasks
	online client.Connection
	ahead  time.Duration // server clock minus client clock
	timed  bool          // whether ahead is known
	next   ui.Timer      // waits for the next tick
	tries  int           // number of requests of LookUp
	own    string        // see NewContest
}

// NewContest returns a contest that knows only the challenge's id. It follows the boards of a race once the
// race is open. If the page plays the game own, it does not follow that game's board, and the server
// does not count the user as a watcher of the others. Otherwise, own is "".
func NewContest(env *ui.Env, tasks *ui.Tasks, id, own string) *Contest {
	return &Contest{ID: id, env: env, tasks: tasks, own: own, Games: map[string]*State{}}
}

// Load requests the challenge and the user's attempt. If it is a race in which the page plays, Load then starts
// following it.
func (c *Contest) Load() tea.Cmd {
	return ui.Call(c.tasks, func(ctx context.Context) (*pb.GetChallengeResponse, error) {
		return c.env.Server.GetChallenge(ctx, &pb.GetChallengeRequest{ChallengeId: c.ID})
	}, c.loaded)
}

// Watch starts following the challenge.
func (c *Contest) Watch() tea.Cmd {
	return ui.Follow(c.tasks, c.env.Server.WatchChallenge(c.tasks.Ctx, c.ID), c.Update)
}

// neighbors is the number of lines above and below the user's that LookUp requests.
const neighbors = 3

// LookUp requests the standings around the user, once, after the attempt has ended. A race needs none, since
// Lines has all.
func (c *Contest) LookUp() tea.Cmd {
	if c.tries > 0 || c.Challenge == nil || c.Race() {
		return nil
	}
	return c.lookUp()
}

// lookUp requests the standings around the user, and again if the attempt is not in the standings yet.
func (c *Contest) lookUp() tea.Cmd {
	c.tries++
	return ui.Call(c.tasks, func(ctx context.Context) (*pb.ListStandingsResponse, error) {
		return c.env.Server.ListStandings(ctx, &pb.ListStandingsRequest{ChallengeId: c.ID, PlayerId: "me", Neighbors: neighbors})
	}, func(around *pb.ListStandingsResponse, err error) tea.Cmd {
		if err != nil {
			return c.tasks.Again(c.tries, c.lookUp)
		}
		c.Lines, c.Total = around.GetStandings(), around.GetTotal()
		return nil
	})
}

func (c *Contest) loaded(reply *pb.GetChallengeResponse, err error) tea.Cmd {
	var watch tea.Cmd
	switch {
	case errors.Is(err, client.ErrUnreachable): // The stream reconnects, too, and shows it.
		return c.tasks.Later(time.Second, c.Load)
	case err != nil && c.Challenge == nil:
		c.Err = err
	case err == nil:
		c.Attempt = reply.GetAttempt()
		if !c.timed { // the stream's times are more accurate
			c.Challenge = reply.GetChallenge()
			c.setTime(reply.GetNow().AsTime())
			if c.own != "" && c.Race() {
				watch = c.Watch()
			}
		}
	}
	return tea.Batch(watch, c.tick(), c.follow())
}

// Update handles an update of the challenge, or the end of its stream.
func (c *Contest) Update(u client.ChallengeUpdate, err error) tea.Cmd {
	if err != nil {
		if !errors.Is(err, io.EOF) {
			c.Err = err
			c.tasks.Say("") // The status says why for as long as the page is open.
		}
		return nil
	}
	c.online = u.Connection
	if s := u.Snapshot; s != nil {
		c.Err, c.Challenge, c.Lines, c.Total = nil, s.GetChallenge(), s.GetStandings(), s.GetTotal()
		c.setTime(s.GetNow().AsTime())
	}
	return tea.Batch(c.tick(), c.follow())
}

// Is reports whether the challenge is known to be of the given kind.
func (c *Contest) Is(kind pb.ChallengeKind) bool { return c.Challenge != nil && c.GetKind() == kind }

// Race reports whether the challenge is known to be a race.
func (c *Contest) Race() bool { return c.Is(pb.ChallengeKind_CHALLENGE_KIND_RACE) }

// Entrant returns the user's entry on the roster of a race, or nil.
func (c *Contest) Entrant() *pb.Entrant {
	return ui.Find(c.GetEntrants(), func(e *pb.Entrant) bool { return c.env.Is(e.GetPlayer()) })
}

// Hosts reports whether the user may start the race and choose its bots: its creator or, once the creator
// has left, each player in it.
func (c *Contest) Hosts() bool {
	left := !slices.ContainsFunc(c.GetEntrants(), func(e *pb.Entrant) bool {
		return e.GetPlayer().GetId() == c.GetCreator().GetId()
	})
	return c.env.Is(c.GetCreator()) || left && c.Entrant() != nil
}

// Standing returns the line of a game in the standings, or nil.
func (c *Contest) Standing(gameID string) *pb.Standing {
	return ui.Find(c.Lines, func(line *pb.Standing) bool { return line.GetGameId() == gameID })
}

// Leads reports whether a game leads the race, or has won it. It needs points.
func (c *Contest) Leads(gameID string) bool {
	line := c.Standing(gameID)
	return line.GetRank() == 1 && line.GetScore() > 0
}

// Again returns the next race, with the same settings and bots. All who were in this race get the
// same one.
func (c *Contest) Again() *ui.NewChallenge {
	n := &ui.NewChallenge{Request: &pb.CreateChallengeRequest{Kind: c.GetKind()}}
	if c.Entrant() != nil {
		n.Request.PreviousChallengeId = c.GetId()
	} else {
		n.Request.Variant, n.Request.Limit, n.Request.Private = c.GetVariant(), c.GetLimit(), c.GetPrivate()
	}
	for _, e := range c.GetEntrants() {
		if bot := e.GetBot(); bot != "" {
			n.Bots = append(n.Bots, bot)
		}
	}
	return n
}

// ConnectionProblem is like State's, for the challenge's stream.
func (c *Contest) ConnectionProblem() string { return problem(c.Err, c.online) }

// Reconnecting reports whether the connection is lost.
func (c *Contest) Reconnecting() bool { return c.online.State == client.Reconnecting }

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
	if own := c.Attempt.GetDeadline(); own != nil && !c.Race() && c.Attempt.GetStatus() != pb.GameStatus_GAME_STATUS_FINISHED {
		end = own
	}
	if end == nil {
		return 0, false
	}
	return max(end.AsTime().Sub(c.Now()), 0), true
}

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

// tick waits until the countdown or the stage of the challenge changes, and then follows the boards of an
// open race.
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
	if wait <= 0 { // A hostile server's time can be too far away for a Duration.
		return nil
	}
	return c.next.Start(c.tasks, wait, func() tea.Cmd { return tea.Batch(c.tick(), c.follow()) })
}
