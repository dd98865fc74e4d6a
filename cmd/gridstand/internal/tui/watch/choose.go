package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Times of TV, and of following a player.
const (
	checkTime  = time.Second      // between two checks whether to look for another game
	resultTime = 6 * time.Second  // for which a result stays on the screen
	idleTime   = 60 * time.Second // after which TV leaves a game if another one moves
	otherTime  = 10 * time.Second // between two looks for a game that moves
	firstWait  = 2 * time.Second  // before looking again if no game is live
	lastWait   = 15 * time.Second // the longest such wait of TV
)

// seenLimit bounds the games that TV remembers to have shown.
const seenLimit = 100

// chooser chooses the games of a page: TV, or the games of a player.
type chooser struct {
	// player is the name of the player to follow, empty for TV. playerID is empty until it
	// is known.
	player, playerID string
	// why says why the game was chosen, empty if there is nothing to say.
	why string
	// seen are the games shown, the last one at the end.
	seen []string
	// finding is set while the server is asked; byUser if the user wanted another game.
	finding, byUser bool
	// asked is set if the user wanted the game that is shown.
	asked bool
	// next is when to ask again at the earliest. wait is the last wait while there was no
	// game.
	next time.Time
	wait time.Duration
	// unknown is set if there is no such player.
	unknown bool
}

// name is the name of the player to follow, safe for a terminal.
func (c *chooser) name() string { return client.CleanName(c.player) }

// checkMsg comes every checkTime.
type checkMsg struct{}

// ended leaves the result of a game on the screen for a while.
func (c *chooser) ended(now time.Time) { c.next = now.Add(resultTime) }

// foundMsg brings the game to show, nil if there is none.
type foundMsg struct {
	game     *pb.Game
	why      string
	playerID string
	err      error
}

// due reports whether to ask the server for a game in place of g, which may be nil.
func (c *chooser) due(g *game, now time.Time) bool {
	switch {
	case c.finding || c.unknown || now.Before(c.next):
		return false
	case g != nil && g.lookingBack():
		return false
	case !g.running():
		return true
	}
	age, _ := g.state.Idle(now)
	shown := now.Sub(g.since)
	switch {
	case c.player != "":
		return min(age, shown) >= gamestate.LeaveTime
	case c.asked:
		return min(age, shown) >= idleTime
	default: // The server may begin an exhibition if it is asked while no game moves.
		return age >= idleTime && shown >= firstWait
	}
}

// find asks the server for a game.
func (c *chooser) find(env *ui.Env, tasks *ui.Tasks) tea.Cmd {
	if c.finding || c.unknown {
		return nil
	}
	c.finding = true
	server, player, seen, now := env.Server, c.player, slices.Clone(c.seen), env.Now
	f := foundMsg{playerID: c.playerID}
	return tasks.Do(func(ctx context.Context) tea.Msg {
		if player == "" {
			f.game, f.why, f.err = PickLive(ctx, server, seen, now)
			return f
		}
		if f.playerID == "" {
			f.playerID, f.err = server.PlayerID(ctx, player)
		}
		if f.err == nil {
			f.game, f.err = server.PlayerGame(ctx, f.playerID)
		}
		return f
	})
}

// found handles what the server answered. It returns the game to go to, nil to stay with
// g, and the problem to show, empty for none.
func (c *chooser) found(msg foundMsg, g *game, now time.Time) (to *pb.Game, problem string) {
	byUser := c.byUser
	c.finding, c.byUser, c.playerID = false, false, msg.playerID
	other := msg.game != nil && (g == nil || msg.game.GetId() != g.id)
	switch {
	case !other || !g.running() || byUser:
	case c.player != "":
		other = gamestate.LeftFor(g.state.Game.Game, msg.game, gamestate.LeaveTime)
	default:
		s := gamestate.New(msg.game)
		_, idle := s.Idle(now)
		other = !idle
	}
	if g != nil && g.lookingBack() && !byUser { // since the server was asked
		other = false
	}
	switch {
	case g.running():
		c.next = now.Add(otherTime)
	case c.player != "":
		c.next = now.Add(firstWait)
	case !other:
		c.wait = min(max(c.wait*2, firstWait), lastWait)
		c.next = now.Add(c.wait)
	}
	switch {
	case errors.Is(msg.err, client.ErrPlayerNotFound):
		c.unknown = true
		return nil, fmt.Sprintf("There is no player named %q. The lobby and the leaderboards show the names of players.", c.name())
	case msg.err != nil && g.running():
		return nil, ui.Explain(msg.err, ui.SameKey)
	case msg.err != nil:
		return nil, ui.Explain(msg.err, "Is it the right one?")
	case !other && byUser:
		return nil, "No other game is live."
	case !other:
		return nil, ""
	}
	c.why, c.asked, c.wait, c.next = msg.why, byUser, 0, time.Time{}
	c.seen = append(c.seen, msg.game.GetId())
	c.seen = c.seen[max(len(c.seen)-seenLimit, 0):]
	return msg.game, ""
}

// PickLive returns the game that TV would show after those that were seen, and why, nil if
// none is live.
func PickLive(ctx context.Context, s ui.Server, seen []string, now time.Time) (*pb.Game, string, error) {
	watched, err := s.LiveGames(ctx, pb.OrderBy_ORDER_BY_WATCHERS)
	if err != nil {
		return nil, "", err
	}
	best, err := s.LiveGames(ctx, pb.OrderBy_ORDER_BY_SCORE)
	if err != nil {
		return nil, "", err
	}
	recent, err := s.LiveGames(ctx, pb.OrderBy_ORDER_BY_RECENT) // the others may list idle games only
	if err != nil {
		return nil, "", err
	}
	g, why := choose(watched, append(best, recent...), seen, now)
	return g, why, nil
}

// choose picks the most watched game, otherwise the first of best: one that was not seen,
// then one but the last seen. Games without a move for idleTime come last. It returns nil
// if nothing is live.
func choose(watched, best []*pb.Game, seen []string, now time.Time) (*pb.Game, string) {
	last := seen[max(len(seen)-1, 0):]
	for _, but := range []struct {
		seen []string
		idle bool
	}{{seen, false}, {last, false}, {seen, true}, {last, true}, {nil, true}} {
		fits := func(g *pb.Game) bool {
			return board.Of(g.GetPosition(), board.NoMarks, nil) != nil && !slices.Contains(but.seen, g.GetId()) &&
				(but.idle || now.Sub(g.GetUpdateTime().AsTime()) < idleTime)
		}
		if i := slices.IndexFunc(watched, fits); i >= 0 && watched[i].GetWatchers() > 0 {
			return watched[i], exhibitionOr(watched[i], "the most watched live game")
		}
		if i := slices.IndexFunc(best, fits); i >= 0 {
			s := gamestate.New(best[i])
			return best[i], exhibitionOr(best[i], "the best live "+s.Variant()+" game")
		}
	}
	return nil, ""
}

// exhibitionOr is why a game is shown: as an exhibition, or otherwise for a reason.
func exhibitionOr(g *pb.Game, why string) string {
	if g.GetExhibition() {
		return "an exhibition: only bots play"
	}
	return why
}
