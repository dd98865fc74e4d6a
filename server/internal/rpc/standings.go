package rpc

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/internal/convert"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

// ListStandings implements pb.ChallengeServiceServer.
func (s *Service) ListStandings(ctx context.Context, request *pb.ListStandingsRequest) (*pb.ListStandingsResponse, error) {
	size, err := page.Size(request.GetPageSize())
	if err != nil {
		return nil, err
	}
	around := request.GetPlayerId() != ""
	switch {
	case request.GetNeighbors() < 0:
		return nil, invalid.Field("neighbors", "must not be negative")
	case around && request.GetPageSize() != 0:
		return nil, invalid.Field("page_size", "cannot be combined with player_id")
	case around && request.GetPageToken() != "":
		return nil, invalid.Field("page_token", "cannot be combined with player_id")
	}
	var player string
	if around {
		if player, err = playerID(ctx, request.GetPlayerId()); errors.Is(err, errPlayerNotFound) {
			err = leaderboard.ErrNoScore
		}
		if err != nil {
			return nil, err
		}
	}
	c, now, err := s.find(ctx, request.GetChallengeId())
	if err != nil {
		return nil, err
	}
	switch {
	case c.Kind == replay.Race:
		return s.listRace(ctx, c, now, request, player, size)
	case around:
		entries, _, total, err := s.Leaderboard.Rank(ctx, boardOf(c), player, request.GetNeighbors())
		if err != nil {
			return nil, err
		}
		lines, err := s.boardStandings(ctx, entries)
		return &pb.ListStandingsResponse{Standings: lines, Total: total}, err
	}
	response, err := s.standingsPage(ctx, c, request.GetPageToken(), size)
	if lines := response.GetStandings(); err == nil && request.GetPageToken() == "" && len(lines) > 0 {
		response.Distribution, err = s.Leaderboard.Distribution(ctx, boardOf(c), lines[0].GetScore())
	}
	return response, err
}

// boardOf returns the board with the standings of a challenge that is not a race.
func boardOf(c *challenge.Challenge) leaderboard.Board {
	return leaderboard.Board{Variant: c.Variant, ChallengeID: c.ID}
}

// standingsPage returns a page of the standings of a challenge that is not a race, without their
// distribution.
func (s *Service) standingsPage(ctx context.Context, c *challenge.Challenge, token string, size int) (*pb.ListStandingsResponse, error) {
	listed, err := s.Leaderboard.List(ctx, boardOf(c), token, size)
	if err != nil {
		return nil, err
	}
	lines, err := s.boardStandings(ctx, listed.Entries)
	return &pb.ListStandingsResponse{Standings: lines, NextPageToken: listed.Next, Total: listed.Total}, err
}

// boardStandings converts the leaderboard entries of finished attempts to standings.
func (s *Service) boardStandings(ctx context.Context, board []leaderboard.Entry) ([]*pb.Standing, error) {
	entries, err := s.entries(ctx, board)
	if err != nil {
		return nil, err
	}
	heads, err := s.Log.Heads(ctx, convert.All(entries, (*pb.Entry).GetGameId))
	if err != nil {
		return nil, err
	}
	lines := make([]*pb.Standing, len(entries))
	for i, e := range entries {
		lines[i] = &pb.Standing{
			Rank: e.GetRank(), Who: &pb.Standing_Player{Player: e.GetPlayer()}, Score: e.GetScore(), GameId: e.GetGameId(),
			Time: e.GetTime(), Finished: true,
		}
		lines[i].LargestTile, lines[i].MoveCount = progress(heads[i].State)
	}
	return lines, nil
}

// listRace implements ListStandings for a race. It returns a page, or a player's entry
// and its neighbors.
func (s *Service) listRace(
	ctx context.Context, c *challenge.Challenge, now time.Time, request *pb.ListStandingsRequest,
	playerID string, size int,
) (*pb.ListStandingsResponse, error) {
	m, hidden, err := s.challenge(ctx, c, now)
	if err != nil {
		return nil, err
	}
	states, _, err := s.Challenges.States(ctx, c)
	if err != nil {
		return nil, err
	}
	response := rankEntrants(c, m.GetEntrants(), states, hidden)
	lines := response.GetStandings()
	if playerID != "" {
		own := slices.IndexFunc(lines, func(line *pb.Standing) bool { return line.GetPlayer().GetId() == playerID })
		if own < 0 {
			return nil, leaderboard.ErrNoScore
		}
		neighbors := int(min(request.GetNeighbors(), leaderboard.MaxNeighbors))
		response.Standings = lines[max(0, own-neighbors):min(len(lines), own+neighbors+1)]
		return response, nil
	}
	// As on leaderboards, ranks in a race may change between the reads of two pages.
	query := "race " + c.ID
	after, err := s.Tokens.Open(ctx, query, request.GetPageToken())
	if err != nil {
		return nil, err
	}
	first := min(int(after.Rank), len(lines))
	next := min(first+size, len(lines))
	response.Standings = lines[first:next]
	if next < len(lines) {
		last := store.Place{Rank: int64(next), GameID: lines[next-1].GetGameId()}
		response.NextPageToken, err = s.Tokens.Seal(ctx, query, last)
	}
	return response, err
}

// rankEntrants returns the standings of c without hidden players. Attempts that do not count come last. entrants and
// states hold the messages and the games' states of c's entrants; the state of an unreadable game is nil.
func rankEntrants(
	c *challenge.Challenge, entrants []*pb.Entrant, states []*replay.State, hidden map[string]bool,
) *pb.ListStandingsResponse {
	lines := make([]*pb.Standing, 0, len(states))
	for _, r := range c.Results(states) {
		e, state := entrants[r.Entrant], states[r.Entrant]
		if hidden[e.GetPlayer().GetId()] {
			continue
		}
		line := &pb.Standing{GameId: e.GetGameId(), Score: r.Score, Who: &pb.Standing_Player{Player: e.GetPlayer()}}
		if e.GetBot() != "" {
			line.Who = &pb.Standing_Bot{Bot: e.GetBot()}
		}
		if r.Ranked {
			line.Rank = int32(len(lines)) + 1
		}
		if state != nil {
			line.LargestTile, line.MoveCount = progress(state)
			line.Time, line.Finished = timestamppb.New(state.UpdateTime), state.Status == replay.Finished
		}
		lines = append(lines, line)
	}
	return &pb.ListStandingsResponse{Standings: lines, Total: int32(len(lines))}
}

// progress returns the largest tile and the number of moves in an attempt, or zeros if state
// is nil. The first board of a race stays hidden until the race opens, so before the first
// move the largest tile is 0.
func progress(state *replay.State) (largestTile, moves int32) {
	if state == nil {
		return 0, 0
	}
	moves = state.Position.MoveCount()
	if p, ok := state.Position.(*twenty48.Position); ok && moves > 0 {
		largestTile = slices.Max(p.Tiles())
	}
	return largestTile, moves
}
