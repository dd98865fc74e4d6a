//go:build slow

package fault

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// pastLength is the number of events in the other games that floods read.
	pastLength = 3001
	// heavyGames is the number of long games that the flood reads, and heavyLength is the number of
	// events in each. It leaves room for undos below the limit.
	heavyGames  = 4
	heavyLength = 195_000
	// farUndo is the version after which the games are taken back to their first one.
	farUndo = 400
)

// playHeavy creates a game with the given number of events: moves that are undone, one of them far
// back. Most events are written straight
// to the store, because players would need an hour for them.
func (c *caller) playHeavy(ctx context.Context, length int32) (gameID string, err error) {
	game, err := c.create(ctx, ofVariant("6x6"))
	if err != nil {
		return "", err
	}
	log := gamelog.New(c.env.ports().Games)
	tip, err := log.Load(ctx, game.GetId(), store.ID{}, nil)
	if err != nil {
		return "", err
	}
	first, before := tip.State, tip.State
	for tip.State.Version < length {
		entry, past := replay.Entry{Action: replay.Moved{Move: tip.State.LegalMoves()[0]}}, (*replay.State)(nil)
		if tip.State.Version == farUndo {
			before = first
		}
		if tip.State.Version%2 == 0 {
			entry.Action, past = replay.Undone{To: before.Version}, before
		} else {
			before = tip.State
		}
		draft, err := tip.Draft(entry, time.Time{}, past)
		if err != nil {
			return "", err
		}
		if err := log.Append(ctx, draft); err != nil {
			return "", err
		}
		tip = draft.Tip()
	}
	return game.GetId(), nil
}

// heavyReads returns the calls by which a client makes a server read a game.
func (c *caller) heavyReads() []func(ctx context.Context, gameID string) error {
	return []func(ctx context.Context, gameID string) error{
		func(ctx context.Context, gameID string) error {
			_, err := c.games.GetGame(ctx, &pb.GetGameRequest{GameId: gameID})
			return err
		},
		func(ctx context.Context, gameID string) error {
			_, err := c.games.Move(c.authorized(ctx), slide(gameID, 1, pb.Direction_DIRECTION_UP))
			return err
		},
		c.undoFarBack,
		func(ctx context.Context, gameID string) error {
			stream, err := c.games.Watch(ctx, &pb.WatchRequest{GameId: gameID, AfterVersion: fromStart(), EveryEvent: true})
			for n := 0; err == nil && n < heavyLength-100; n++ {
				_, err = stream.Recv()
			}
			if err == nil { // Read no further, so that the server keeps what it has replayed.
				<-ctx.Done()
			}
			return err
		},
	}
}

// playLong plays the games that floods read, on a server that is not flooded. So the flooded one has none
// of them in memory.
func (f *flood) playLong(ctx context.Context) error {
	f.heavy = make([]string, heavyGames)
	var group errgroup.Group
	for n := range f.heavy {
		group.Go(func() (err error) {
			f.heavy[n], err = f.owner.playHeavy(ctx, heavyLength)
			return err
		})
	}
	group.Go(func() (err error) {
		f.past, err = f.owner.playHeavy(ctx, pastLength)
		return err
	})
	return group.Wait()
}

// undoFarBack takes a game of the caller's back to its second version.
func (c *caller) undoFarBack(ctx context.Context, gameID string) error {
	now, err := c.games.GetGame(ctx, &pb.GetGameRequest{GameId: gameID})
	if err == nil {
		_, err = c.games.Undo(c.authorized(ctx), &pb.UndoRequest{
			GameId: gameID, Version: now.GetGame().GetVersion(), ToVersion: proto.Int32(2),
		})
	}
	return err
}
