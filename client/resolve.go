package client

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	minPrefix = 6
	// recentGames is the number of public games to search, which fit on one page.
	recentGames = 200
	// maxOwnPages is the maximum number of pages of the account's own games to search.
	maxOwnPages = 50
)

// Resolve returns the id of the game that a user means. A full id is returned without
// asking the server. A prefix of 6 or more characters must match exactly one game among
// the account's own games and the 200 most recent public ones. If it matches none of
// these, Resolve searches the 200 most recent active games, then the 200 best and then
// the 200 most watched. If no game or more than one matches, the error is ErrGameNotFound
// or ErrInvalid, and its message asks for the full id.
func (c *Client) Resolve(ctx context.Context, prefix string) (string, error) {
	prefix = strings.ToLower(strings.TrimSpace(prefix))
	switch {
	case id.Valid(prefix):
		return prefix, nil
	case len(prefix) >= id.Length || !id.IsBase32(prefix):
		return "", invalid("%q is not a game: an id has %d characters from a–z and 2–7", CleanText(prefix, 2*id.Length), id.Length)
	case len(prefix) < minPrefix:
		return "", invalid("%q is too short: give at least %d characters of the id", prefix, minPrefix)
	}

	fits, err := c.search(ctx, prefix)
	if err != nil {
		return "", err
	}
	switch len(fits) {
	case 0:
		return "", &Error{
			Code: codes.NotFound, Reason: pb.ReasonGameNotFound,
			Message: fmt.Sprintf("no game of yours, no recent game and no active game has an id that begins with %q: give the full id", prefix),
		}
	case 1:
		return slices.Collect(maps.Keys(fits))[0], nil
	default:
		return "", invalid("%d games have an id that begins with %q: give more characters of it", len(fits), prefix)
	}
}

// search returns the ids that begin with prefix among the games that Resolve examines.
func (c *Client) search(ctx context.Context, prefix string) (map[string]bool, error) {
	fits := map[string]bool{}
	look := func(request *pb.ListGamesRequest, pages int) error {
		request.PageSize = recentGames
		for range pages {
			page, err := c.Games.ListGames(ctx, request)
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
	if c.PlayerID() != "" {
		if err := look(&pb.ListGamesRequest{PlayerId: "me"}, maxOwnPages); err != nil {
			return nil, err
		}
	}
	if err := look(&pb.ListGamesRequest{}, 1); err != nil {
		return nil, err
	}
	for _, order := range []pb.OrderBy{pb.OrderBy_ORDER_BY_RECENT, pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_WATCHERS} {
		if len(fits) > 0 {
			break
		}
		if err := look(&pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: order}, 1); err != nil {
			return nil, err
		}
	}
	return fits, nil
}

func invalid(format string, args ...any) error {
	return &Error{Code: codes.InvalidArgument, Message: fmt.Sprintf(format, args...)}
}
