package challenges_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that equal moves lead to equal boards: two accounts that make the same random moves, in
// bursts of different lengths, see the same tiles, for each variant and kind of challenge.
func TestEqualMoves(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	clock := newStillClock()
	config := servertest.Config(t).Unlimited()
	config.StoreNow = clock.now
	var variants []string
	config.Daily = "classic"
	server, _ := servertest.Start(t, config)
	conn := servertest.Dial(t, server.Addr())
	listed, err := pb.NewGameServiceClient(conn).ListVariants(t.Context(), &pb.ListVariantsRequest{})
	require.NoError(t, err)
	for _, v := range listed.GetVariants() {
		if v.GetKind() == pb.Kind_KIND_TWENTY48 && v.GetSeats() == 1 {
			variants = append(variants, v.GetId())
		}
	}
	require.Greater(t, len(variants), 2)
	ann, bob := playertest.New(t.Context(), t, conn, "Ann"), playertest.New(t.Context(), t, conn, "Bob")
	challenges := pb.NewChallengeServiceClient(conn)
	for _, variant := range variants {
		for _, kind := range []pb.ChallengeKind{daily, race, link, rematch} {
			request := &pb.CreateChallengeRequest{Kind: kind, Variant: variant}
			var id string
			switch kind {
			case daily:
				if variant != config.Daily {
					continue
				}
				got, err := challenges.GetChallenge(t.Context(), &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: variant}})
				require.NoError(t, err)
				id = got.GetChallenge().GetId()
			case race:
				request.Limit = durationpb.New(time.Minute)
			case rematch:
				g := ann.Create(t, &pb.CreateGameRequest{Variant: variant})
				ann.Resign(t, g)
				request.Variant, request.GameId = "", g.GetId()
			}
			if id == "" {
				created, err := challenges.CreateChallenge(ann.Ctx, request)
				require.NoError(t, err)
				id = created.GetChallenge().GetId()
			}
			if kind == race {
				for _, p := range []*playertest.Player{ann, bob} {
					_, err := challenges.JoinChallenge(p.Ctx, &pb.JoinChallengeRequest{ChallengeId: id, Ready: true})
					require.NoError(t, err)
				}
				clock.forward(3 * time.Second)
			}
			attempt := &pb.CreateGameRequest{ChallengeId: id}
			one, two := ann.Create(t, attempt), bob.Create(t, attempt)
			name := fmt.Sprintf("%v of %s", kind, variant)
			require.Equal(t, tiles(one), tiles(two), name)
			follow(t, name, ann, one, bob, two)
			assert.Equal(t, one.GetSeedCommitment(), two.GetSeedCommitment(), name)
		}
	}
}

// follow makes up to 40 random moves as one player and repeats them as another.
func follow(t *testing.T, name string, a *playertest.Player, one *pb.Game, b *playertest.Player, two *pb.Game) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(len(name))))
	var moves []*pb.MoveRequest
	var events []*pb.Event
	for n := 0; n < 40; {
		for range 1 + random.IntN(4) {
			legal := one.GetPosition().GetTwenty48().GetLegalMoves()
			if len(legal) == 0 {
				break
			}
			move := &pb.MoveRequest{
				GameId: one.GetId(), Version: one.GetVersion(), Move: &pb.MoveRequest_Direction{Direction: legal[random.IntN(len(legal))]},
			}
			moved, err := a.Games.Move(a.Ctx, move)
			require.NoError(t, err, name)
			playertest.Apply(one, moved.GetEvent())
			moves, events = append(moves, move), append(events, moved.GetEvent())
		}
		if n == len(moves) {
			return // The game is over.
		}
		for ; n < len(moves); n++ {
			move := proto.CloneOf(moves[n])
			move.GameId = two.GetId()
			moved, err := b.Games.Move(b.Ctx, move)
			require.NoError(t, err, name)
			require.True(t, proto.Equal(events[n].GetPosition(), moved.GetEvent().GetPosition()), "%s after %d moves", name, n+1)
			require.True(t, proto.Equal(events[n].GetMoved(), moved.GetEvent().GetMoved()), "%s after %d moves", name, n+1)
		}
	}
}

// Ensure that the seed is never shown while a move is still possible, and that no move is
// refused before the close.
func TestClose_Moment(t *testing.T) {
	t.Parallel()
	for _, kind := range []pb.ChallengeKind{daily, link} {
		clock := newStillClock()
		config := servertest.Config(t).Unlimited()
		config.StoreNow = clock.now
		server, _ := servertest.Start(t, config)
		conn := servertest.Dial(t, server.Addr())
		ann := playertest.New(t.Context(), t, conn, "Ann")
		challenges := pb.NewChallengeServiceClient(conn)
		request := &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}}
		if kind == link {
			created, err := challenges.CreateChallenge(ann.Ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"})
			require.NoError(t, err)
			request = &pb.GetChallengeRequest{ChallengeId: created.GetChallenge().GetId()}
		}
		got, err := challenges.GetChallenge(t.Context(), request)
		require.NoError(t, err)
		request = &pb.GetChallengeRequest{ChallengeId: got.GetChallenge().GetId()}
		g := ann.Create(t, &pb.CreateGameRequest{ChallengeId: got.GetChallenge().GetId()})
		clock.forward(got.GetChallenge().GetCloseTime().AsTime().Sub(clock.now()) - 3*time.Millisecond)
		for left := 3; left > 0; left-- {
			got, err = challenges.GetChallenge(t.Context(), request)
			require.NoError(t, err)
			assert.Empty(t, got.GetChallenge().GetSeed(), "%d ms before the close", left)
			ann.Move(t, g)
			clock.forward(time.Millisecond)
		}
		_, err = ann.Games.Move(ann.Ctx, playertest.Slide(g))
		why, _ := reason(err)
		assert.Equal(t, pb.ReasonGameOver, why)
		got, err = challenges.GetChallenge(t.Context(), request)
		require.NoError(t, err)
		assert.NotEmpty(t, got.GetChallenge().GetSeed())
	}
}
