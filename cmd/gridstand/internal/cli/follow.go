package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// followEvery is how often a follower checks which game a player is playing. Tests change it.
var followEvery = time.Second

// gameToWatch returns the game with the given id, or the game that the given player is
// playing now.
func (p *program) gameToWatch(ctx context.Context, c *client.Client, text string) (client.Game, error) {
	if !strings.HasPrefix(text, atPlayer) {
		return p.game(ctx, c, text)
	}
	player, err := p.player(ctx, c, text)
	if err != nil {
		return client.Game{}, err
	}
	g, found, err := c.CurrentGame(ctx, player.GetId())
	if err == nil && !found {
		called := client.CleanName(player.GetName())
		text := called + " is not playing a public game now"
		if past := p.typed("games", "--player", strconv.Quote(called)); past != "" {
			text += ". Past games: " + past
		}
		err = missingf("%s", text)
	}
	return g, err
}

// followLines prints the updates of the game that a player is playing, and of the
// player's next games.
func (p *program) followLines(ctx context.Context, who string) error {
	c, disconnect, err := p.dial()
	if err != nil {
		return err
	}
	defer disconnect()
	player, err := p.player(ctx, c, who)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for noted := false; ; {
		g, found, err := c.CurrentGame(ctx, player.GetId())
		switch {
		case transient(err):
			p.noteRetry(followEvery, err)
		case err != nil:
			return err
		case found:
			if err := p.followGame(ctx, c, player, g); err != nil {
				return err
			}
			noted = false
		case !noted:
			p.notef("%s is not playing a public game now; waiting for the next one.", client.CleanName(player.GetName()))
			noted = true
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// followGame prints the updates of a game until it ends or the player moves on to another
// game.
func (p *program) followGame(ctx context.Context, c *client.Client, player *pb.Player, g client.Game) error {
	watching, leave := context.WithCancel(ctx)
	var looker sync.WaitGroup
	defer looker.Wait()
	defer leave()
	left := make(chan struct{})
	gameID := g.GetId()
	looker.Go(func() {
		if p.leftFor(watching, c, player.GetId(), gameID) {
			close(left)
			leave()
		}
	})
	w := c.Watch(watching, client.WatchOptions{GameID: gameID})
	defer w.Close()
	err := p.printUpdates(&g, w)
	select {
	case <-left:
		return ctx.Err()
	default:
		return err
	}
}

// leftFor waits until the player has moved on to another game, and returns false if ctx is
// done first. It ignores errors, because the watch stream reports them.
func (p *program) leftFor(ctx context.Context, c *client.Client, playerID, gameID string) bool {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
		other, found, err := c.CurrentGame(ctx, playerID)
		if err != nil || !found || other.GetId() == gameID {
			continue
		}
		if this, err := c.Game(ctx, gameID); err == nil && gamestate.LeftFor(this.Game, other.Game, p.leaveAfter) {
			return true
		}
	}
}

// transient reports whether a failed call may succeed if it is retried.
func transient(err error) bool {
	return errors.Is(err, client.ErrUnreachable) || errors.Is(err, client.ErrServerUnavailable) ||
		errors.Is(err, client.ErrStorageUnavailable) || errors.Is(err, client.ErrRateLimited)
}
