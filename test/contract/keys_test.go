package contract

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/internal/sshsig"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// sshKey is a player's SSH key.
type sshKey struct{ ssh.Signer }

func newKey(t *testing.T) sshKey { return sshKey{sshtest.Key(t)} }

func (k sshKey) fingerprint() string { return ssh.FingerprintSHA256(k.PublicKey()) }

// proof returns an AddKey request that proves the player's ownership of the key.
func (k sshKey) proof(t *testing.T, playerID string) *pb.AddKeyRequest {
	t.Helper()
	signature, err := sshsig.Sign(k, "gridstand", playerID)
	require.NoError(t, err)
	return &pb.AddKeyRequest{Signature: signature, Comment: "a key of " + playerID[:4]}
}

// host is an SSH host that uses a server.
type host struct {
	*testServer
	credential string
}

// call returns the context of a call that the host makes for the given key.
func (h host) call(key sshKey) context.Context {
	return metadata.NewOutgoingContext(h.anyone, metadata.Pairs("authorization", "Bearer "+h.credential, "gridstand-ssh-key", key.fingerprint()))
}

// me returns the player for whom the host makes calls.
func (h host) me(key sshKey) (*pb.Player, error) {
	got, err := h.GetPlayer(h.call(key), &pb.GetPlayerRequest{PlayerId: "me"})
	return got.GetPlayer(), err
}

// operator returns an operator for a store. The operator can be used while the store's servers are
// running.
func operator(t *testing.T, store string) *server.Operator {
	t.Helper()
	c := servertest.Config(t)
	c.Store = store
	operator, err := server.Operate(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(operator.Close)
	return operator
}

func newCredential(t *testing.T, store string) string {
	t.Helper()
	credential, err := operator(t, store).CreateCredential(t.Context(), "host"+newID()[:8])
	require.NoError(t, err)
	return credential
}

// withHost runs test with an SSH host twice: on a server with a file store and on one with Redis.
// The latter is skipped if redis-server is not installed. restart starts another server that uses
// the same store. With Redis, both servers keep running; with a file, the first one is stopped.
func withHost(t *testing.T, test func(t *testing.T, h host, restart func() host), changes ...change) {
	t.Helper()
	run := func(t *testing.T, store string, alone bool) {
		h := host{testServer: start(t, store, changes...)}
		h.credential = newCredential(t, store)
		test(t, h, func() host {
			if alone {
				h.stop()
			}
			return host{start(t, store, changes...), h.credential}
		})
	}
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		run(t, server.File(filepath.Join(t.TempDir(), "games.db")), true)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		run(t, redistest.StartRedis(t).URL(), false)
	})
}

