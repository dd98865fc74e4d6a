package rpc

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/page"
)

// ListGames implements the contract.
func (s *Service) ListGames(ctx context.Context, request *pb.ListGamesRequest) (*pb.ListGamesResponse, error) {
	query, err := s.query(ctx, request)
	if err != nil {
		return nil, err
	}
	size, err := page.Size(request.GetPageSize())
	if err != nil {
		return nil, err
	}
	if query.Variant != "" {
		if _, ok := variants.Current(query.Variant); !ok {
			if request.GetPageToken() != "" {
				return nil, page.BadToken()
			}
			return &pb.ListGamesResponse{}, nil
		}
	}
	// The lists are hints: a game's head has its current state.
	games, next, err := directory.Collect(ctx, s.Directory, query, request.GetPageToken(), size,
		func(ctx context.Context, candidates directory.Page) (map[string]ranked, error) {
			// Both at once: mostly nobody is hidden, and then it is known without a
			// further round trip.
			var anyHidden bool
			var group errgroup.Group
			group.Go(func() (err error) {
				anyHidden, err = s.Leaderboard.AnyHidden(ctx)
				return err
			})
			heads, err := s.Log.Heads(ctx, candidates.GameIDs)
			if err := cmp.Or(err, group.Wait()); err != nil {
				return nil, err
			}
			return s.filter(ctx, query, candidates, heads, anyHidden)
		})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(games, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	response := &pb.ListGamesResponse{NextPageToken: next}
	for _, g := range games {
		response.Games = append(response.Games, g.game)
	}
	return response, nil
}

// ranked is a game and its rank in the requested list.
type ranked struct {
	game *pb.Game
	rank int64
}

// query returns the list that a request describes.
func (s *Service) query(ctx context.Context, request *pb.ListGamesRequest) (directory.Query, error) {
	q := directory.Query{Variant: request.GetVariant(), CallerID: caller(ctx).ID}
	switch status := request.GetStatus(); status {
	case pb.GameStatus_GAME_STATUS_UNSPECIFIED, pb.GameStatus_GAME_STATUS_WAITING,
		pb.GameStatus_GAME_STATUS_ACTIVE, pb.GameStatus_GAME_STATUS_FINISHED:
		q.Status = directory.Status(status)
	default:
		return q, invalid.Field("status", "must be waiting, active, finished or unset")
	}
	switch request.GetOrderBy() {
	case pb.OrderBy_ORDER_BY_UNSPECIFIED, pb.OrderBy_ORDER_BY_RECENT:
	case pb.OrderBy_ORDER_BY_SCORE:
		q.Order = directory.ByScore
	case pb.OrderBy_ORDER_BY_WATCHERS:
		q.Order = directory.ByWatchers
	default:
		return q, invalid.Field("order_by", "must be recent, score or watchers")
	}
	if q.Order != directory.Recent && q.Status != directory.Active {
		return q, invalid.Field("order_by", "by score or watchers is for active games: set status to GAME_STATUS_ACTIVE")
	}
	if id := request.GetPlayerId(); id != "" {
		if q.Order != directory.Recent {
			return q, invalid.Field("player_id", "goes with the recent order only")
		}
		if id == me {
			p, err := mustCaller(ctx)
			if err != nil {
				return q, err
			}
			id = p.ID
		}
		q.PlayerID = id
	}
	return q, nil
}

// filter returns the games that belong to the list. It removes games that no longer
// exist from the list, and schedules a repair of others that do not belong.
func (s *Service) filter(ctx context.Context, q directory.Query, candidates directory.Page, heads []gamelog.Head, anyHidden bool) (map[string]ranked, error) {
	ids := candidates.GameIDs
	games := make(map[string]ranked, len(ids))
	by := caller(ctx)
	var hidden map[string]bool
	if anyHidden {
		var err error
		if hidden, err = s.hidden(ctx, q, heads); err != nil {
			return nil, err
		}
	}
	var gone []string
	for i, head := range heads {
		state := head.State
		if !head.Exists {
			gone = append(gone, ids[i])
			continue
		}
		if state == nil {
			continue
		}
		listing := directory.Of(state, head.Watchers)
		if q.Status != directory.AnyStatus && listing.Status != q.Status {
			if q.PlayerID == "" {
				s.Directory.Mend(listing)
			}
			continue
		}
		if candidates.Misplaced(i, listing) {
			s.Directory.Mend(listing)
		}
		if q.Variant != "" && listing.Variant != q.Variant {
			continue
		}
		if slices.ContainsFunc(listing.Players, func(id string) bool { return hidden[id] }) {
			continue
		}
		if state.Private && (q.PlayerID == "" || len(state.SeatsOf(by.ID)) == 0) {
			continue
		}
		games[ids[i]] = ranked{translate.Game(state, head.Watchers), q.Rank(listing)}
	}
	return games, s.Directory.Forget(ctx, q, gone...)
}

// hidden returns the players of the games whom an operator hid. Their games are on
// their own lists only.
func (s *Service) hidden(ctx context.Context, q directory.Query, heads []gamelog.Head) (map[string]bool, error) {
	if q.PlayerID != "" {
		return nil, nil
	}
	var players []string
	for _, head := range heads {
		if head.State != nil {
			players = append(players, directory.Of(head.State, 0).Players...)
		}
	}
	return s.Leaderboard.Hidden(ctx, players...)
}
