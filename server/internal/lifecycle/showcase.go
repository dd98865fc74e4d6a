package lifecycle

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// showcaseCreator is the id of the creator of showcases. No account can have it, so
	// showcases are not in any player's list of games and do not count toward any player's
	// limits.
	showcaseCreator = "gridstand"
	// A showcase may begin if no game has had an event for quietFor. A more recent event in
	// a player's game ends the showcase.
	quietFor = time.Minute
	// showEvery is how often a server checks whether to begin a showcase while clients read
	// lists of live games. showWithin limits the duration of a check.
	showEvery, showWithin = time.Second, 5 * time.Second
	// claimFor is the maximum time that it may take to create a showcase. If the server
	// dies before the showcase is created, another one can begin after this time.
	claimFor = 10 * time.Second
	// keepShowcase is the maximum time that a showcase is kept after its end.
	keepShowcase = time.Hour
	// latestGames limits the number of games that are read from the top of a list.
	latestGames = 100
)

// showcased reports whether the game is a showcase.
func showcased(state *replay.State) bool { return state.Creator.ID == showcaseCreator }

// Listed is called when a client reads a list of live games. moving is the number of games
// in the store that are being played. Listed never blocks.
func (m *Manager) Listed(games []*replay.State, moving int) {
	if !m.Showcase {
		return
	}
	if i := slices.IndexFunc(games, showcased); i >= 0 {
		m.Looked(games[i], "")
		return // moving may have been counted before the showcase began.
	}
	if moving == 0 {
		select {
		case m.showcaseWanted <- struct{}{}:
		default:
		}
	}
}

// runShowcases begins an exhibition if clients read lists of live games and no game is being
// played, so that they always find a game to watch, until ctx is done. The exhibition ends
// when no client has viewed it for a while or a player's game is live. At most one showcase
// runs across all servers, because exhibitions count showcases as games of one player whose
// limit is one.
func (m *Manager) runShowcases(ctx context.Context, hub *match.Hub) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.showcaseWanted:
		}
		if err := m.startShowcase(ctx, hub); err != nil {
			m.Logger.Debug("cannot start an exhibition", "error", err)
		}
		select {
		case <-m.showcaseWanted: // Drop a request that arrived in the meantime.
		default:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(showEvery):
		}
	}
}

// startShowcase begins a showcase, or resumes a paused one, unless a game is being played.
func (m *Manager) startShowcase(ctx context.Context, hub *match.Hub) error {
	ctx, cancel := context.WithTimeout(ctx, showWithin)
	defer cancel()
	moved, err := m.Directory.MovedWithin(ctx, quietFor)
	if err != nil || moved > 0 {
		return err
	}
	paused, err := m.latest(ctx, store.Active, time.Time{}, showcased)
	if err != nil {
		return err
	}
	if paused != nil {
		m.exhibitions.reportView(ctx, &view{gameID: paused.ID, playerID: showcaseCreator})
		return nil
	}
	last, err := m.latest(ctx, store.Finished, time.Time{}, showcased)
	if err != nil {
		return err
	}
	gameID := id.New()
	_, err = m.exhibitions.runShowcase(ctx, gameID, claimFor)
	if _, full := errors.AsType[*limits.ExceededError](err); full {
		return nil // Another server has just begun a showcase.
	}
	if err == nil {
		err = m.createShowcase(ctx, hub, gameID, last)
	}
	return err
}

// createShowcase creates a showcase that the store already counts as running.
func (m *Manager) createShowcase(ctx context.Context, hub *match.Hub, gameID string, last *replay.State) error {
	if err := m.Begin(ctx, gameID); err != nil {
		return err
	}
	seed := game.NewSeed()
	created := program(last)
	created.Commitment = seed.Commitment()
	state, err := hub.Create(ctx, gameID, created, seed)
	if err == nil {
		err = m.Plan(ctx, state)
	}
	if err == nil {
		_, err = m.exhibitions.run(ctx, gameID, showcaseCreator, "")
	}
	return err
}

// program returns the showcase to begin after last, or the first showcase if last is nil.
// Showcases alternate between 2048 with one bot and Tribolo with three.
func program(last *replay.State) replay.Created {
	variantID, bots := "classic", []string{"expectimax"}
	if last != nil && last.Variant.ID == variantID {
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

// latest returns the public game with the given status that has the latest event, among
// those for which fits returns true. It returns nil if no such game has had an event since
// the given time.
func (m *Manager) latest(ctx context.Context, status store.Status, since time.Time, fits func(*replay.State) bool) (*replay.State, error) {
	places, err := m.Directory.Latest(ctx, store.List{Status: status}, latestGames)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, place := range places {
		if since.IsZero() || place.Rank >= since.UnixMilli() {
			ids = append(ids, place.GameID)
		}
	}
	heads, err := m.Log.Heads(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, head := range heads {
		if s := head.State; s != nil && s.Status == replay.Status(status) && !s.UpdateTime.Before(since) && fits(s) {
			return s, nil
		}
	}
	return nil, nil
}

// running reports whether a game between bots is running rather than paused. A showcase is
// not running while a player's game is live.
func (m *Manager) running(ctx context.Context, state *replay.State) (bool, error) {
	running, err := m.exhibitions.running(ctx, state.ID)
	if err != nil || !running || !showcased(state) {
		return running, err
	}
	played, err := m.latest(ctx, store.Active, state.UpdateTime.Add(-quietFor), func(s *replay.State) bool { return !s.Exhibition() })
	return played == nil, err
}

// keepFinished returns how long a finished game is kept.
func (m *Manager) keepFinished(final *replay.State) time.Duration {
	if showcased(final) {
		return min(m.KeepFinished, keepShowcase)
	}
	return m.KeepFinished
}

// runShowcase keeps a showcase running for the duration d, unless another one is running, and
// reports whether it is new or was paused. The limits for players do not apply to it.
func (e *exhibitions) runShowcase(ctx context.Context, gameID string, d time.Duration) (resumed bool, err error) {
	of := store.Exhibition{GameIDs: []string{gameID}, PlayerID: showcaseCreator, Address: showcaseCreator}
	return e.runFor(ctx, d, of, store.ExhibitionLimits{PerPlayer: 1})
}

// endIfOver stops counting a showcase that ended while a view of it was being reported. The
// report has counted it as running again, so that no other showcase could begin for a
// while.
func (e *exhibitions) endIfOver(ctx context.Context, gameID string) error {
	head, err := e.log.Head(ctx, gameID)
	if err != nil || head.State != nil && head.State.Status != replay.Finished {
		return err
	}
	return e.end(ctx, gameID)
}
