package directory

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	rules "github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

const month = 30 * 24 * time.Hour

// open returns a Directory that uses the given lists and page tokens of its own.
func open(t *testing.T, lists store.Lists) *Directory {
	t.Helper()
	return openWith(lists, newTokens(t))
}

func openWith(lists store.Lists, tokens *page.Tokens) *Directory {
	return New(lists, lists, tokens, month, slog.New(slog.DiscardHandler))
}

func newTokens(t *testing.T) *page.Tokens {
	t.Helper()
	return page.NewTokens(storetest.New(t).Secrets)
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

// list returns the ids of all candidates of a list, read a few at a time.
func list(t *testing.T, d *Directory, l store.List) []string {
	t.Helper()
	var ids []string
	for after := (store.Place{}); ; {
		places, err := d.page(t.Context(), l, after, 2)
		require.NoError(t, err)
		for _, after = range places {
			ids = append(ids, after.GameID)
		}
		if len(places) < 2 {
			return ids
		}
	}
}

func games(numbers ...int) []string {
	var ids []string
	for _, n := range numbers {
		ids = append(ids, game(n))
	}
	return ids
}

// Ensure that the statuses of games and of lists have the same numeric values, because Of
// converts one to the other directly.
func TestOf_Status(t *testing.T) {
	t.Parallel()
	assert.Equal(t, store.Waiting, store.Status(replay.Waiting))
	assert.Equal(t, store.Active, store.Status(replay.Active))
	assert.Equal(t, store.Finished, store.Status(replay.Finished))
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
		v, ok := variants.Current("classic")
		require.True(t, ok)
		seed, err := rules.SeedFromBytes(make([]byte, rules.SeedSize))
		require.NoError(t, err)
		created, err := replay.Start(game(1), replay.Entry{Seat: rules.NoSeat, Action: replay.Created{
			Variant: v.ID, Revision: v.Revision, Creator: ada, Seats: []replay.Seat{tt.seat}, Commitment: seed.Commitment(),
			Attempt: replay.Attempt{ChallengeID: tt.challenge, Kind: replay.Race},
		}}, seed, start)
		require.NoError(t, err)
		assert.Equal(t, tt.want, Of(created.State, 0).Players)
	}
}

// Ensure that the list of a malformed player id is empty.
func TestDirectory_NoPlayer(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	assert.Empty(t, list(t, d, store.List{PlayerID: "unknown"}))
}
