package contract

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// unknown returns ids that do not exist. Only the first is well formed.
func unknown() []string {
	return []string{
		newID(), newID()[1:], newID() + "a", strings.ToUpper(newID()), newID()[1:] + "1", newID()[1:] + "=",
		"*", "{" + newID()[2:] + "}", " ", "ünïcödé", "\x00", strings.Repeat("é", 13), strings.Repeat("a", 3_000),
	}
}

// Ensure that Move makes its checks in the contract's order: each call fails one check and all
// later ones.
func TestMove_Order(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p, other := s.player(t), s.player(t)
		over := s.game(t, p, "classic")
		made := s.moves(t, p, over, 3)
		s.resign(t, p, over.GetId()) // version 5
		live := s.game(t, p, "classic")
		played := s.moves(t, p, live, 3) // version 4

		// Fields are checked before the game is looked up.
		for _, id := range []string{newID(), "no id", over.GetId(), live.GetId()} {
			for _, version := range []int32{0, -1, math.MinInt32} {
				_, err := s.Move(other.ctx, slide(id, version, pb.Direction_DIRECTION_UP))
				wantField(t, err, "version")
			}
			for _, d := range []pb.Direction{0, -1, 5, 99, math.MaxInt32} {
				_, err := s.Move(other.ctx, slide(id, 1, d))
				wantField(t, err, "direction")
			}
			_, err := s.Move(other.ctx, &pb.MoveRequest{GameId: id, Version: 1})
			wantField(t, err, "move")
		}
		_, err := s.Move(p.ctx, slide("", 1, pb.Direction_DIRECTION_UP))
		wantField(t, err, "game_id")

		for _, id := range unknown() {
			_, err := s.Move(p.ctx, slide(id, 99, pb.Direction_DIRECTION_UP))
			wantReason(t, err, pb.ReasonGameNotFound)
		}

		// The seat is checked before repeats are detected and before all other checks below.
		for _, version := range []int32{1, 2, 4, 5, 99, math.MaxInt32} {
			for _, id := range []string{over.GetId(), live.GetId()} {
				_, err := s.Move(other.ctx, slide(id, version, made[0].GetMoved().GetDirection()))
				wantReason(t, err, pb.ReasonNotSeated)
			}
		}

		// Repeats are detected before the game's status and version are checked.
		for i, event := range made {
			again, err := s.Move(p.ctx, slide(over.GetId(), int32(i+1), event.GetMoved().GetDirection()))
			require.NoError(t, err)
			assert.True(t, proto.Equal(event, again.GetEvent()))
		}

		// A finished game is refused before the version is checked.
		differs := func(e *pb.Event) pb.Direction { return e.GetMoved().GetDirection()%4 + 1 }
		for version := int32(1); version < 8; version++ {
			d := pb.Direction_DIRECTION_UP
			if int(version) <= len(made) {
				d = differs(made[version-1])
			}
			_, err := s.Move(p.ctx, slide(over.GetId(), version, d))
			wantReason(t, err, pb.ReasonGameOver)
			_, err = s.Move(p.ctx, cell(over.GetId(), version, 0, 0))
			wantReason(t, err, pb.ReasonGameOver)
		}

		// The version is checked before the rules.
		for version := int32(1); version < 4; version++ {
			_, err := s.Move(p.ctx, slide(live.GetId(), version, differs(played[version-1])))
			wantConflict(t, err, 4)
			// A move that is marked as made by a program differs from one that is not.
			same := slide(live.GetId(), version, played[version-1].GetMoved().GetDirection())
			same.ByBot = true
			_, err = s.Move(p.ctx, same)
			wantConflict(t, err, 4)
		}
		for _, version := range []int32{1, 3, 5, 6, 70, math.MaxInt32} {
			_, err := s.Move(p.ctx, cell(live.GetId(), version, 0, 0))
			wantConflict(t, err, 4)
		}

		for _, at := range [][2]int32{{0, 0}, {3, 3}, {4, 0}, {-1, 0}, {math.MaxInt32, math.MinInt32}} {
			_, err := s.Move(p.ctx, cell(live.GetId(), 4, at[0], at[1]))
			wantReason(t, err, pb.ReasonIllegalMove)
		}
		assert.EqualValues(t, 4, s.get(t, live.GetId()).GetVersion(), "refused moves must change nothing")
		assert.EqualValues(t, 5, s.get(t, over.GetId()).GetVersion())
		assert.True(t, s.get(t, live.GetId()).GetRanked())
	})
}

