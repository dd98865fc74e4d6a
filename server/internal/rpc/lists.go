package rpc

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/convert"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

// ListGames implements pb.GameServiceServer.
func (s *Service) ListGames(ctx context.Context, request *pb.ListGamesRequest) (*pb.ListGamesResponse, error) {
	list, err := s.listOf(ctx, request)
	if err != nil {
		return nil, err
	}
	size, err := page.Size(request.GetPageSize())
	if err != nil {
		return nil, err
	}
	skipped := 0 // candidates of the last look-up that do not belong to the list
	// The lists may be stale; a game's head has its current state.
	games, next, err := directory.Collect(ctx, s.Directory, &s.pages, list, caller(ctx).ID, request.GetPageToken(), size,
		func(ctx context.Context, candidates []store.Place) (map[string]ranked, error) {
			front.BudgetOf(ctx).Charge(skipCost(skipped))
			heads, err := s.Log.Heads(ctx, convert.All(candidates, func(p store.Place) string { return p.GameID }))
			if err != nil {
				return nil, err
			}
			games, err := s.filter(ctx, list, candidates, heads)
			skipped = len(candidates) - len(games)
			return games, err
		})
	if err != nil {
		return nil, err
	}
	games = slices.Clone(games) // may be shared with other calls
	slices.SortStableFunc(games, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	moving, err := s.Directory.Moving(ctx)
	if err != nil {
		return nil, err
	}
	if list.Status == store.Active && list.PlayerID == "" {
		s.Demand.Listed(moving)
	}
	shown := convert.All(games, func(g ranked) *pb.Game { return g.game })
	return &pb.ListGamesResponse{Games: shown, NextPageToken: next, MovingGames: int32(moving)}, nil
}

// ranked is a game with its rank in the requested list.
type ranked struct {
	game *pb.Game
	rank int64
}

// listOf returns the list that a request describes.
func (s *Service) listOf(ctx context.Context, request *pb.ListGamesRequest) (store.List, error) {
	l := store.List{Variant: request.GetVariant(), Status: store.Status(request.GetStatus())}
	if _, ok := pb.GameStatus_name[int32(request.GetStatus())]; !ok {
		return l, invalid.Field("status", "must be waiting, active, finished or unset")
	}
	switch request.GetOrderBy() {
	case pb.OrderBy_ORDER_BY_UNSPECIFIED, pb.OrderBy_ORDER_BY_RECENT:
	case pb.OrderBy_ORDER_BY_SCORE:
		l.Order = store.ByScore
	case pb.OrderBy_ORDER_BY_WATCHERS:
		l.Order = store.ByWatchers
	default:
		return l, invalid.Field("order_by", "must be recent, score or watchers")
	}
	ofPlayer := request.GetPlayerId() != "" || request.GetPlayerName() != ""
	if l.Order != store.Recent && (ofPlayer || l.Status != store.Active) {
		return l, invalid.Field("order_by", "must be recent for a player's games, and unless status is GAME_STATUS_ACTIVE")
	}
	var err error
	l.PlayerID, err = s.listedPlayer(ctx, request)
	return l, err
}

// noPlayer is a player ID that is never assigned, so its list of games is empty.
const noPlayer = "nobody"

// listedPlayer returns the ID of the player whose games a request lists, or "" for all
// players.
func (s *Service) listedPlayer(ctx context.Context, request *pb.ListGamesRequest) (string, error) {
	id, name := request.GetPlayerId(), request.GetPlayerName()
	switch {
	case name != "" && id != "":
		return "", invalid.Field("player_name", "cannot be combined with player_id")
	case id == me:
		return playerID(ctx, me)
	case name == "":
		return id, nil
	}
	p, err := s.Accounts.FindByName(ctx, name)
	if errors.Is(err, account.ErrNotFound) {
		return noPlayer, nil
	}
	return p.ID, err
}

// filter returns the games that belong in the list and that the caller may see, by ID. It
// removes games that no longer exist from the list, and schedules a repair for games that
// are in the wrong list or have the wrong rank.
func (s *Service) filter(ctx context.Context, l store.List, candidates []store.Place, heads []gamelog.Head) (map[string]ranked, error) {
	games := make(map[string]ranked, len(candidates))
	by := caller(ctx)
	hidden, err := s.hidden(ctx, l, heads)
	if err != nil {
		return nil, err
	}
	challenges, now, err := s.challengesOf(ctx, heads)
	if err != nil {
		return nil, err
	}
	var gone []string
	for i, head := range heads {
		state, place := head.State, candidates[i]
		if !head.Exists {
			gone = append(gone, place.GameID)
			continue
		}
		if state == nil {
			continue
		}
		listing := directory.Of(state, head.Watchers)
		if l.Status != store.AnyStatus && listing.Status != l.Status {
			if l.PlayerID == "" {
				s.Directory.Mend(listing)
			}
			continue
		}
		if l.Rank(listing) != place.Rank {
			s.Directory.Mend(listing)
		}
		c := challenges[state.Attempt.ChallengeID] // nil unless the game is an attempt
		switch {
		case l.Variant != "" && listing.Variant != l.Variant,
			l.PlayerID == "" && absent(head, now),
			slices.ContainsFunc(listing.Players, func(id string) bool { return hidden[id] }),
			state.Private && (l.PlayerID == "" || len(state.SeatsOf(by.ID)) == 0),
			state.IsAttempt() && !listsAttempt(l, state, c, now, by.ID):
			continue
		case c != nil && state.Status == replay.Finished && !c.Revealed(now).IsZero():
			state = state.Reveal(c.Seed)
		}
		games[place.GameID] = ranked{translate.Game(state, head.Watchers), l.Rank(listing)}
	}
	if err := s.Directory.Forget(ctx, l, gone...); err != nil {
		s.Logger.Debug("cannot remove missing games from a list", "error", err) // The next read of the list will try again.
	}
	return games, nil
}

// absent reports whether a game waits for players although none of its players watches it and it has had no event
// recently.
func absent(head gamelog.Head, now time.Time) bool {
	waits := head.State.Status == replay.Waiting && head.Watchers == 0
	return waits && now.Sub(head.State.UpdateTime) > challenge.AbsentAfter
}

// hidden returns the set of the games' players whom an operator has hidden, by player ID.
// The games of a hidden player appear only to the players in them, in their own lists.
func (s *Service) hidden(ctx context.Context, l store.List, heads []gamelog.Head) (map[string]bool, error) {
	if l.PlayerID != "" && l.PlayerID == caller(ctx).ID {
		return nil, nil
	}
	return s.Leaderboard.Hidden(ctx, directory.PlayersOf(heads)...)
}
