package rpc

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/front"
)

// identity is what the context of a call contains about its caller.
type identity struct {
	// player is zero if an SSH host calls CreatePlayer.
	player account.Player
	// key is the fingerprint of the player's SSH key if the call comes from an SSH host,
	// and empty otherwise.
	key string
	// session is the id of the session that makes the call, and empty for the account's own
	// token.
	session string
	// token is the token that the caller presented, and empty if the call comes from an SSH host.
	token string
}

// identityKey is the key of the identity in a context.
type identityKey struct{}

// authenticate adds the caller to the context if the call has a token or comes from an
// SSH host. may says who may call the method.
func (s *Service) authenticate(ctx context.Context, method string, may callers) (context.Context, error) {
	values, keys := metadata.ValueFromIncomingContext(ctx, "authorization"), metadata.ValueFromIncomingContext(ctx, sshKeyHeader)
	if len(values) == 0 {
		if len(keys) > 0 {
			return ctx, account.ErrBadCredential
		}
		return ctx, nil
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ") // RFC 9110 allows several spaces
	sound := len(values) == 1 && strings.EqualFold(scheme, "Bearer")
	if len(keys) > 0 || account.IsCredential(token) {
		if !sound || len(keys) != 1 {
			return ctx, account.ErrBadCredential
		}
		return s.authenticateHost(ctx, method, may, token, keys[0])
	}
	if !sound || token == "" {
		return ctx, errTokenForm
	}
	player, session, err := s.Sessions.Verify(ctx, token, may.anew)
	if err != nil {
		return ctx, err
	}
	if session != "" && !may.session {
		return ctx, errLimitedSession
	}
	return context.WithValue(ctx, identityKey{}, identity{player: player, session: session, token: token}), nil
}

// callers says who may call a method besides the holder of the account's own token: anyone without a token,
// sessions of the account, and SSH hosts that know one of its keys.
type callers struct {
	anyone, session, host bool
	// anew is set if the store verifies the token or key for each call, because the call's effect on the account
	// may last: after a rotation, the old token adds no key or session, and neither renames the account nor
	// replaces the new token.
	anew bool
}

// accountCallers says who may call the methods for accounts, by full name. A method that is not here needs
// the account's own token: with it, a stolen session could keep or take over the account, and a stolen
// credential could obtain tokens or lock players out. EndSession lets a session end only itself.
var accountCallers = map[string]callers{
	pb.PlayerService_CreatePlayer_FullMethodName:      {anyone: true, session: true, host: true},
	pb.PlayerService_OpenSession_FullMethodName:       {anyone: true, session: true},
	pb.PlayerService_CreateSessionLink_FullMethodName: {host: true},
	pb.PlayerService_GetPlayer_FullMethodName:         {anyone: true, session: true, host: true},
	pb.PlayerService_GetProfile_FullMethodName:        {anyone: true, session: true, host: true},
	pb.PlayerService_Rename_FullMethodName:            {session: true, host: true},
	pb.PlayerService_ListKeys_FullMethodName:          {session: true, host: true},
	pb.PlayerService_ListSessions_FullMethodName:      {session: true, host: true},
	pb.PlayerService_EndSession_FullMethodName:        {session: true, host: true},
}

// method says who may call a method of the contract, and what the call costs.
type method struct {
	callers
	// reads is set if the method changes nothing, streams if it returns a stream, and free if a call costs no reads.
	reads, streams, free bool
}

// methods are the methods of the contract, by full name. The server has those of health and reflection, too.
var methods = contract(
	pb.GameService_ServiceDesc, pb.ChallengeService_ServiceDesc,
	pb.LeaderboardService_ServiceDesc, pb.PlayerService_ServiceDesc,
)

// contract returns the methods of services. Of those for games, boards and challenges, only reads need no token.
func contract(services ...grpc.ServiceDesc) map[string]method {
	all := map[string]method{}
	add := func(service, name string, streams bool) {
		full := "/" + service + "/" + name
		reads := strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "List") || strings.HasPrefix(name, "Watch")
		may := callers{anyone: reads, session: true, host: true}
		if service == pb.PlayerService_ServiceDesc.ServiceName {
			may = accountCallers[full]
			may.anew = true
		}
		all[full] = method{callers: may, reads: reads, streams: streams, free: front.Free[full]}
	}
	for _, s := range services {
		for _, m := range s.Methods {
			add(s.ServiceName, m.MethodName, false)
		}
		for _, m := range s.Streams {
			add(s.ServiceName, m.StreamName, true)
		}
	}
	return all
}

// MethodOf reports whether a call, given its full name, is one of the contract, and whether it returns a stream
// and changes something.
func MethodOf(name string) (known, streams, changes bool) {
	called, known := methods[name]
	return known, called.streams, known && !called.reads
}

// identityOf returns what a call's context contains about its caller.
func identityOf(ctx context.Context) identity {
	by, _ := ctx.Value(identityKey{}).(identity)
	return by
}

// caller returns the calling player, with an empty ID if the call has no token.
func caller(ctx context.Context) account.Player { return identityOf(ctx).player }

// me is the player ID that requests use to refer to the caller.
const me = "me"

// playerID resolves "me" to the caller's ID. It returns a field error for an empty ID and
// errPlayerNotFound for a malformed one.
func playerID(ctx context.Context, given string) (string, error) {
	switch {
	case given == me && caller(ctx).ID == "":
		return "", errNoToken
	case given == me:
		return caller(ctx).ID, nil
	}
	return checkID("player_id", given, errPlayerNotFound)
}

// checkID returns the given ID, a field error if it is empty, or unknown if it is malformed.
func checkID(field, given string, unknown error) (string, error) {
	switch {
	case given == "":
		return "", missing(field)
	case !id.Valid(given):
		return "", unknown
	}
	return given, nil
}
