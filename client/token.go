package client

import (
	"context"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// NewSecret returns 128 random bits as 26 characters of lower-case base32, for use as an
// account's secret or a GameOptions.RequestID.
func NewSecret() string { return id.New() }

func joinToken(playerID, secret string) string { return playerID + "." + secret }

func idOf(token string) string {
	player, _, _ := strings.Cut(token, ".")
	return player
}

// bearer adds the token or the SSH session's identity to calls, even without TLS, because
// a server on the same machine or behind a proxy may not use TLS.
type bearer struct {
	token   atomic.Pointer[string]
	session Session
	// player is the id of the session's player, or nil if it is not known yet.
	player atomic.Pointer[string]
}

// acts reports whether calls act for an SSH key's player rather than for a token's.
func (b *bearer) acts() bool { return b.session.Credential != "" }

// actFor records the player of the session's key.
func (b *bearer) actFor(player *pb.Player) {
	if id := player.GetId(); b.acts() {
		b.player.Store(&id)
	}
}

type tokenKey struct{}

// withToken makes calls with this context use the given token instead of the client's; an
// empty token means none.
func withToken(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, tokenKey{}, token)
}

type identifyKey struct{}

// identify makes calls with this context carry the key of a Session, even if its player
// is not known yet.
func identify(ctx context.Context) context.Context {
	return context.WithValue(ctx, identifyKey{}, true)
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b *bearer) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, ok := ctx.Value(tokenKey{}).(string)
	if !ok {
		token = *b.token.Load()
	}
	metadata := make(map[string]string, 3)
	if b.acts() {
		token = ""
		// While the key is not linked to an account, the server rejects calls that carry it,
		// except those marked by identify. Make all other calls without the key.
		if b.player.Load() != nil || ctx.Value(identifyKey{}) != nil {
			token = b.session.Credential
			metadata["gridstand-ssh-key"] = b.session.Key
		}
	}
	if token != "" {
		metadata["authorization"] = "Bearer " + token
	}
	if b.session.Address.IsValid() {
		metadata["x-forwarded-for"] = b.session.Address.WithZone("").String()
	}
	return metadata, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials. It is false because a server
// of one's own may have no TLS; login.mayUse refuses tokens that were used over TLS.
func (b *bearer) RequireTransportSecurity() bool { return false }

// authorized is a connection that adds the bearer's metadata to every call.
type authorized struct {
	*grpc.ClientConn
	bearer *bearer
}

// Invoke implements grpc.ClientConnInterface.
func (a authorized) Invoke(ctx context.Context, method string, request, reply any, opts ...grpc.CallOption) error {
	return a.ClientConn.Invoke(ctx, method, request, reply, append(opts, grpc.PerRPCCredentials(a.bearer))...)
}

// NewStream implements grpc.ClientConnInterface.
func (a authorized) NewStream(
	ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	return a.ClientConn.NewStream(ctx, desc, method, append(opts, grpc.PerRPCCredentials(a.bearer))...)
}
