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
	// they are on no player's list and count for no player's limits.
	showcaseCreator = "gridstand"
	// quietFor is how long no game has had an event when a showcase begins, and how
	// recent the event of a player's game is that ends it.
	quietFor = time.Minute
	// showEvery is how often a server checks whether to begin one while clients read
	// lists of live games, and showWithin bounds a check.
	showEvery, showWithin = time.Second, 5 * time.Second
	// claimFor is how long a showcase may take to be created. If its server dies before,
	// another one can begin after this time.
	claimFor = 10 * time.Second
	// keepShowcase is how long a showcase is kept after its end, at most.
	keepShowcase = time.Hour
	// latestGames bounds the games at the top of a list that are read.
	latestGames = 100
)

// showcase begins an exhibition if clients read lists of live games and none moves, so
// that they always find a game to watch. It ends when no client has looked at it for a
// while, and when a player's game is live. On all servers together one showcase runs at
// most: exhibitions count them as games of one player, who may have one.
type showcase struct {
	*Manager
	// wanted has an element if clients found that no game moves.
	wanted chan struct{}
}

func newShowcase(m *Manager) *showcase {
	return &showcase{Manager: m, wanted: make(chan struct{}, 1)}
}

// showcased reports whether the state is of a showcase.
func showcased(state *replay.State) bool { return state.Creator.ID == showcaseCreator }

// Listed is called with a list of live games that a client reads, and how many games
// move on the store. It never waits.
func (m *Manager) Listed(games []*replay.State, moving int) {
	if !m.Showcase {
		return
	}
	if i := slices.IndexFunc(games, showcased); i >= 0 {
		m.Looked(games[i], "")
	}
	if moving == 0 {
		select {
		case m.showcase.wanted <- struct{}{}:
		default:
		}
	}
}

// run begins showcases until ctx ends. It does nothing as long as no client reads a
// list of live games.
func (s *showcase) run(ctx context.Context, hub *match.Hub) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wanted:
		}
		if err := s.show(ctx, hub); err != nil {
			s.Logger.Debug("no exhibition for now", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(showEvery):
		}
	}
}

// show begins a showcase, or resumes one that is paused, unless a game moves.
func (s *showcase) show(ctx context.Context, hub *match.Hub) error {
	ctx, cancel := context.WithTimeout(ctx, showWithin)
	defer cancel()
	moved, err := s.Directory.MovedWithin(ctx, quietFor)
	if err != nil || moved > 0 {
		return err
	}
	paused, err := s.latest(ctx, store.Active, time.Time{}, showcased)
	if err != nil {
		return err
	}
	if paused != nil {
		s.exhibitions.reportView(ctx, &view{gameID: paused.ID, playerID: showcaseCreator})
		return nil
	}
	last, err := s.latest(ctx, store.Finished, time.Time{}, showcased)
	if err != nil {
		return err
	}
	gameID := id.New()
	_, err = s.exhibitions.runShowcase(ctx, gameID, claimFor)
	var full *limits.ExceededError
	if errors.As(err, &full) {
		return nil // Another server just began one.
	}
	if err == nil {
		err = s.begin(ctx, hub, gameID, last)
	}
	return err
}

// begin creates a showcase that has been counted as running.
func (s *showcase) begin(ctx context.Context, hub *match.Hub, gameID string, last *replay.State) error {
	if err := s.Begin(ctx, gameID); err != nil {
		return err
	}
	seed := game.NewSeed()
	created := program(last)
	created.Commitment = seed.Commitment()
	state, err := hub.Create(ctx, gameID, created, seed)
	if err == nil {
		err = s.Plan(ctx, state)
	}
	if err == nil {
		_, err = s.exhibitions.runShowcase(ctx, gameID, s.PauseAfter)
	}
	return err
}

// program is the showcase that follows the last one, nil for none: one player of 2048,
// and three of Tribolo, in turn.
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

// latest returns the public game of a status with the latest event that fits, nil if
// there is none with an event since then.
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

// running reports whether a game between bots alone runs, rather than being paused. A
// showcase does not while a player's game is live.
func (m *Manager) running(ctx context.Context, state *replay.State) (bool, error) {
	running, err := m.exhibitions.running(ctx, state.ID)
	if err != nil || !running || !showcased(state) {
		return running, err
	}
	played, err := m.latest(ctx, store.Active, state.UpdateTime.Add(-quietFor), func(s *replay.State) bool { return !s.Exhibition() })
	return played == nil, err
}

// keepFinished is how long a finished game is kept.
func (m *Manager) keepFinished(final *replay.State) time.Duration {
	if showcased(final) {
		return min(m.KeepFinished, keepShowcase)
	}
	return m.KeepFinished
}

// runShowcase lets a showcase run for a time from now on, unless another one runs, and
// reports whether it was paused before, or is new. No limit of callers applies to it.
func (e *exhibitions) runShowcase(ctx context.Context, gameID string, d time.Duration) (resumed bool, err error) {
	of := store.Exhibition{GameID: gameID, PlayerID: showcaseCreator, Address: showcaseCreator}
	return e.runFor(ctx, d, of, store.ExhibitionLimits{PerPlayer: 1})
}

// endIfOver removes a showcase from those that run if it ended before it was counted
// among them again: no other one could begin for a while.
func (e *exhibitions) endIfOver(ctx context.Context, gameID string) error {
	heads, err := e.log.Heads(ctx, []string{gameID})
	if err != nil || heads[0].State != nil && heads[0].State.Status != replay.Finished {
		return err
	}
	return e.end(ctx, gameID)
}