func cell(id string, version, x, y int32) *pb.MoveRequest {
	return &pb.MoveRequest{GameId: id, Version: version, Move: &pb.MoveRequest_Cell{Cell: &pb.Cell{X: x, Y: y}}}
}

// Ensure that a move that breaks the rules is refused as illegal.
func TestMove_Illegal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		for tried := 0; tried < 5; {
			// On a new board every direction may be legal. After a move or two, one usually isn't.
			g := s.game(t, p, "classic")
			version, at := g.GetVersion(), g.GetPosition()
			d, found := illegal(at)
			for !found {
				event := s.move(t, p, g.GetId(), version, at)
				version, at = event.GetVersion(), event.GetPosition()
				d, found = illegal(at)
			}
			for range 2 {
				_, err := s.Move(p.ctx, slide(g.GetId(), version, d))
				wantReason(t, err, pb.ReasonIllegalMove)
			}
			assert.Equal(t, version, s.get(t, g.GetId()).GetVersion())
			s.move(t, p, g.GetId(), version, at)
			tried++
		}
	})
}

// Ensure that Resign makes its checks in the contract's order.
func TestResign_Order(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p, other := s.player(t), s.player(t)
		resign := func(ctx context.Context, id string, version, seat *int32) error {
			_, err := s.Resign(ctx, &pb.ResignRequest{GameId: id, Version: version, Seat: seat})
			return err
		}
		stuck := s.game(t, p, "3x3")
		s.moves(t, p, stuck, math.MaxInt32)
		require.Equal(t, pb.Result_REASON_NO_MOVES, s.get(t, stuck.GetId()).GetResult().GetReason())
		live := s.game(t, p, "classic")
		s.moves(t, p, live, 2) // version 3

		wantField(t, resign(other.ctx, "", nil, nil), "game_id")
		for _, id := range []string{newID(), stuck.GetId(), live.GetId()} {
			for _, version := range []int32{0, -1, math.MinInt32} {
				wantField(t, resign(other.ctx, id, &version, nil), "version")
			}
			wantField(t, resign(other.ctx, id, nil, proto.Int32(-1)), "seat")
		}
		for _, seat := range []int32{1, 3, math.MaxInt32} {
			wantField(t, resign(p.ctx, live.GetId(), nil, &seat), "seat")
		}
		for _, id := range unknown() {
			wantReason(t, resign(p.ctx, id, proto.Int32(99), nil), pb.ReasonGameNotFound)
		}
		for _, id := range []string{stuck.GetId(), live.GetId()} {
			wantReason(t, resign(other.ctx, id, proto.Int32(99), nil), pb.ReasonNotSeated)
			wantReason(t, resign(other.ctx, id, nil, proto.Int32(0)), pb.ReasonNotSeated)
		}
		wantReason(t, resign(p.ctx, stuck.GetId(), nil, nil), pb.ReasonGameOver)
		wantReason(t, resign(p.ctx, stuck.GetId(), proto.Int32(1), nil), pb.ReasonGameOver)
		wantReason(t, resign(p.ctx, stuck.GetId(), proto.Int32(9999), proto.Int32(0)), pb.ReasonGameOver)
		for _, version := range []int32{1, 2, 4, math.MaxInt32} {
			wantConflict(t, resign(p.ctx, live.GetId(), &version, nil), 3)
		}
		require.NoError(t, resign(p.ctx, live.GetId(), proto.Int32(3), proto.Int32(0)))
		// Another player's seat is refused, even if the call would be a repeat.
		wantReason(t, resign(other.ctx, live.GetId(), proto.Int32(3), proto.Int32(0)), pb.ReasonNotSeated)
	})
}

