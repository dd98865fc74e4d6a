package rpc

import (
	"context"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
)

// callerContext is a call's context with its caller. A type of its own costs one
// allocation; context.WithValue costs two.
type callerContext struct {
	context.Context
	by account.Player
	// key is the SSH key that an SSH host calls for, empty for other callers.
	key string
}

type (
	callerKey struct{}
	sshKeyKey struct{}
)

// Value implements context.Context.
func (c *callerContext) Value(key any) any {
	switch key {
	case callerKey{}:
		return &c.by
	case sshKeyKey{}:
		return &c.key
	default:
		return c.Context.Value(key)
	}
}

// sshKeyHeader is the metadata with which an SSH host names a key.
const sshKeyHeader = "gridstand-ssh-key"

// authenticate puts the caller into the context, if the call of a method has a token or
// is an SSH host's.
func (s *Service) authenticate(ctx context.Context, method string) (context.Context, error) {
	values, keys := metadata.ValueFromIncomingContext(ctx, "authorization"), metadata.ValueFromIncomingContext(ctx, sshKeyHeader)
	if len(values) == 0 {
		if len(keys) > 0 {
			return ctx, account.ErrBadCredential
		}
		return ctx, nil
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	sound := len(values) == 1 && strings.EqualFold(scheme, "Bearer")
	if len(keys) > 0 || account.IsCredential(token) {
		if !sound || len(keys) != 1 {
			return ctx, account.ErrBadCredential
		}
		return s.authenticateHost(ctx, method, token, keys[0])
	}
	if !sound {
		return ctx, account.ErrBadToken
	}
	player, err := s.verify(ctx, token)
	if err != nil {
		return ctx, err
	}
	return &callerContext{Context: ctx, by: player}, nil
}

// caller returns the player who calls, with an empty ID if the call has no token.
func caller(ctx context.Context) account.Player {
	if p, ok := ctx.Value(callerKey{}).(*account.Player); ok {
		return *p
	}
	return account.Player{}
}

// mustCaller returns the player who calls, or an error if the call has no token.
func mustCaller(ctx context.Context) (account.Player, error) {
	p := caller(ctx)
	if p.ID == "" {
		return p, errNoToken
	}
	return p, nil
}

// me stands for the caller in place of a player id.
const me = "me"

// playerID resolves "me". An empty id is a field error; an id that no player can
// have is not found.
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

// gameID checks the form of an id.
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