// Ensure that a key represents the player to whom it is linked, even after a restart and on
// another server, and that two keys share an account only if both were linked to it.
func TestKeys_Act(t *testing.T) {
	t.Parallel()
	withHost(t, func(t *testing.T, h host, restart func() host) {
		ann, bob := h.player(t), h.player(t)
		one, two, three := newKey(t), newKey(t), newKey(t)
		for range 2 { // Linking a key again is a no-op.
			added, err := h.AddKey(ann.ctx, one.proof(t, ann.GetId()))
			require.NoError(t, err)
			assert.Equal(t, one.fingerprint(), added.GetKey().GetFingerprint())
			assert.Equal(t, "a key of "+ann.GetId()[:4], added.GetKey().GetComment())
			checkTime(t, added.GetKey().GetCreateTime())
		}
		_, err := h.AddKey(bob.ctx, one.proof(t, bob.GetId()))
		wantReason(t, err, pb.ReasonKeyTaken)
		_, err = h.AddKey(bob.ctx, two.proof(t, bob.GetId()))
		require.NoError(t, err)
		_, err = h.AddKey(ann.ctx, three.proof(t, ann.GetId()))
		require.NoError(t, err)

		check := func(h host) {
			t.Helper()
			for key, want := range map[sshKey]player{one: ann, two: bob, three: ann} {
				got, err := h.me(key)
				require.NoError(t, err)
				assert.Equal(t, want.GetId(), got.GetId())
			}
			keys, err := h.ListKeys(h.call(one), &pb.ListKeysRequest{})
			require.NoError(t, err)
			require.Len(t, keys.GetKeys(), 2)
			assert.Equal(t, one.fingerprint(), keys.GetKeys()[0].GetFingerprint())
			assert.Equal(t, three.fingerprint(), keys.GetKeys()[1].GetFingerprint())
		}
		check(h)
		other := restart()
		check(other)

		// Actions over SSH are attributed to the player.
		created, err := other.CreateGame(other.call(one), &pb.CreateGameRequest{Variant: "classic"})
		require.NoError(t, err)
		game := created.GetGame()
		assert.Equal(t, ann.GetId(), game.GetSeats()[0].GetPlayer().GetId())
		other.move(t, player{ctx: other.with(ann.token)}, game.GetId(), game.GetVersion(), game.GetPosition())
		_, err = other.Resign(other.call(three), &pb.ResignRequest{GameId: game.GetId()})
		require.NoError(t, err)
		_, err = other.Resign(other.call(two), &pb.ResignRequest{GameId: game.GetId()})
		wantReason(t, err, pb.ReasonNotSeated)
		watching := other.watch(t, other.call(one), &pb.WatchRequest{GameId: game.GetId()})
		assert.Equal(t, game.GetId(), watching.game(t).GetId())
		_, err = other.GetRank(other.call(one), &pb.GetRankRequest{Variant: "classic", PlayerId: "me"})
		if err != nil { // The game may have ended without a score.
			wantReason(t, err, pb.ReasonNoScore)
		}
	})
}

// Ensure that a player can remove a key. The key stops representing the player within half a minute
// and can then be linked to another account.
func TestRemoveKey(t *testing.T) {
	t.Parallel()
	withHost(t, func(t *testing.T, h host, _ func() host) {
		ann, bob := h.player(t), h.player(t)
		key, kept := newKey(t), newKey(t)
		for _, k := range []sshKey{key, kept} {
			_, err := h.AddKey(ann.ctx, k.proof(t, ann.GetId()))
			require.NoError(t, err)
		}
		_, err := h.RemoveKey(bob.ctx, &pb.RemoveKeyRequest{Fingerprint: key.fingerprint()})
		wantReason(t, err, pb.ReasonKeyNotFound)
		_, err = h.me(key)
		require.NoError(t, err)
		_, err = h.RemoveKey(ann.ctx, &pb.RemoveKeyRequest{Fingerprint: key.fingerprint()})
		require.NoError(t, err)
		_, err = h.RemoveKey(ann.ctx, &pb.RemoveKeyRequest{Fingerprint: key.fingerprint()})
		wantReason(t, err, pb.ReasonKeyNotFound)
		_, err = h.me(key)
		wantReason(t, err, pb.ReasonKeyNotLinked)
		_, err = h.me(kept)
		require.NoError(t, err)
		_, err = h.AddKey(bob.ctx, key.proof(t, bob.GetId()))
		require.NoError(t, err)
		for _, fingerprint := range []string{"", "SHA256:", key.fingerprint()[7:], key.fingerprint() + "=", strings.ToUpper(key.fingerprint()) + "a", "MD5:00"} {
			_, err = h.RemoveKey(ann.ctx, &pb.RemoveKeyRequest{Fingerprint: fingerprint})
			wantField(t, err, "fingerprint")
		}
	})
}

