package contract

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that the pages of standings, and the lines around each player, match the complete list and
// its length.
func TestListStandings_Parts(t *testing.T) {
	t.Parallel()
	s, _ := startAt(t, 12)
	ann := s.player(t)
	id := s.challenge(t, ann, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}).GetId()
	for range 5 {
		p := s.player(t)
		s.score(t, p, s.attempt(t, p, id))
	}
	whole := s.standings(t, id)
	require.Len(t, whole, 5)

	var paged []*pb.Standing
	for token := ""; ; {
		page, err := s.ListStandings(s.anyone, &pb.ListStandingsRequest{ChallengeId: id, PageSize: 2, PageToken: token})
		require.NoError(t, err)
		assert.EqualValues(t, 5, page.GetTotal())
		paged = append(paged, page.GetStandings()...)
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	wantSameStandings(t, whole, paged)
	for place, own := range whole {
		for neighbors := range 6 {
			around, err := s.ListStandings(s.anyone, &pb.ListStandingsRequest{
				ChallengeId: id, PlayerId: own.GetPlayer().GetId(), Neighbors: int32(neighbors),
			})
			require.NoError(t, err)
			assert.EqualValues(t, 5, around.GetTotal())
			wantSameStandings(t, whole[max(0, place-neighbors):min(5, place+neighbors+1)], around.GetStandings())
		}
	}
	_, err := s.ListStandings(ann.ctx, &pb.ListStandingsRequest{ChallengeId: id, PlayerId: "me"})
	wantReason(t, err, pb.ReasonNoScore)
}

func wantSameStandings(t *testing.T, want, got []*pb.Standing) {
	t.Helper()
	assert.True(t, slices.EqualFunc(want, got, func(a, b *pb.Standing) bool {
		return a.GetRank() == b.GetRank() && a.GetGameId() == b.GetGameId() && a.GetScore() == b.GetScore()
	}), "want %v, got %v", want, got)
}

// Ensure that an expired challenge has no standings, even on a server that still has it in
// memory.
func TestListStandings_Expired(t *testing.T) {
	t.Parallel()
	skipShort(t)
	s, clock := startAt(t, 12, func(c *server.Config) { c.KeepFinished = time.Hour })
	ann := s.player(t)
	id := s.challenge(t, ann, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}).GetId()
	s.score(t, ann, s.attempt(t, ann, id))
	require.Len(t, s.standings(t, id), 1)
	clock.pass(7*24*time.Hour + 2*time.Hour)
	for _, player := range []string{"", "me"} {
		_, err := s.ListStandings(ann.ctx, &pb.ListStandingsRequest{ChallengeId: id, PlayerId: player})
		wantReason(t, err, pb.ReasonChallengeNotFound)
	}
}

// Ensure that an attempt is kept while the challenge is open. If it were removed, the player
// could make a second attempt and would already know the tiles.
func TestAttempt_KeptWhileOpen(t *testing.T) {
	t.Parallel()
	skipShort(t)
	s, clock := startAt(t, 12, func(c *server.Config) { c.KeepFinished = time.Hour })
	ann := s.player(t)
	id := s.challenge(t, ann, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}).GetId()
	first := s.attempt(t, ann, id)
	s.score(t, ann, first)
	clock.pass(6 * 24 * time.Hour)
	again := s.attempt(t, ann, id)
	assert.Equal(t, first.GetId(), again.GetId())
	assert.Equal(t, pb.GameStatus_GAME_STATUS_FINISHED, again.GetStatus())
	assert.Len(t, s.standings(t, id), 1)
}
