package web

import (
	"context"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/web/picture"
)

// aboutTimeout is how long a page waits for the description of its game or challenge
// before it is served without one. The page loads the game itself in any case.
const aboutTimeout = time.Second

// anonymously makes a call through the interceptors, without the token of the original request: previews
// and pictures must not depend on the caller, because they are cached and shown to others. The limits and
// errors are those of a gRPC call. It counts as a read in addition to the request.
func anonymously[Request, Response any](
	ctx context.Context, c Config, method string, call func(context.Context, *Request) (*Response, error), request *Request,
) (*Response, error) {
	if err := c.Service.Charge(ctx, 1); err != nil {
		return nil, err
	}
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		md.Delete("authorization")
		ctx = metadata.NewIncomingContext(ctx, md)
	}
	info := &grpc.UnaryServerInfo{Server: c.Service, FullMethod: method}
	response, err := c.Unary(ctx, request, info, func(ctx context.Context, request any) (any, error) {
		return call(ctx, request.(*Request))
	})
	if err != nil {
		return nil, err
	}
	return response.(*Response), nil
}

// about describes a page for link previews. For a hidden attempt, it describes the challenge.
func (c Config) about(ctx context.Context, page, id string) (Meta, error) {
	ctx, cancel := context.WithTimeout(ctx, aboutTimeout)
	defer cancel()
	d, err := c.describe(ctx, page, id)
	if hiding := challengeOf(err); hiding != "" {
		d, err = c.describe(ctx, "challenge", hiding)
		d.Image = "" // nothing on the page of a hidden attempt looks like its board
	}
	return d.Meta, err
}

// description describes a page in link previews.
type description struct {
	Meta
	poster picture.Poster
	final  bool // whether the picture no longer changes
}

// describe describes what a page shows as it appears to a caller without a token. If the game,
// challenge or player cannot be read, it returns the error of the call. Other pages have no description.
func (c Config) describe(ctx context.Context, page, id string) (description, error) {
	switch page {
	case "game":
		request := &pb.GetGameRequest{GameId: id}
		response, err := anonymously(ctx, c, pb.GameService_GetGame_FullMethodName, c.Service.GetGame, request)
		return describeGame(response.GetGame()), err
	case "challenge", "daily":
		request := &pb.GetChallengeRequest{ChallengeId: id}
		if page == "daily" {
			request = &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: id}}
		}
		response, err := anonymously(ctx, c, pb.ChallengeService_GetChallenge_FullMethodName, c.Service.GetChallenge, request)
		return describeChallenge(response.GetChallenge()), err
	case "player":
		request := &pb.GetPlayerRequest{Name: id}
		response, err := anonymously(ctx, c, pb.PlayerService_GetPlayer_FullMethodName, c.Service.GetPlayer, request)
		if err != nil {
			return description{}, err
		}
		latest := &pb.ListGamesRequest{PlayerId: response.GetPlayer().GetId(), PageSize: 1}
		list, err := anonymously(ctx, c, pb.GameService_ListGames_FullMethodName, c.Service.ListGames, latest)
		return describePlayer(response.GetPlayer(), list.GetGames()), err
	default:
		return description{}, nil
	}
}

// challengeOf returns the ID of the challenge that hides an attempt, given the error from
// reading the attempt. It returns "" if the error has a different cause.
func challengeOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetMetadata()["challenge_id"]
		}
	}
	return ""
}
