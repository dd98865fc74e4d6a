package watch

import (
	"cmp"
	"context"
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
	emptyTime  = 2 * time.Second  // interval between requests while there is no game to show
)

// seenLimit is the number of recently shown games that TV remembers.
const seenLimit = 100

// chooser chooses the games for a page that shows TV or follows a player.
type chooser struct {
	// player is the player to follow, or nil for TV.
	player *pb.Player
	// seen has the ids of the games that were shown, each once, latest last.
	seen []string
	// finding is set while a request for a game is in flight. byUser is set if the user
	// asked for another game.
	finding, byUser bool
	// asked is set if the user asked for the current game.
	asked bool
	// next is the earliest time of the next request.
	next time.Time
}

// name returns the name of the player to follow, sanitized for the terminal.
func (c *chooser) name() string { return client.CleanName(c.player.GetName()) }

// ended keeps a game's result on the screen for resultTime.
func (c *chooser) ended(now time.Time) { c.next = now.Add(resultTime) }

// due reports whether to request another game in place of g, which may be nil.
func (c *chooser) due(g *game, now time.Time) bool {
	switch {
	case c.finding || now.Before(c.next):
		return false
	case g != nil && g.lookingBack():
		return false
	case !g.running():
		return true
	}
	age, _ := gamestate.Idle(g.Game.Game, now)
	shown := now.Sub(g.since)
	switch {
	case c.player != nil:
		return min(age, shown) >= leaveTime
	case c.asked:
		return min(age, shown) >= idleTime
	default: // A request while no game is active can make the server start an exhibition.
		return age >= idleTime || g.Moves() == 0 || g.Game.GetExhibition()
	}
}

// find requests the best game to show from the server, or nil if there is none.
func (c *chooser) find(env *ui.Env, tasks *ui.Tasks, then func(*pb.Game, error) tea.Cmd) tea.Cmd {
	if c.finding {
		return nil
	}
	c.finding = true
	server, player, seen, now := env.Server, c.player, slices.Clone(c.seen), env.Now
	return ui.Call(tasks, func(ctx context.Context) (*pb.Game, error) {
		if player != nil {
			g, _, err := server.CurrentGame(ctx, player.GetId())
			return g.Game, err
		}
		games, err := LiveGames(ctx, server, seen, now)
		if len(games) == 0 {
			return nil, err
		}
		return games[0], err
	}, then)
}

// found handles the reply to find. It returns the game to switch to, or nil to stay with g,
// and the problem to show, if any.
func (c *chooser) found(best *pb.Game, err error, g *game, now time.Time) (to *pb.Game, problem string) {
	byUser := c.byUser
	c.finding, c.byUser = false, false
	other := best != nil && (g == nil || best.GetId() != g.Game.GetId())
	switch {
	case !other || !g.running() || byUser:
	case c.player != nil:
		other = best.GetUpdateTime().AsTime().Sub(g.Game.GetUpdateTime().AsTime()) >= leaveTime
	default:
		other = gamestate.RankOf(best, now) < gamestate.RankOf(g.Game.Game, now)
	}
	if g != nil && g.lookingBack() && !byUser { // since the request, the user went back to an earlier version
		other = false
	}
	c.next = now.Add(emptyTime)
	if g.running() {
		c.next = now.Add(otherTime)
	}
	switch {
	case err != nil && g.running() && !byUser:
		return nil, "" // The game's own stream reports the connection.
	case err != nil && g.running():
		return nil, ui.Explain(err, ui.SameKey)
	case err != nil:
		return nil, ui.Explain(err, ui.Gone)
	case !other && byUser:
		return nil, "No other game is live."
	case !other:
		return nil, ""
	}
	c.asked, c.next = byUser, time.Time{}
	c.seen = slices.DeleteFunc(c.seen, func(id string) bool { return id == best.GetId() })
	c.seen = append(c.seen, best.GetId())
	c.seen = c.seen[max(len(c.seen)-seenLimit, 0):]
	return best, ""
}

// LiveGames returns live games in the order in which TV prefers them after those in seen.
func LiveGames(ctx context.Context, s ui.Server, seen []string, now time.Time) ([]*pb.Game, error) {
	var all []*pb.Game
	for _, by := range []pb.OrderBy{
		pb.OrderBy_ORDER_BY_WATCHERS, pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_RECENT, // the first two may have only idle games
	} {
		games, err := s.LiveGames(ctx, by)
		if err != nil {
			return nil, err
		}
		all = append(all, games...)
	}
	return choose(all, seen, now), nil
}

// choose sorts games as TV prefers them: games in motion before others, then games that are not in seen or
// were shown longest ago, then watched games. The last one in seen is the current one and comes last. all
// has the most watched games first, and may have a game several times.
func choose(all []*pb.Game, seen []string, now time.Time) []*pb.Game {
	var games []*pb.Game
	for _, g := range all {
		drawable := board.Of(g.GetPosition(), board.NoMarks, nil) != nil
		if drawable && !slices.ContainsFunc(games, func(other *pb.Game) bool { return other.GetId() == g.GetId() }) {
			games = append(games, g)
		}
	}
	shown := func(g *pb.Game) int { return slices.Index(seen, g.GetId()) }
	class := func(g *pb.Game) gamestate.Rank {
		if i := shown(g); i >= 0 && i == len(seen)-1 {
			return gamestate.NoMove + 1
		}
		return max(gamestate.RankOf(g, now), gamestate.InMotion)
	}
	slices.SortStableFunc(games, func(a, b *pb.Game) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(shown(a), shown(b)),
			cmp.Compare(gamestate.RankOf(a, now), gamestate.RankOf(b, now)))
	})
	return games
}