// Ensure that a key is linked only with a signature by the key itself, for this player and
// this purpose.
func TestAddKey_Refused(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		ann, bob := s.player(t), s.player(t)
		key := newKey(t)
		sign := func(namespace, message string) string {
			signature, err := sshsig.Sign(key, namespace, message)
			require.NoError(t, err)
			return signature
		}
		good := sign("gridstand", ann.GetId())
		for name, signature := range map[string]string{
			"nothing":           "",
			"a public key":      string(ssh.MarshalAuthorizedKey(key.PublicKey())),
			"another player":    sign("gridstand", bob.GetId()),
			"another purpose":   sign("git", ann.GetId()),
			"a line feed":       sign("gridstand", ann.GetId()+"\n"),
			"damaged":           strings.Replace(good, "A", "B", 1),
			"of nothing":        sign("gridstand", ""),
			"something too big": strings.Repeat("a", 3501),
		} {
			t.Log(name)
			_, err := s.AddKey(ann.ctx, &pb.AddKeyRequest{Signature: signature})
			wantField(t, err, "signature")
		}
		for _, comment := range []string{"a\nb", "\x1b[31m", "\u202eann", strings.Repeat("a", 65)} {
			_, err := s.AddKey(ann.ctx, &pb.AddKeyRequest{Signature: good, Comment: comment})
			wantField(t, err, "comment")
		}
		keys, err := s.ListKeys(ann.ctx, &pb.ListKeysRequest{})
		require.NoError(t, err)
		assert.Empty(t, keys.GetKeys())
		_, err = s.AddKey(s.anyone, &pb.AddKeyRequest{Signature: good})
		wantReason(t, err, pb.ReasonBadToken)

		for range 8 {
			_, err := s.AddKey(ann.ctx, newKey(t).proof(t, ann.GetId()))
			require.NoError(t, err)
		}
		_, err = s.AddKey(ann.ctx, key.proof(t, ann.GetId()))
		wantReason(t, err, pb.ReasonTooManyKeys)
	})
}

// Ensure that a key without an account can create exactly one account, and cannot do anything else
// before that.
func TestKeys_Create(t *testing.T) {
	t.Parallel()
	withHost(t, func(t *testing.T, h host, restart func() host) {
		ann := h.player(t)
		key, other := newKey(t), newKey(t)
		for _, m := range methods() {
			if !strings.HasPrefix(m.name, "/gridstand.v1.PlayerService/") {
				_, err := m.call(h.call(key), h.conn, m.request.New().Interface())
				wantReason(t, err, pb.ReasonKeyNotLinked)
			}
		}
		_, err := h.me(key)
		wantReason(t, err, pb.ReasonKeyNotLinked)

		create := func(h host, key sshKey, name string) (*pb.CreatePlayerResponse, error) {
			return h.CreatePlayer(h.call(key), &pb.CreatePlayerRequest{Name: name})
		}
		_, err = create(h, key, ann.GetName())
		wantReason(t, err, pb.ReasonNameTaken)
		_, err = create(h, key, "admin")
		wantReason(t, err, pb.ReasonNameTaken)
		_, err = create(h, key, "-")
		wantField(t, err, "name")
		_, err = h.CreatePlayer(h.call(key), &pb.CreatePlayerRequest{Name: "Eve", Secret: newID()})
		wantField(t, err, "secret")

		first, err := create(h, key, "Eve")
		require.NoError(t, err)
		assert.Empty(t, first.GetToken(), "a stolen credential must not yield tokens")
		check := func(again host) {
			t.Helper()
			repeated, err := create(again, key, "EVE")
			require.NoError(t, err)
			assert.Equal(t, first.GetPlayer().GetId(), repeated.GetPlayer().GetId())
			_, err = create(again, key, "Another")
			wantReason(t, err, pb.ReasonKeyTaken)
			_, err = create(again, other, "Eve")
			wantReason(t, err, pb.ReasonNameTaken)
			got, err := again.me(key)
			require.NoError(t, err)
			assert.Equal(t, first.GetPlayer().GetId(), got.GetId())
			_, err = again.me(other)
			wantReason(t, err, pb.ReasonKeyNotLinked)
		}
		check(h)
		check(restart())
	})
}

