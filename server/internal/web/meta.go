package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// aboutTimeout bounds how long a page waits for the description of its game. The page
// loads the game itself in any case.
const aboutTimeout = time.Second

// game returns a game as a call by gRPC would, with the same limits and errors.
func (c Config) game(ctx context.Context, id string) (*pb.Game, error) {
	info := &grpc.UnaryServerInfo{Server: c.Service, FullMethod: pb.GameService_GetGame_FullMethodName}
	response, err := chainUnary(c.Unary)(ctx, &pb.GetGameRequest{GameId: id}, info,
		func(ctx context.Context, request any) (any, error) {
			return c.Service.GetGame(ctx, request.(*pb.GetGameRequest))
		})
	if err != nil {
		return nil, err
	}
	return response.(*pb.GetGameResponse).GetGame(), nil
}

// about describes a game for the previews of links. It reports false if the game cannot
// be read.
func (c Config) about(ctx context.Context, id string) (Meta, bool) {
	ctx, cancel := context.WithTimeout(ctx, aboutTimeout)
	defer cancel()
	g, err := c.game(ctx, id)
	if err != nil {
		return Meta{}, false
	}
	return gameMeta(g), true
}

// gameMeta describes a game. The version in the picture's address makes sites that keep
// pictures by address load the current one.
func gameMeta(g *pb.Game) Meta {
	return Meta{
		Title:       gameTitle(g),
		Description: gameDescription(g),
		Image:       fmt.Sprintf("/g/%s/picture.png?v=%d", url.PathEscape(g.GetId()), g.GetVersion()),
	}
}

// gameTitle names players, scores and variant: "ada: 12,345 points · 2048 classic".
func gameTitle(g *pb.Game) string {
	variant := describe.Variant(g)
	if len(g.GetSeats()) < 2 {
		return describe.Players(g) + ": " + describe.Plural(describe.Score(g, 0), "point") + " · " + variant
	}
	var seats []string
	for i, seat := range g.GetSeats() {
		seats = append(seats, describe.Seat(seat)+" "+describe.Comma(describe.Score(g, i)))
	}
	return strings.Join(seats, ", ") + " · " + variant
}

// gameDescription says whether the game is live or how it ended, and how far it came.
func gameDescription(g *pb.Game) string {
	standing := describe.Standing(g)
	switch g.GetStatus() {
	case pb.GameStatus_GAME_STATUS_WAITING:
		return describe.Stage(g) + ": a seat is open"
	case pb.GameStatus_GAME_STATUS_ACTIVE:
		if n := g.GetWatchers(); n > 0 {
			standing += ", " + describe.Comma(n) + " watching"
		}
		return "Live now: " + standing
	}
	end := describe.Stage(g)
	if won := describe.Winners(g); won != "" {
		end += ", " + won
	}
	return "Ended: " + end + " · " + standing
}

// withScheme removes X-Forwarded-Proto from requests that no trusted proxy sent: a client
// must not choose the scheme of the addresses in a page that others may be served, too.
func (c Config) withScheme(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, ok := peer.FromContext(r.Context()); !ok || !c.Service.Proxies.Trusted(p.Addr) {
			r.Header.Del("X-Forwarded-Proto")
		}
		next.ServeHTTP(w, r)
	})
}
