package rpc

import (
	"context"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
)

// called is a call's context with the player who calls: as a type of its own it
// costs one allocation, which a move notices.
type called struct {
	context.Context
	by account.Player
}

type callerKey struct{}

// Value implements context.Context.
func (c *called) Value(key any) any {
	if key == (callerKey{}) {
		return &c.by
	}
	return c.Context.Value(key)
}

// authenticate puts the caller into the context, if the call has a token.
func (s *Service) authenticate(ctx context.Context) (context.Context, error) {
	values := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(values) == 0 {
		return ctx, nil
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return ctx, account.ErrBadToken
	}
	player, err := s.verify(ctx, token)
	if err != nil {
		return ctx, err
	}
	return &called{ctx, player}, nil
}

// caller is the player who calls; without an id when nobody said who.
func caller(ctx context.Context) account.Player {
	if p, ok := ctx.Value(callerKey{}).(*account.Player); ok {
		return *p
	}
	return account.Player{}
}

// mustCaller is the player who calls, or an error where there is none.
func mustCaller(ctx context.Context) (account.Player, error) {
	p := caller(ctx)
	if p.ID == "" {
		return p, errNoToken
	}
	return p, nil
}

// me is how a caller names himself.
const me = "me"

// playerID resolves "me". An id that cannot be one is told apart from one that
// is empty, which is a field error.
func playerID(ctx context.Context, given string) (string, error) {
	switch {
	case given == me:
		p, err := mustCaller(ctx)
		return p.ID, err
	case given == "":
		return "", missing("player_id")
	case !id.Valid(given):
		return "", errPlayerNotFound
	}
	return given, nil
}

// gameID checks an id before it goes anywhere.
func gameID(given string) (string, error) {
	switch {
	case given == "":
		return "", missing("game_id")
	case !id.Valid(given):
		return "", errGameNotFound
	}
	return given, nil
}

func player(p account.Player) *pb.Player {
	return &pb.Player{Id: p.ID, Name: p.Name, Bot: p.Bot}
}