// Ensure that concurrent calls with one key, to several servers and with several names, create only
// one account.
func TestKeys_Create_Race(t *testing.T) {
	t.Parallel()
	skipShort(t)
	race := func(t *testing.T, hosts ...host) {
		for round := range 10 {
			var (
				group sync.WaitGroup
				mu    sync.Mutex
				ids   = map[string]bool{}
			)
			key := newKey(t)
			for n := range 12 {
				group.Go(func() {
					h := hosts[n%len(hosts)]
					created, err := h.CreatePlayer(h.call(key), &pb.CreatePlayerRequest{Name: fmt.Sprintf("Player %d-%d", round, n%3)})
					if status.Code(err) == codes.AlreadyExists {
						return
					}
					if assert.NoError(t, err) {
						mu.Lock()
						defer mu.Unlock()
						ids[created.GetPlayer().GetId()] = true
					}
				})
			}
			group.Wait()
			require.Len(t, ids, 1)
			got, err := hosts[0].me(key)
			require.NoError(t, err)
			assert.True(t, ids[got.GetId()])
		}
	}
	unlimited := func(c *server.Config) { c.Limits.NewPlayersPerMinute = 0 }
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		store := server.File(filepath.Join(t.TempDir(), "games.db"))
		s := start(t, store, unlimited)
		race(t, host{s, newCredential(t, store)})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		store := redistest.StartRedis(t).URL()
		one, two := start(t, store, unlimited), start(t, store, unlimited)
		credential := newCredential(t, store)
		race(t, host{one, credential}, host{two, credential})
	})
}

// Ensure that a credential permits nothing beyond what an SSH host needs.
func TestCredential_Refused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	withHost(t, func(t *testing.T, h host, _ func() host) {
		ann, key := h.player(t), newKey(t)
		_, err := h.AddKey(ann.ctx, key.proof(t, ann.GetId()))
		require.NoError(t, err)
		requests := map[string]func(ctx context.Context) error{
			"RotateToken": func(ctx context.Context) error { _, err := h.RotateToken(ctx, &pb.RotateTokenRequest{}); return err },
			"AddKey": func(ctx context.Context) error {
				_, err := h.AddKey(ctx, newKey(t).proof(t, ann.GetId()))
				return err
			},
			"RemoveKey": func(ctx context.Context) error {
				_, err := h.RemoveKey(ctx, &pb.RemoveKeyRequest{Fingerprint: key.fingerprint()})
				return err
			},
		}
		for name, call := range requests {
			t.Log(name)
			wantReason(t, call(h.call(key)), pb.ReasonNotOverSSH)
		}
		refused := map[string]metadata.MD{
			"no key":         metadata.Pairs("authorization", "Bearer "+h.credential),
			"two keys":       metadata.Pairs("authorization", "Bearer "+h.credential, "gridstand-ssh-key", key.fingerprint(), "gridstand-ssh-key", key.fingerprint()),
			"malformed key":  metadata.Pairs("authorization", "Bearer "+h.credential, "gridstand-ssh-key", "ann"),
			"no credential":  metadata.Pairs("gridstand-ssh-key", key.fingerprint()),
			"a token":        metadata.Pairs("authorization", "Bearer "+ann.token, "gridstand-ssh-key", key.fingerprint()),
			"both":           metadata.Pairs("authorization", "Bearer "+h.credential, "authorization", "Bearer "+ann.token, "gridstand-ssh-key", key.fingerprint()),
			"another scheme": metadata.Pairs("authorization", "Basic "+h.credential, "gridstand-ssh-key", key.fingerprint()),
			"wrong":          metadata.Pairs("authorization", "Bearer gridstand_ssh_"+newID(), "gridstand-ssh-key", key.fingerprint()),
			"cut":            metadata.Pairs("authorization", "Bearer "+h.credential[:len(h.credential)-1], "gridstand-ssh-key", key.fingerprint()),
			"a prefix":       metadata.Pairs("authorization", "Bearer gridstand_ssh_", "gridstand-ssh-key", key.fingerprint()),
		}
		for name, md := range refused {
			for _, m := range methods() {
				t.Log(name, m.name)
				_, err := m.call(metadata.NewOutgoingContext(h.anyone, md), h.conn, m.request.New().Interface())
				wantReason(t, err, pb.ReasonBadCredential)
			}
		}
		_, err = h.me(key)
		require.NoError(t, err)
	}, func(c *server.Config) { c.Limits.WrongTokensPerMinute = 0 })
}

