package client

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	minPrefix = 6
	// recentGames is the number of public games that are searched: one page.
	recentGames = 200
	// maxOwnPages bounds the search in the account's own games.
	maxOwnPages = 50
)

// Resolve returns the id of the game that a user means. It returns a whole id without
// asking the server. A prefix of 6 or more characters must match exactly one of the
// account's own games and the 200 most recent public ones. If it matches none of them,
// it may be one of 200 that are being played: the most recent, the best or the most
// watched. Else the error is ErrInvalid or ErrGameNotFound and asks for the whole id.
func (c *Client) Resolve(ctx context.Context, prefix string) (string, error) {
	prefix = strings.ToLower(strings.TrimSpace(prefix))
	switch {
	case id.Valid(prefix):
		return prefix, nil
	case len(prefix) >= id.Length || !id.IsBase32(prefix):
		return "", badID("%q is no game: an id has %d characters out of a–z and 2–7", CleanText(prefix, id.Length), id.Length)
	case len(prefix) < minPrefix:
		return "", badID("%q is too short: give %d characters of the id or more", prefix, minPrefix)
	}

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
			return "", err
		}
	}
	if err := look(&pb.ListGamesRequest{}, 1); err != nil {
		return "", err
	}
	for _, order := range []pb.OrderBy{pb.OrderBy_ORDER_BY_RECENT, pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_WATCHERS} {
		if len(fits) > 0 {
			break
		}
		if err := look(&pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: order}, 1); err != nil {
			return "", err
		}
	}

	switch len(fits) {
	case 0:
		return "", &Error{
			Code: codes.NotFound, Reason: pb.ReasonGameNotFound,
			Message: fmt.Sprintf("none of your games, of the latest or of those being played begins with %q: give the whole id", prefix),
		}
	case 1:
		for whole := range fits {
			prefix = whole
		}
		return prefix, nil
	default:
		return "", badID("%d games begin with %q: give more of the id, or all of it", len(fits), prefix)
	}
}

func badID(format string, args ...any) error {
	return &Error{Code: codes.InvalidArgument, Message: fmt.Sprintf(format, args...)}
}
