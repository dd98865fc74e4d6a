package watch

import (
	"cmp"
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

// Timing for TV and for following a player.
const (
	checkTime  = time.Second      // how often to check whether to request another game
	resultTime = 6 * time.Second  // how long a result stays on the screen
	idleTime   = 60 * time.Second // how long a game must be idle before TV leaves it for an active one
	leaveTime  = 10 * time.Second // how much longer ago than in another game the player has moved
	otherTime  = 10 * time.Second // interval between requests for an active game
	followTime = 2 * time.Second  // interval between requests for a game of a player who is not playing
	lastWait   = 15 * time.Second // maximum delay between requests by TV if no game is live

	// firstWait is the delay before TV's second request if no game is live; later delays are
	// longer. The first request can make the server start an exhibition, so the first check
	// must make the second request even if the reply to the first one took a while.
	firstWait = checkTime / 2
)

// seenLimit is the number of recently shown games that TV remembers.
const seenLimit = 100

// chooser chooses the games for a page that shows TV or follows a player.
type chooser struct {
	// player is the name of the player to follow, or "" for TV. playerID is empty until it
	// is known.
	player, playerID string
	// why is the reason for the choice of the game, or "".
	why string
	// seen has the ids of the games that were shown, latest last.
	seen []string
	// finding is set while a request for a game is in flight. byUser is set if the user
	// asked for another game.
	finding, byUser bool
	// asked is set if the user asked for the current game.
	asked bool
	// next is the earliest time of the next request. wait is the last delay used while no
	// game was live.
	next time.Time
	wait time.Duration
	// unknown is set if the player does not exist.
	unknown bool
}

// name returns the name of the player to follow, sanitized for the terminal.
func (c *chooser) name() string { return client.CleanName(c.player) }

// ended keeps a game's result on the screen for resultTime.
func (c *chooser) ended(now time.Time) { c.next = now.Add(resultTime) }

// choice is the game to show, or nil if there is no such game.
type choice struct {
	game     *pb.Game
	why      string
	playerID string
}

// due reports whether to request another game in place of g, which may be nil.
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
		return min(age, shown) >= leaveTime
	case c.asked:
		return min(age, shown) >= idleTime
	case gamestate.RankOf(g.state.Game.Game, now) == gamestate.Exhibition:
		return shown >= firstWait
	default: // A request while no game is active can make the server start an exhibition.
		return (age >= idleTime || g.state.Moves() == 0) && shown >= firstWait
	}
}

// find requests a game from the server.
func (c *chooser) find(env *ui.Env, tasks *ui.Tasks, then func(choice, error) tea.Cmd) tea.Cmd {
	if c.finding || c.unknown {
		return nil
	}
	c.finding = true
	server, player, seen, now := env.Server, c.player, slices.Clone(c.seen), env.Now
	f := choice{playerID: c.playerID}
	return ui.Call(tasks, func(ctx context.Context) (_ choice, err error) {
		if player == "" {
			f.game, f.why, err = PickLive(ctx, server, seen, now)
			return f, err
		}
		if f.playerID == "" {
			var p *pb.Player
			p, err = server.PlayerByName(ctx, player)
			f.playerID = p.GetId()
		}
		if err == nil {
			var g client.Game
			g, _, err = server.CurrentGame(ctx, f.playerID)
			f.game = g.Game
		}
		return f, err
	}, then)
}

// found handles the reply to find. It returns the game to switch to, or nil to stay with g,
// and the problem to show, if any.
func (c *chooser) found(f choice, err error, g *game, now time.Time) (to *pb.Game, problem string) {
	byUser := c.byUser
	c.finding, c.byUser, c.playerID = false, false, f.playerID
	other := f.game != nil && (g == nil || f.game.GetId() != g.id)
	switch {
	case !other || !g.running() || byUser:
	case c.player != "":
		other = f.game.GetUpdateTime().AsTime().Sub(g.state.Game.GetUpdateTime().AsTime()) >= leaveTime
	default:
		other = gamestate.RankOf(f.game, now) < gamestate.RankOf(g.state.Game.Game, now)
	}
	if g != nil && g.lookingBack() && !byUser { // since the request, the user went back to an earlier version
		other = false
	}
	switch {
	case g.running():
		c.next = now.Add(otherTime)
	case c.player != "":
		c.next = now.Add(followTime)
	case !other:
		c.wait = min(max(c.wait*2, firstWait), lastWait)
		c.next = now.Add(c.wait)
	}
	switch {
	case errors.Is(err, client.ErrPlayerNotFound):
		c.unknown = true
		return nil, fmt.Sprintf("There is no player named %q. The lobby shows the names of players.", c.name())
	case err != nil && g.running() && !byUser:
		return nil, "" // The game's own stream reports the connection.
	case err != nil && g.running():
		return nil, ui.Explain(err, ui.SameKey)
	case err != nil:
		return nil, ui.Explain(err, "Is it the right server?")
	case !other && byUser:
		return nil, "No other game is live."
	case !other:
		return nil, ""
	}
	c.why, c.asked, c.wait, c.next = f.why, byUser, 0, time.Time{}
	c.seen = append(c.seen, f.game.GetId())
	c.seen = c.seen[max(len(c.seen)-seenLimit, 0):]
	return f.game, ""
}

// PickLive returns the game for TV to show after those in seen, and the reason for the
// choice. It returns nil if no game is live.
func PickLive(ctx context.Context, s ui.Server, seen []string, now time.Time) (*pb.Game, string, error) {
	var all []*pb.Game
	for _, by := range []pb.OrderBy{
		pb.OrderBy_ORDER_BY_WATCHERS, pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_RECENT, // the first two may have only idle games
	} {
		games, err := s.LiveGames(ctx, by)
		if err != nil {
			return nil, "", err
		}
		all = append(all, games...)
	}
	g := choose(all, seen, now)
	return g, reason(g, now), nil
}

// choose picks a game of the best class. Among those, it prefers games that are not in seen, and skips
// the last one in seen unless there is no other. It returns nil if no game is live. all has the most
// watched games first.
func choose(all []*pb.Game, seen []string, now time.Time) *pb.Game {
	all = slices.DeleteFunc(slices.Clone(all), func(g *pb.Game) bool { return board.Of(g.GetPosition(), board.NoMarks, nil) == nil })
	slices.SortStableFunc(all, func(a, b *pb.Game) int {
		return cmp.Compare(gamestate.RankOf(a, now), gamestate.RankOf(b, now))
	})
	except := func(seen []string) *pb.Game {
		return ui.Find(all, func(g *pb.Game) bool { return !slices.Contains(seen, g.GetId()) })
	}
	fresh, other := except(seen), except(seen[max(len(seen)-1, 0):])
	switch {
	case fresh != nil && gamestate.RankOf(fresh, now) <= gamestate.RankOf(other, now):
		return fresh
	case other == nil && len(all) > 0:
		return all[0]
	}
	return other
}

// reason returns the reason for showing a game.
func reason(g *pb.Game, now time.Time) string {
	switch {
	case g == nil:
		return ""
	case g.GetExhibition():
		return "an exhibition: only bots play"
	case gamestate.RankOf(g, now) == gamestate.Watched:
		return "the most watched live game"
	}
	s := gamestate.New(g)
	return "the best live " + s.Variant() + " game"
}