// Ensure that an empty id is a field error and an unknown id is not found, in every call.
func TestIDs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		t.Run("a missing id is a field error", func(t *testing.T) {
			_, err := s.GetGame(s.anyone, &pb.GetGameRequest{})
			wantField(t, err, "game_id")
			wantField(t, s.watch(t, s.anyone, &pb.WatchRequest{}).refused(t), "game_id")
			_, err = s.GetPlayer(s.anyone, &pb.GetPlayerRequest{})
			wantField(t, err, "player_id")
			_, err = s.GetPlayer(s.anyone, &pb.GetPlayerRequest{PlayerId: p.GetId(), Name: p.GetName()})
			wantField(t, err, "name")
			_, err = s.GetRank(s.anyone, &pb.GetRankRequest{Variant: "classic"})
			wantField(t, err, "player_id")
			_, err = s.GetRank(s.anyone, &pb.GetRankRequest{PlayerId: p.GetId()})
			wantField(t, err, "variant")
			_, err = s.ListScores(s.anyone, &pb.ListScoresRequest{})
			wantField(t, err, "variant")
			_, err = s.CreateGame(p.ctx, &pb.CreateGameRequest{})
			wantField(t, err, "variant")
			_, err = s.JoinGame(p.ctx, &pb.JoinGameRequest{})
			wantField(t, err, "game_id")
			_, err = s.Undo(p.ctx, &pb.UndoRequest{Version: 1})
			wantField(t, err, "game_id")
		})
		t.Run("an unknown game is not found", func(t *testing.T) {
			for _, id := range append(unknown(), p.GetId()) {
				_, err := s.GetGame(s.anyone, &pb.GetGameRequest{GameId: id})
				wantReason(t, err, pb.ReasonGameNotFound)
				wantReason(t, s.watch(t, s.anyone, &pb.WatchRequest{GameId: id}).refused(t), pb.ReasonGameNotFound)
				wantReason(t, s.watch(t, s.anyone, from(id, 7)).refused(t), pb.ReasonGameNotFound)
				_, err = s.JoinGame(p.ctx, &pb.JoinGameRequest{GameId: id, Seat: proto.Int32(99)})
				wantReason(t, err, pb.ReasonGameNotFound)
				_, err = s.Undo(p.ctx, &pb.UndoRequest{GameId: id, Version: 9})
				wantReason(t, err, pb.ReasonGameNotFound)
			}
		})
		g := s.game(t, p, "classic")
		t.Run("an unknown player is not found", func(t *testing.T) {
			for _, id := range append(unknown(), g.GetId(), "Me", "me ") {
				_, err := s.GetPlayer(p.ctx, &pb.GetPlayerRequest{PlayerId: id})
				wantReason(t, err, pb.ReasonPlayerNotFound)
				_, err = s.GetRank(p.ctx, &pb.GetRankRequest{Variant: "classic", PlayerId: id})
				wantReason(t, err, pb.ReasonPlayerNotFound)
			}
		})
		t.Run("an unknown variant is not found", func(t *testing.T) {
			for _, variant := range []string{"chess", "Classic", "classic ", "Tribolo", "all", "*", "classic:all", "\x00", newID()} {
				_, err := s.GetRank(s.anyone, &pb.GetRankRequest{Variant: variant, PlayerId: p.GetId()})
				wantReason(t, err, pb.ReasonVariantNotFound)
				_, err = s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: variant})
				wantReason(t, err, pb.ReasonVariantNotFound)
				_, err = s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: variant})
				wantReason(t, err, pb.ReasonVariantNotFound)
			}
		})
	})
}
