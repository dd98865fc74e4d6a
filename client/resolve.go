package client

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/shortid"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
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
	case len(prefix) < shortid.Min:
		return "", invalid("%q is too short: give at least %d characters of the id", prefix, shortid.Min)
	}

	fits, err := shortid.Find(ctx, prefix, c.PlayerID() != "",
		func(ctx context.Context, r *pb.ListGamesRequest) (*pb.ListGamesResponse, error) {
			return c.Games.ListGames(ctx, r)
		})
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

func invalid(format string, args ...any) error {
	return &Error{Code: codes.InvalidArgument, Message: fmt.Sprintf(format, args...)}
}
