package gamelog

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	gamelogv1 "github.com/gridstand/gridstand/server/internal/gamelog/v1"
	"github.com/gridstand/gridstand/server/internal/store"
)

// entries returns entries of every kind. Every field is set in at least one of them.
func entries(t testing.TB) []replay.Entry {
	t.Helper()
	c := created(t, "classic", seed(t, 1))
	full := c
	full.Private, full.TurnLimit = true, 90*time.Second+time.Millisecond
	full.Attempt = replay.Attempt{ChallengeID: "c", Kind: 2, DayStreak: 3}
	full.Seats = []replay.Seat{
		{Player: replay.Player{ID: "p", Name: "P", Bot: true}, Resigned: true, StandIn: "greedy", Absent: true},
		{Bot: "random"},
		{},
	}
	return []replay.Entry{
		{Seat: game.NoSeat, Action: c},
		{Seat: game.NoSeat, Action: full},
		{Seat: 0, Action: replay.Moved{Move: game.Slide(game.Up)}},
		{Seat: 2, Action: replay.Moved{Move: game.Slide(game.Right), ByBot: true}},
		{Seat: 1, Action: replay.Moved{Move: game.To(game.Cell{X: 15, Y: 10})}},
		{Seat: 1, Action: replay.Moved{Move: game.To(game.Cell{})}},
		{Seat: 1, Action: replay.Moved{Move: game.To(game.Cell{X: -1, Y: -1})}},
		{Seat: 1, Action: replay.Joined{Player: replay.Player{ID: "p", Name: "P", Bot: true}}},
		{Seat: 0, Action: replay.Undone{To: 1}},
		{Seat: 2, Action: replay.TimedOut{StandIn: "greedy"}},
		{Seat: 0, Action: replay.TimedOut{}},
		{Seat: 2, Action: replay.ClockExtended{By: 3*time.Second + time.Millisecond}},
		{Seat: 0, Action: replay.Resigned{}},
		{Seat: game.NoSeat, Action: replay.Abandoned{}},
	}
}

// Ensure that the decoder distinguishes unknown entries, which a newer server may be able to
// read, from invalid ones.
func TestDecodeEntry_Refused(t *testing.T) {
	t.Parallel()
	sort := func(m *gamelogv1.Entry) []byte {
		b, err := proto.Marshal(m)
		require.NoError(t, err)
		return b
	}
	direction := func(d uint32) []byte {
		return sort(&gamelogv1.Entry{Action: &gamelogv1.Entry_Moved{
			Moved: &gamelogv1.Moved{Move: &gamelogv1.Moved_Direction{Direction: d}},
		}})
	}
	for _, tt := range []struct {
		name string
		b    []byte
		want error
	}{
		{"no bytes", nil, replay.ErrUnknown},
		{"unknown action", []byte{0xfa, 0x01, 0x00}, replay.ErrUnknown},
		{"unknown kind of move", sort(&gamelogv1.Entry{Action: &gamelogv1.Entry_Moved{Moved: &gamelogv1.Moved{}}}), replay.ErrUnknown},
		{"no direction", direction(0), replay.ErrInvalid},
		{"direction 5", direction(5), replay.ErrInvalid},
		{"direction beyond a byte", direction(256 + 1), replay.ErrInvalid},
		{"malformed message", []byte{0xff}, replay.ErrInvalid},
		{"truncated message", []byte{0x22, 0x05, 0x08}, replay.ErrInvalid},
		{"short commitment", sort(&gamelogv1.Entry{Action: &gamelogv1.Entry_Created{
			Created: &gamelogv1.Created{Variant: "classic", SeedCommitment: make([]byte, 31)},
		}}), replay.ErrInvalid},
	} {
		_, err := decodeEntry(tt.b)
		assert.ErrorIs(t, err, tt.want, tt.name)
	}
}

// heads returns states of games of every variant, from the beginning to the end, and one of an attempt.
func heads(t testing.TB) (states []*replay.State) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for _, v := range variants.All() {
		for range 3 * v.Seats {
			for _, e := range replaytest.Life(t, v.ID, time.UnixMilli(1_800_000_000_123).UTC(), random) {
				states = append(states, e.State)
			}
		}
	}
	won := *states[len(states)-1]
	won.Reason = game.GoalReached
	won.Attempt = replay.Attempt{ChallengeID: "c", Kind: replay.Daily, DayStreak: 3}
	return append(states, &won)
}

