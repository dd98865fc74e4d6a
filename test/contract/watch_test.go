package contract

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// unwatched returns a copy of a game without the number of spectators.
func unwatched(g *pb.Game) *pb.Game {
	g = proto.Clone(g).(*pb.Game)
	g.Watchers = 0
	return g
}

// Ensure that a spectator receives the game and then each event exactly as the player did,
// live and to the end, alongside other spectators.
func TestWatch_Live(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "classic")
		before := s.moves(t, p, g, 3)
		now := s.get(t, g.GetId())

		first := s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()})
		second := s.watch(t, s.player(t).ctx, &pb.WatchRequest{GameId: g.GetId(), EveryEvent: true})
		own := s.watch(t, p.ctx, &pb.WatchRequest{GameId: g.GetId()})
		resumed := s.watch(t, s.anyone, from(g.GetId(), 2))
		caughtUp := s.watch(t, s.anyone, from(g.GetId(), 4))
		all := s.watch(t, s.anyone, from(g.GetId(), 0))
		for _, w := range []*watcher{first, second, own} {
			assert.True(t, proto.Equal(unwatched(now), unwatched(w.game(t))))
		}
		for _, event := range before[1:] {
			assert.True(t, proto.Equal(event, resumed.event(t)))
		}
		assert.NotNil(t, all.event(t).GetCreated())
		for _, event := range before {
			assert.True(t, proto.Equal(event, all.event(t)))
		}

		watchers := []*watcher{first, second, own, resumed, caughtUp, all}
		live := s.moves(t, p, now, 5)
		live = append(live, s.resign(t, p, g.GetId()))
		for _, w := range watchers {
			for _, event := range live {
				require.True(t, proto.Equal(event, w.event(t)))
			}
			w.end(t)
		}
	})
}

// Ensure that the transcript of a game contains every event that its players received and matches
// the result of GetGame.
func TestWatch_Transcript(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		for _, request := range []*pb.CreateGameRequest{
			{Variant: "6x6"}, {Variant: "twos", Private: true}, {Variant: "restless"},
		} {
			g := s.create(t, p, request)
			n := 13 // no game of 4x4 can end sooner
			if g.GetVariant() == "6x6" {
				n = 80 // more than servers keep in memory
			}
			made := s.moves(t, p, g, n)
			transcript := s.watch(t, s.anyone, from(g.GetId(), 0))

			created := transcript.event(t)
			want := &pb.Event{
				GameId: g.GetId(), Version: 1, Time: g.GetCreateTime(), Position: g.GetPosition(), Ranked: g.GetRanked(),
				Action: &pb.Event_Created{Created: &pb.Created{
					Variant: g.GetVariant(), Seats: g.GetSeats(), Private: g.GetPrivate(),
					SeedCommitment: g.GetSeedCommitment(), RulesRevision: g.GetRulesRevision(),
				}},
			}
			assert.True(t, proto.Equal(want, created), "%v", created)
			last := created
			for _, event := range made {
				got := transcript.event(t)
				require.True(t, proto.Equal(event, got))
				assert.False(t, got.GetTime().AsTime().Before(last.GetTime().AsTime()), "times never run backward")
				last = got
			}
			resigned := s.resign(t, p, g.GetId())
			assert.True(t, proto.Equal(resigned, transcript.event(t)))
			transcript.end(t)

			final := s.get(t, g.GetId())
			assert.Equal(t, resigned.GetSeed(), final.GetSeed(), "the last event reveals the seed")
			assert.True(t, proto.Equal(resigned.GetResult(), final.GetResult()))
			assert.True(t, proto.Equal(resigned.GetPosition(), final.GetPosition()))
			assert.True(t, proto.Equal(resigned.GetTime(), final.GetUpdateTime()))
			assert.Equal(t, last.GetPosition().GetScores(), final.GetPosition().GetScores(), "resigning does not change the score")
			assert.Equal(t, last.GetPosition().GetTwenty48().GetTiles(), final.GetPosition().GetTwenty48().GetTiles())
			assert.Equal(t, g.GetSeedCommitment(), final.GetSeedCommitment())
			assert.True(t, proto.Equal(g.GetCreateTime(), final.GetCreateTime()))
			assert.Equal(t, pb.GameStatus_GAME_STATUS_FINISHED, final.GetStatus())
		}
	})
}

// Ensure that the stream of a finished game returns the game or the missing events and ends
// with OK.
func TestWatch_Finished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "3x3")
		made := s.moves(t, p, g, math.MaxInt32)
		last := made[len(made)-1]
		n := last.GetVersion()
		for _, every := range []bool{false, true} {
			w := s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId(), EveryEvent: every})
			assert.True(t, proto.Equal(unwatched(s.get(t, g.GetId())), unwatched(w.game(t))))
			w.end(t)
			for _, after := range []int32{0, 1, n / 2, n - 1, n} {
				request := from(g.GetId(), after)
				request.EveryEvent = every
				w := s.watch(t, s.anyone, request)
				for v := after + 1; v <= n; v++ {
					event := w.event(t)
					assert.Equal(t, v == n, event.GetResult() != nil, "only the last event has a result")
				}
				w.end(t)
			}
		}
		for _, after := range []int32{n + 1, n + 1000, math.MaxInt32} {
			wantConflict(t, s.watch(t, s.anyone, from(g.GetId(), after)).refused(t), n)
		}
	})
}

// Ensure that a spectator is refused if they have seen more events than the log contains.
func TestWatch_TooHigh(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "classic")
		s.moves(t, p, g, 2)
		for _, after := range []int32{4, 5, 67, math.MaxInt32} {
			wantConflict(t, s.watch(t, p.ctx, from(g.GetId(), after)).refused(t), 3)
		}
		for _, after := range []int32{-1, math.MinInt32} {
			wantField(t, s.watch(t, s.anyone, from(g.GetId(), after)).refused(t), "after_version")
			wantField(t, s.watch(t, s.anyone, from(newID(), after)).refused(t), "after_version")
		}
	})
}

// Ensure that the number of spectators excludes the game's own players, and that all streams
// report when it changes.
func TestWatch_Audience(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.create(t, p, &pb.CreateGameRequest{Variant: "classic", Private: true})
		request := &pb.WatchRequest{GameId: g.GetId()}
		own := s.watch(t, p.ctx, request)
		assert.Zero(t, own.game(t).GetWatchers())
		own.audience(t, 0)
		stranger := s.watch(t, s.player(t).ctx, request)
		assert.EqualValues(t, 1, stranger.game(t).GetWatchers(), "the count includes the spectator")
		nobody := s.watch(t, s.anyone, from(g.GetId(), 0))
		again := s.watch(t, p.ctx, from(g.GetId(), 1)) // the player's second stream
		for _, w := range []*watcher{own, stranger, nobody, again} {
			w.audience(t, 2)
		}
		assert.EqualValues(t, 2, s.get(t, g.GetId()).GetWatchers())

		nobody.leave()
		stranger.leave()
		own.audience(t, 0)
		assert.Zero(t, s.get(t, g.GetId()).GetWatchers())
		own.leave()
		again.leave()
	})
}

// Ensure that spectators are told to reconnect elsewhere when their server stops.
func TestWatch_Stop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "classic")
		watching := s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()})
		resumed := s.watch(t, p.ctx, from(g.GetId(), 0))
		watching.game(t)
		resumed.event(t)
		go s.stop()
		wantReason(t, watching.refused(t), pb.ReasonServerUnavailable)
		wantReason(t, resumed.refused(t), pb.ReasonServerUnavailable)
	})
}
