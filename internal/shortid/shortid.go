// Package shortid finds games by the first characters of their ids.
package shortid

import (
	"context"
	"strings"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Min is the minimum length of a short id.
const Min = 6

// Limits on the search, whose pages have as many games as a server returns at once.
const (
	pageSize = 200
	ownPages = 50
)

// Valid reports whether text can be the first characters of an id.
func Valid(text string) bool {
	return len(text) >= Min && len(text) < id.Length && id.IsBase32(text)
}

// Find returns the ids that begin with prefix among the caller's own games, if own is set, and the 200
// most recent public ones. If there are none, it searches the 200 most recent active games, then the
// 200 best and then the 200 most watched. list is GameService.ListGames.
func Find(
	ctx context.Context, prefix string, own bool, list func(context.Context, *pb.ListGamesRequest) (*pb.ListGamesResponse, error),
) (map[string]bool, error) {
	fits := map[string]bool{}
	look := func(request *pb.ListGamesRequest, pages int) error {
		request.PageSize = pageSize
		for range pages {
			page, err := list(ctx, request)
			if err != nil {
				return err
			}
			for _, game := range page.GetGames() {
				if id.Valid(game.GetId()) && strings.HasPrefix(game.GetId(), prefix) {
					fits[game.GetId()] = true
				}
			}
			if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
				break
			}
		}
		return nil
	}
	var err error
	if own {
		err = look(&pb.ListGamesRequest{PlayerId: "me"}, ownPages)
	}
	if err == nil {
		err = look(&pb.ListGamesRequest{}, 1)
	}
	for _, order := range []pb.OrderBy{pb.OrderBy_ORDER_BY_RECENT, pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_WATCHERS} {
		if err == nil && len(fits) == 0 {
			err = look(&pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: order}, 1)
		}
	}
	return fits, err
}
