package fault

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// challengeCheck is the part of check that covers challenges. All challenges of a test must have
// ended before the check.
type challengeCheck struct {
	all      map[string]*pb.Challenge
	attempts map[string][]*replay.State // by challenge
	boards   map[string][]int32         // by challenge, then by sequence of moves
	equal    int                        // number of boards that were compared
}

// newChallengeCheck waits until the challenges with attempts in the logs are closed and their
// seeds are revealed, and reads them.
func newChallengeCheck(ctx context.Context, t *testing.T, c *caller, logs map[string][]store.Record) *challengeCheck {
	t.Helper()
	all := map[string]*pb.Challenge{}
	for _, log := range logs {
		first, err := gamelog.EntryOf(log[0])
		require.NoError(t, err)
		created, ok := first.Action.(replay.Created)
		if id := created.Attempt.ChallengeID; ok && id != "" && all[id] == nil {
			all[id] = c.awaitSeed(ctx, t, id)
		}
	}
	return &challengeCheck{all: all, attempts: map[string][]*replay.State{}, boards: map[string][]int32{}}
}

// add records a game if it is an attempt. It requires that the player moved only while the
// challenge was open, and had the same board as other players after the same moves.
func (k *challengeCheck) add(t *testing.T, g *replay.State, events []*pb.Event) {
	t.Helper()
	if !g.IsAttempt() {
		return
	}
	challenge := k.all[g.Attempt.ChallengeID]
	k.attempts[challenge.GetId()] = append(k.attempts[challenge.GetId()], g)
	path := challenge.GetId()
	for _, e := range events {
		switch {
		case e.GetMoved() != nil, e.GetResigned() != nil:
			assert.False(t, e.GetTime().AsTime().Before(challenge.GetOpenTime().AsTime()), "an event before the challenge opened: %s", brief(e))
			assert.True(t, e.GetTime().AsTime().Before(challenge.GetCloseTime().AsTime()), "an event after the challenge closed: %s", brief(e))
		case e.GetTimedOut() != nil:
			assert.False(t, e.GetTime().AsTime().Before(challenge.GetCloseTime().AsTime()), "an event before the challenge closed: %s", brief(e))
		}
		if e.GetMoved() == nil && e.GetCreated() == nil {
			continue
		}
		path += e.GetMoved().GetDirection().String()
		board := e.GetPosition().GetTwenty48().GetTiles()
		if before, ok := k.boards[path]; ok {
			k.equal++
			assert.Equal(t, before, board, "the board after %s", path)
		}
		k.boards[path] = board
	}
}

// check requires that every entrant of a race has a game, that no other player made a move, and
// that the standings match the games.
func (k *challengeCheck) check(ctx context.Context, t *testing.T, c *caller) {
	t.Helper()
	for id, challenge := range k.all {
		games := map[string]*replay.State{}
		for _, attempt := range k.attempts[id] {
			games[attempt.ID] = attempt
		}
		var counted []*replay.State
		switch challenge.GetKind() {
		case pb.ChallengeKind_CHALLENGE_KIND_RACE:
			for _, e := range challenge.GetEntrants() {
				require.Contains(t, games, e.GetGameId(), "an entrant without a game")
				counted = append(counted, games[e.GetGameId()])
				delete(games, e.GetGameId())
			}
			for _, left := range games {
				assert.Zero(t, left.Position.MoveCount(), "a player who is not on the roster played")
			}
		default:
			counted = slices.DeleteFunc(slices.Clone(k.attempts[id]), func(g *replay.State) bool { return !g.Scored(0) })
		}
		k.checkStandings(ctx, t, c, id, counted)
	}
	if len(k.all) > 0 {
		t.Logf("%d challenges; %d boards were compared after the same moves", len(k.all), k.equal)
	}
}

// checkStandings requires that the standings of a challenge match its games.
func (k *challengeCheck) checkStandings(ctx context.Context, t *testing.T, c *caller, id string, games []*replay.State) {
	t.Helper()
	slices.SortFunc(games, func(a, b *replay.State) int {
		return cmp.Or(cmp.Compare(b.Position.Scores()[0], a.Position.Scores()[0]), a.UpdateTime.Compare(b.UpdateTime))
	})
	type line struct {
		rank, score int32
		at          time.Time
	}
	var want, got []line
	for i, g := range games {
		want = append(want, line{int32(i) + 1, g.Position.Scores()[0], g.UpdateTime})
	}
	for token := ""; ; {
		listed, err := c.challenges.ListStandings(ctx, &pb.ListStandingsRequest{ChallengeId: id, PageToken: token})
		require.NoError(t, err)
		require.EqualValues(t, len(games), listed.GetTotal(), "standings of %s", id)
		for _, l := range listed.GetStandings() {
			got = append(got, line{l.GetRank(), l.GetScore(), l.GetTime().AsTime()})
			assert.True(t, l.GetFinished())
			i := slices.IndexFunc(games, func(g *replay.State) bool { return g.ID == l.GetGameId() })
			require.GreaterOrEqual(t, i, 0, "the standings list an unknown game")
			assert.Equal(t, games[i].Position.Scores()[0], l.GetScore())
			assert.Equal(t, games[i].Seats[0].Player.ID, l.GetPlayer().GetId())
		}
		if token = listed.GetNextPageToken(); token == "" {
			break
		}
	}
	assert.Equal(t, want, got, "the standings of %s", id)
}

// awaitSeed waits until a challenge is closed and its seed is revealed.
func (c *caller) awaitSeed(ctx context.Context, t *testing.T, id string) (closed *pb.Challenge) {
	t.Helper()
	require.Eventually(t, func() bool {
		got, err := c.getChallenge(ctx, id)
		require.NoError(t, err)
		closed = got.GetChallenge()
		return closed.GetStatus() == pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED && len(closed.GetSeed()) > 0
	}, patience, 50*time.Millisecond, "the challenge does not reveal its seed")
	return closed
}