// Ensure that all running servers refuse a revoked credential within seconds.
func TestCredential_Revoked(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	revoked := func(t *testing.T, store string, servers ...*testServer) {
		ops := operator(t, store)
		credential, err := ops.CreateCredential(t.Context(), "one")
		require.NoError(t, err)
		other, err := ops.CreateCredential(t.Context(), "two")
		require.NoError(t, err)
		_, err = ops.CreateCredential(t.Context(), "one")
		require.Error(t, err)
		key, ann := newKey(t), servers[0].player(t)
		_, err = servers[0].AddKey(ann.ctx, key.proof(t, ann.GetId()))
		require.NoError(t, err)
		for _, s := range servers {
			_, err := host{s, credential}.me(key)
			require.NoError(t, err)
		}
		require.NoError(t, ops.RevokeCredential(t.Context(), "one"))
		at := time.Now()
		for _, s := range servers {
			eventually(t, "the credential is refused", func() bool {
				_, err := host{s, credential}.me(key)
				return err != nil
			})
			_, err := host{s, credential}.me(key)
			wantReason(t, err, pb.ReasonBadCredential)
			_, err = host{s, other}.me(key)
			require.NoError(t, err)
		}
		t.Log("refused after", time.Since(at))
		all, err := ops.Credentials(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 1)
		assert.Equal(t, "two", all[0].Name)
		assert.Error(t, ops.RevokeCredential(t.Context(), "one"))
	}
	unlimited := func(c *server.Config) { c.Limits.WrongTokensPerMinute = 0 }
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		store := server.File(filepath.Join(t.TempDir(), "games.db"))
		revoked(t, store, start(t, store, unlimited))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		store := redistest.StartRedis(t).URL()
		revoked(t, store, start(t, store, unlimited), start(t, store, unlimited))
	})
}

// Ensure that limits apply to each SSH client rather than to the host, and that wrong
// credentials are limited in the same way as wrong tokens.
func TestKeys_Limits(t *testing.T) {
	t.Parallel()
	skipShort(t)
	withHost(t, func(t *testing.T, h host, _ func() host) {
		create := func(address string) error {
			_, err := h.CreatePlayer(passedOn(h.call(newKey(t)), address), &pb.CreatePlayerRequest{Name: "p" + newID()[:20]})
			return err
		}
		for range 2 {
			require.NoError(t, create("198.51.100.1"))
		}
		wantLimited(t, create("198.51.100.1"), "2")
		require.NoError(t, create("198.51.100.2"))

		wrong := host{h.testServer, "gridstand_ssh_" + newID()}
		guess := func(address string) error {
			_, err := h.GetPlayer(passedOn(wrong.call(newKey(t)), address), &pb.GetPlayerRequest{PlayerId: "me"})
			return err
		}
		for range 3 {
			wantReason(t, guess("198.51.100.3"), pb.ReasonBadCredential)
		}
		wantLimited(t, guess("198.51.100.3"), "3")
		wantReason(t, guess("198.51.100.4"), pb.ReasonBadCredential)
	}, func(c *server.Config) {
		c.Limits.NewPlayersPerMinute, c.Limits.WrongTokensPerMinute, c.Proxies = 2, 3, "127.0.0.1"
	})
}

// Ensure that the player for whom an SSH host makes calls is logged once, without the
// credential.
func TestKeys_Logged(t *testing.T) {
	t.Parallel()
	skipShort(t)
	log := &servertest.Log{}
	withHost(t, func(t *testing.T, h host, _ func() host) {
		key := newKey(t)
		created, err := h.CreatePlayer(h.call(key), &pb.CreatePlayerRequest{Name: "Eve"})
		require.NoError(t, err)
		for range 5 {
			_, err := h.me(key)
			require.NoError(t, err)
		}
		lines := 0
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "ssh-host-acts") && strings.Contains(line, key.fingerprint()) {
				lines++
				assert.Contains(t, line, created.GetPlayer().GetId())
			}
		}
		assert.Equal(t, 1, lines)
		assert.NotContains(t, log.String(), h.credential)
	}, func(c *server.Config) { c.Logger = log.Logger() })
}
