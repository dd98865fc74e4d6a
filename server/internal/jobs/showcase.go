package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/match"
)

const (
	// showcaseCreator is the id of the creator of showcases. No account can have it, so
	// showcases are not in any player's list of games and do not count toward any player's
	// limits.
	showcaseCreator = "gridstand"
	// A showcase may begin if no game that clients can watch has had a move for quietFor. A more
	// recent move in another game ends the showcase.
	quietFor = time.Minute
	// fewGames is the maximum number of recent games that a server examines for moves. If there
	// are more, it assumes that some have moves.
	fewGames = 16
	// showEvery is how often a server checks whether to begin a showcase while clients read
	// lists of live games. showWithin limits the duration of a check.
	showEvery, showWithin = time.Second, 5 * time.Second
	// keepShowcase is the maximum time that a showcase is kept after its end.
	keepShowcase = time.Hour
)

// showcased reports whether the game is a showcase.
func showcased(state *replay.State) bool { return state.Creator.ID == showcaseCreator }

// Listed is called when a client reads a list of live games. moving is the number of games
// in the store that had an event recently. Listed never blocks.
func (m *Manager) Listed(moving int) {
	if m.Showcase && moving <= fewGames {
		m.showcaseWanted.Store(true)
	}
}

// startShowcase begins an exhibition if clients read lists of live games and no game is being
// played, so that they always find a game to watch. The exhibition ends when it has lasted a
// minute and no client has watched it for unviewedFor, or when another game is live.
func (m *Manager) startShowcase(ctx context.Context, hub *match.Hub) {
	if !m.showcaseWanted.Swap(false) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, showWithin)
	defer cancel()
	games, showcases, err := m.playing(ctx)
	if err == nil && games+showcases == 0 {
		now, seed := time.Now(), game.NewSeed()
		gameID, created := showcaseID(now), program(now)
		created.Commitment = seed.Commitment()
		if _, err = hub.Create(ctx, gameID, created, seed, time.Time{}); errors.Is(err, match.ErrExists) {
			return // Another server has begun a showcase.
		}
	}
	if err != nil {
		m.Logger.Debug("cannot start an exhibition", "error", err)
	}
}

// playing returns the number of games that clients can watch and that had an event within quietFor,
// without those that have no move. It counts showcases separately.
func (m *Manager) playing(ctx context.Context) (games, showcases int, err error) {
	recent, err := m.Directory.MovedWithin(ctx, quietFor)
	if err != nil || recent == 0 || recent > fewGames {
		return recent, 0, err
	}
	ids, err := m.Directory.Latest(ctx, recent)
	if err != nil {
		return 0, 0, err
	}
	heads, err := m.Log.Heads(ctx, ids)
	if err != nil {
		return 0, 0, err
	}
	for _, head := range heads {
		switch state := head.State; {
		case state == nil || state.Status != replay.Active:
		case showcased(state):
			showcases++
		case state.Position.MoveCount() > 0:
			of, err := m.Challenges.Of(ctx, state)
			if err != nil {
				return 0, 0, err
			}
			if !state.IsAttempt() || of != nil && !of.Private {
				games++
			}
		}
	}
	return games, showcases, nil
}

// showcaseID returns the id of a showcase that begins at the given time. It is the same on all
// servers for a minute, so that servers which find no game at the same time begin only one.
func showcaseID(now time.Time) string {
	return id.Derive([]byte("showcase"), []byte(now.UTC().Truncate(quietFor).Format(time.RFC3339)))
}

// program returns the showcase that begins at the given time. From minute to minute, showcases
// alternate between 2048 with one bot and Tribolo with three.
func program(now time.Time) replay.Created {
	variantID, bots := "classic", []string{"expectimax"}
	if now.Minute()%2 > 0 {
		variantID, bots = "tribolo", []string{"minimax", "original", "greedy"}
	}
	variant, _ := variants.Current(variantID)
	seats := make([]replay.Seat, len(bots))
	for i, name := range bots {
		seats[i].Bot = name
	}
	return replay.Created{
		Variant: variant.ID, Revision: variant.Revision, Seats: seats,
		Creator: replay.Player{ID: showcaseCreator, Name: "Gridstand"},
	}
}
