package client_test

import (
	"context"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/gridstand/gridstand/client"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// twoFaced is a server that answers both over TLS and in clear text under the same name,
// as if an attacker intercepted its connections.
type twoFaced struct {
	secure, plain *accounts
	ca            string
	// addresses contains the server's address for TLS (true) and for clear text (false).
	addresses map[bool]string
}

func newTwoFaced(t *testing.T) *twoFaced {
	t.Helper()
	authority := tlstest.NewAuthority(t)
	certFile, keyFile := authority.Issue(t)
	cert, err := credentials.NewServerTLSFromFile(certFile, keyFile)
	require.NoError(t, err)
	s := &twoFaced{
		secure: newAccounts(pb.Storage_STORAGE_DURABLE), plain: newAccounts(pb.Storage_STORAGE_DURABLE), ca: authority.File,
	}
	s.plain.players = s.secure.players
	s.addresses = map[bool]string{true: s.secure.start(t, grpc.Creds(cert)), false: s.plain.start(t)}
	return s
}

// dial returns a client for the given target, all of whose connections go to the server.
func (s *twoFaced) dial(t *testing.T, target string, secure bool) *client.Client {
	t.Helper()
	config := client.Config{Target: target, DialOptions: []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", s.addresses[secure])
		}),
	}}
	if secure {
		config.CAFile = s.ca
	}
	return dial(t, config)
}

// targets contains pairs of equivalent targets. The server's certificate is valid for
// them, because they name only 127.0.0.1 and localhost.
var targets = map[string][2]string{
	"one address":       {"localhost:7", "LOCALHOST:7"},
	"several addresses": {"127.0.0.1:7,localhost:8", "localhost:8, 127.0.0.1:7"},
}

// Ensure that no function sends, in clear text, a token that was used over TLS, and that
// the token still works over TLS afterwards.
func TestToken_NotSentInClearText(t *testing.T) {
	t.Parallel()
	for name, target := range targets {
		s, store := newTwoFaced(t), newStore(t)
		made := logIn(t, s.dial(t, target[0], true), store, "ada")
		assert.True(t, made.TLS, name)

		c := s.dial(t, target[1], false)
		_, _, err := client.LogIn(waittest.Context(t), c, store, "")
		require.ErrorIs(t, err, client.ErrClearText, name)
		assert.ErrorContains(t, err, "ada on ", name)
		_, err = client.Restore(waittest.Context(t), c, store)
		require.ErrorIs(t, err, client.ErrClearText, name)
		require.ErrorIs(t, client.Rotate(waittest.Context(t), c, store), client.ErrClearText, name)
		_, err = client.Adopt(waittest.Context(t), c, store, made.Token)
		require.ErrorIs(t, err, client.ErrClearText, name)
		for _, call := range []string{"getPlayer", "createPlayer", "rotate"} {
			assert.Zero(t, s.plain.made(call), "%s: %s", name, call)
		}
		assert.Empty(t, c.PlayerID(), name)

		player, err := client.Restore(waittest.Context(t), s.dial(t, target[1], true), store)
		require.NoError(t, err, name)
		assert.Equal(t, "ada", player.GetName(), name)
	}
}

// Ensure that a pending secret, whether for a new account or a rotation, is not sent in
// clear text.
func TestPendingSecret_NotSentInClearText(t *testing.T) {
	t.Parallel()
	s, store := newTwoFaced(t), newStore(t)
	const target = "localhost:7"
	require.NoError(t, store.Save(target, client.Credential{Name: "ada", Pending: client.NewSecret(), TLS: true}))
	_, _, err := client.LogIn(waittest.Context(t), s.dial(t, target, false), store, "")
	require.ErrorIs(t, err, client.ErrClearText)
	assert.Zero(t, s.plain.made("createPlayer"))

	kept := client.Credential{PlayerID: playerID, Name: "ada", Token: playerID + "." + client.NewSecret(), TLS: true}
	require.NoError(t, store.Save(target, client.Credential{Name: "bob", Previous: &kept}))
	_, err = client.Restore(waittest.Context(t), s.dial(t, target, false), store)
	require.ErrorIs(t, err, client.ErrClearText)
	assert.Zero(t, s.plain.made("getPlayer"))
}

// Ensure that an account stored without the TLS mark can be used in clear text until its first
// use over TLS, and never after that.
func TestToken_MarkedWithTLS(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(*testing.T, *client.Client, *client.Store) error{
		"log in": func(t *testing.T, c *client.Client, store *client.Store) error {
			_, _, err := client.LogIn(waittest.Context(t), c, store, "")
			return err
		},
		"recall": func(t *testing.T, c *client.Client, store *client.Store) error {
			_, err := client.Restore(waittest.Context(t), c, store)
			return err
		},
		"rotate": func(t *testing.T, c *client.Client, store *client.Store) error {
			c.SetToken(load(t, store, "localhost:7").Token)
			return client.Rotate(waittest.Context(t), c, store)
		},
	} {
		s, store := newTwoFaced(t), newStore(t)
		const target = "localhost:7"
		logIn(t, s.dial(t, target, false), store, "ada")
		file, err := os.ReadFile(store.Path())
		require.NoError(t, err, name)
		require.NotContains(t, string(file), `"tls"`, "%s: an older client wrote no TLS mark", name)
		require.NoError(t, use(t, s.dial(t, target, false), store), name)
		require.NoError(t, use(t, s.dial(t, target, true), store), name)
		assert.True(t, load(t, store, target).TLS, name)
		require.ErrorIs(t, use(t, s.dial(t, target, false), store), client.ErrClearText, name)
	}
}

func TestExposed(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]bool{
		"": false, "localhost": false, "127.0.0.1:7": false, "127.8.9.1": false, "[::1]:7": false,
		"dns:///localhost": false, "localhost:7,127.0.0.1:8": false,
		"example.org": true, "192.168.1.2": true, "localhost:7,example.org": true, "dns:///example.org": true,
		"localhost.example.org": true, "0.0.0.0": true,
	} {
		assert.Equal(t, want, dial(t, client.Config{Target: target}).Exposed(), target)
		assert.False(t, dial(t, client.Config{Target: target, TLS: true}).Exposed(), target)
	}
}
