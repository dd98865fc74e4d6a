package directory

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	rules "github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// fake implements the part of store.Lists that a Directory needs, with public lists of all variants.
// Its calls fail while err is set.
type fake struct {
	store.Lists
	games  map[string]store.Listing
	moving int
	asked  int // number of calls of Moving
	err    error
}

func (f *fake) Write(_ context.Context, listings []store.Listing, _ time.Duration) error {
	for _, l := range listings {
		if f.err == nil {
			f.games[l.GameID] = l
		}
	}
	return f.err
}

func (f *fake) Page(_ context.Context, l store.List, after store.Place, n int) ([]store.Place, error) {
	order := func(a, b store.Place) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(b.GameID, a.GameID))
	}
	var places []store.Place
	for _, g := range f.games {
		p := store.Place{Rank: l.Rank(g), GameID: g.GameID}
		if (l.Status == store.AnyStatus || l.Status == g.Status) && (after == store.Place{} || order(after, p) < 0) {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, order)
	return places[:min(n, len(places))], f.err
}

func (f *fake) Moving(context.Context, time.Duration) (int, error) {
	f.asked++
	return f.moving, f.err
}

// secret is the secret of the page tokens.
type secret struct{}

func (secret) Secret(context.Context, string, []byte) ([]byte, error) { return make([]byte, 32), nil }

var tokens = page.NewTokens(secret{})

// open returns a Directory, and the lists that it uses, which hold n games.
func open(n int) (*Directory, *fake) {
	lists := &fake{games: map[string]store.Listing{}}
	for n := range n {
		lists.games[game(n)] = listing(n)
	}
	return New(lists, lists, tokens, time.Hour, slog.New(slog.DiscardHandler)), lists
}

// game returns the id of test game n, counted from 0.
func game(n int) string { return id.Derive([]byte("game"), []byte(fmt.Sprint(n))) }

func player(n int) string { return id.Derive([]byte("player"), []byte(fmt.Sprint(n))) }

// start is the time of the last event of test game 0.
var start = time.Now().Truncate(time.Millisecond)

// listing returns the listing of test game n, an active game of player n whose last event is
// n ms after start.
func listing(n int) store.Listing {
	return store.Listing{
		GameID: game(n), Variant: "classic", Status: store.Active, Players: []string{player(n)},
		Updated: start.Add(time.Duration(n) * time.Millisecond),
	}
}

// Ensure that a game is listed for its players and for its creator, but that the attempt of a bot in a
// race is not listed for the race's creator.
func TestOf_Players(t *testing.T) {
	t.Parallel()
	ada, bob := replay.Player{ID: player(1), Name: "ada"}, replay.Player{ID: player(2), Name: "bob"}
	for _, tt := range []struct {
		challenge string
		seat      replay.Seat
		want      []string
	}{
		{"", replay.Seat{Player: bob}, []string{ada.ID, bob.ID}},
		{"", replay.Seat{Bot: "greedy"}, []string{ada.ID}},
		{game(9), replay.Seat{Player: bob}, []string{bob.ID}},
		{game(9), replay.Seat{Bot: "greedy"}, nil},
	} {
		seed := replaytest.Seed(t, 0)
		created := replaytest.Created(t, "classic", ada, seed)
		created.Seats, created.Attempt = []replay.Seat{tt.seat}, replay.Attempt{ChallengeID: tt.challenge, Kind: replay.Race}
		begun, err := replay.Start(game(1), replay.Entry{Seat: rules.NoSeat, Action: created}, seed, start)
		require.NoError(t, err)
		assert.Equal(t, tt.want, Of(begun.State, 0).Players)
	}
}

// Ensure that games with a recent event are counted once for several callers, and that a failed count is
// retried. TestReads of package cached shows for how long.
func TestDirectory_Moving(t *testing.T) {
	t.Parallel()
	d, lists := open(0)
	lists.err = store.Failed(store.Connection, "no connection")
	_, err := d.Moving(t.Context())
	require.ErrorIs(t, err, lists.err)
	lists.err, lists.moving = nil, 7
	for range 2 {
		n, err := d.Moving(t.Context())
		require.NoError(t, err)
		assert.Equal(t, [2]int{7, 2}, [2]int{n, lists.asked})
	}
}