// Ensure that the decoder distinguishes a damaged head from one that a newer server wrote,
// and that it returns no state in both cases.
func TestDecodeHead_Refused(t *testing.T) {
	t.Parallel()
	all := heads(t)
	over := all[slices.IndexFunc(all, func(s *replay.State) bool { return s.Status == replay.Finished })]
	b, err := encodeHead(over, board(over))
	require.NoError(t, err)
	for _, tt := range []struct {
		name   string
		change func(*gamelogv1.Head)
		want   error
	}{
		{"unknown variant", func(m *gamelogv1.Head) { m.Variant = "chess" }, replay.ErrUnknown},
		{"unknown revision", func(m *gamelogv1.Head) { m.RulesRevision++ }, replay.ErrUnknown},
		{"no position", func(m *gamelogv1.Head) { m.Position = nil }, replay.ErrInvalid},
		{"position of another board", func(m *gamelogv1.Head) { m.Position[1]++ }, replay.ErrInvalid},
		{"no commitment", func(m *gamelogv1.Head) { m.SeedCommitment = nil }, replay.ErrInvalid},
		{"short seed", func(m *gamelogv1.Head) { m.Seed = m.Seed[1:] }, replay.ErrInvalid},
		{"no seats", func(m *gamelogv1.Head) { m.Seats = nil }, replay.ErrInvalid},
		{"no status", func(m *gamelogv1.Head) { m.Status = 0 }, replay.ErrInvalid},
		{"unknown status", func(m *gamelogv1.Head) { m.Status = 256 + 3 }, replay.ErrInvalid},
		{"over without a result", func(m *gamelogv1.Head) { m.Result = nil }, replay.ErrInvalid},
		{"result before the end", func(m *gamelogv1.Head) { m.Status = 2 }, replay.ErrInvalid},
	} {
		var m gamelogv1.Head
		require.NoError(t, proto.Unmarshal(b, &m))
		tt.change(&m)
		changed, err := proto.Marshal(&m)
		require.NoError(t, err)
		got, err := decodeHead("g", store.ID{Version: over.Version}, over.UpdateTime, changed)
		assert.ErrorIs(t, err, tt.want, tt.name)
		assert.Nil(t, got, tt.name)
	}
	_, err = decodeHead("g", store.ID{Version: over.Version}, over.UpdateTime, b[:len(b)-1])
	assert.ErrorIs(t, err, replay.ErrInvalid)
}

// FuzzDecodeEntry checks that every entry survives a round trip, that the decoder does not panic, and that a
// decoded entry survives another round trip.
func FuzzDecodeEntry(f *testing.F) {
	for _, want := range entries(f) {
		b, err := encodeEntry(want)
		require.NoError(f, err)
		got, err := decodeEntry(b)
		require.NoError(f, err)
		require.Equal(f, want, got)
		f.Add(b)
	}
	sd := seed(f, 1)
	event, err := replay.Start("g", entries(f)[0], sd, time.Time{})
	require.NoError(f, err)
	begun := Tip{ID: nextID(Genesis("g"), nil, nil), State: event.State}
	past := func(int32) *replay.State { return nil }
	f.Fuzz(func(t *testing.T, b []byte) {
		// Call Apply as well: it must not panic, no matter what the log contains.
		for _, tip := range []Tip{begun, {ID: Genesis("g")}} {
			_, event, err := tip.Apply("g", store.Record{ID: store.ID{Version: tip.ID.Version + 1}, Raw: b, Seed: sd.SeedBytes()}, past)
			require.Error(t, err, "the digest cannot match")
			require.Nil(t, event)
		}
		e, err := decodeEntry(b)
		if err != nil {
			return
		}
		again, err := encodeEntry(e)
		require.NoError(t, err)
		got, err := decodeEntry(again)
		require.NoError(t, err)
		require.Equal(t, e, got)
		require.True(t, e.Same(got))
	})
}

// FuzzDecodeHead checks the same properties as FuzzDecodeEntry, and that a decoded state can
// be displayed.
func FuzzDecodeHead(f *testing.F) {
	for _, want := range heads(f) {
		b, err := encodeHead(want, board(want))
		require.NoError(f, err)
		got, err := decodeHead(want.ID, store.ID{Version: want.Version}, want.UpdateTime, b)
		require.NoError(f, err)
		equal(f, want, got)
		require.Equal(f, want.LegalMoves(), got.LegalMoves())
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		at := time.UnixMilli(1_800_000_000_000).UTC()
		s, err := decodeHead("g", store.ID{Version: 2}, at, b)
		if err != nil {
			return
		}
		for seat := range s.Seats {
			_ = s.Scored(seat)
		}
		_, _ = s.Turn(), s.LegalMoves()
		again, err := encodeHead(s, board(s))
		require.NoError(t, err)
		got, err := decodeHead("g", store.ID{Version: 2}, at, again)
		require.NoError(t, err)
		equal(t, s, got)
	})
}
