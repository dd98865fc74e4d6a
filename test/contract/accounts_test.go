package contract

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"google.golang.org/grpc/metadata"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// sshKey is a player's SSH key.
type sshKey struct{ ssh.Signer }

func newKey(t *testing.T) sshKey { return sshKey{sshtest.Key(t)} }

func (k sshKey) fingerprint() string { return ssh.FingerprintSHA256(k.PublicKey()) }

// proof returns an AddKey request that proves the player's ownership of the key.
func (k sshKey) proof(t *testing.T, playerID string) *pb.AddKeyRequest {
	t.Helper()
	return &pb.AddKeyRequest{Signature: sshtest.Sign(t, k, playerID), Comment: "clé of " + playerID[:4]}
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
	operator, err := server.Operate(t.Context(), c, false)
	require.NoError(t, err)
	t.Cleanup(operator.Close)
	return operator
}

// hosts starts two servers that share a store, and returns an SSH host that uses both.
func hosts(t *testing.T, changes ...change) (h, elsewhere host) {
	t.Helper()
	a, b := pair(t, changes...)
	credential, err := operator(t, a.store).Credentials.Create(t.Context(), "host")
	require.NoError(t, err)
	return host{a, credential}, host{b, credential}
}

// Ensure that a key represents the player to whom it is linked, on every server, and that a removed key is
// dead.
func TestKeys(t *testing.T) {
	t.Parallel()
	h, elsewhere := hosts(t)
	ann, bob, key := h.player(t), h.player(t), newKey(t)
	link := func(p player, key sshKey) error {
		_, err := h.AddKey(p.ctx, key.proof(t, p.GetId()))
		return err
	}
	remove := func(p player) error {
		_, err := h.RemoveKey(p.ctx, &pb.RemoveKeyRequest{Fingerprint: key.fingerprint()})
		return err
	}
	h.refuses(t, ann.ctx, key.proof(t, bob.GetId()), "signature")
	require.NoError(t, link(ann, key))
	wantReason(t, link(bob, key), pb.ReasonKeyTaken)
	for _, on := range []host{h, elsewhere} {
		keys, err := on.ListKeys(on.call(key), &pb.ListKeysRequest{})
		require.NoError(t, err)
		require.Len(t, keys.GetKeys(), 1)
		assert.Equal(t, key.fingerprint(), keys.GetKeys()[0].GetFingerprint())
		assert.Equal(t, "clé of "+ann.GetId()[:4], keys.GetKeys()[0].GetComment())
		created, err := on.CreateGame(on.call(key), &pb.CreateGameRequest{Variant: "classic"})
		require.NoError(t, err)
		assert.Equal(t, ann.GetId(), created.GetGame().GetSeats()[0].GetPlayer().GetId())
	}
	wantReason(t, remove(bob), pb.ReasonKeyNotFound)
	require.NoError(t, remove(ann))
	wantReason(t, remove(ann), pb.ReasonKeyNotFound)
	h.refuses(t, h.call(key), &pb.CreateGameRequest{Variant: "classic"}, pb.ReasonKeyNotLinked)
	for range 8 {
		require.NoError(t, link(bob, newKey(t)))
	}
	wantReason(t, link(bob, newKey(t)), pb.ReasonTooManyKeys)
}

// Ensure that a key without an account can create exactly one account, on any server, gets no token, and
// cannot do anything else before that.
func TestKeys_Create(t *testing.T) {
	t.Parallel()
	h, elsewhere := hosts(t)
	ann := h.player(t)
	key := newKey(t)
	for _, m := range methods() {
		if !strings.HasPrefix(m.name, "/gridstand.v1.PlayerService/") {
			_, err := m.call(h.call(key), h.conn, m.request.New().Interface())
			wantReason(t, err, pb.ReasonKeyNotLinked)
		}
	}
	h.refuses(t, h.call(key), &pb.GetPlayerRequest{PlayerId: "me"}, pb.ReasonKeyNotLinked)
	h.refuses(t, h.call(key), &pb.CreatePlayerRequest{Name: ann.GetName()}, pb.ReasonNameTaken)
	h.refuses(t, h.call(key), &pb.CreatePlayerRequest{Name: "Eve", Secret: newID()}, "secret")

	created, err := elsewhere.CreatePlayer(elsewhere.call(key), &pb.CreatePlayerRequest{Name: "Eve"})
	require.NoError(t, err)
	assert.Empty(t, created.GetToken(), "a stolen credential must not yield tokens")
	h.refuses(t, h.call(key), &pb.CreatePlayerRequest{Name: "Eve 2"}, pb.ReasonKeyTaken)
	for _, on := range []host{h, elsewhere} {
		got, err := on.me(key)
		require.NoError(t, err)
		assert.Equal(t, "Eve", got.GetName())
		_, err = on.me(newKey(t))
		wantReason(t, err, pb.ReasonKeyNotLinked)
	}
}

// Ensure that a malformed credential fails every call, that the log names the player for whom it is
// used, once and without the credential, and that a revoked credential is dead on all servers.
// TestSessions_Limited shows what a credential permits.
func TestCredential(t *testing.T) {
	t.Parallel()
	log := &servertest.Log{}
	h, elsewhere := hosts(t, func(c *server.Config) { c.Limits[limits.WrongTokensPerMinute], c.Logger = 0, log.Logger() })
	ann, key := h.player(t), newKey(t)
	_, err := h.AddKey(ann.ctx, key.proof(t, ann.GetId()))
	require.NoError(t, err)
	with := func(fingerprints []string, authorizations ...string) metadata.MD {
		return metadata.MD{"authorization": authorizations, "gridstand-ssh-key": fingerprints}
	}
	good, own := "Bearer "+h.credential, []string{key.fingerprint()}
	for name, md := range map[string]metadata.MD{
		"no key":         with(nil, good),
		"two keys":       with(append(own, own...), good),
		"malformed key":  with([]string{"ann"}, good),
		"no credential":  with(own),
		"a token":        with(own, "Bearer "+ann.token),
		"both":           with(own, good, "Bearer "+ann.token),
		"another scheme": with(own, "Basic "+h.credential),
		"wrong":          with(own, "Bearer gridstand_ssh_"+newID()),
		"cut":            with(own, good[:len(good)-1]),
		"a prefix":       with(own, "Bearer gridstand_ssh_"),
	} {
		_, err := h.ListVariants(metadata.NewOutgoingContext(h.anyone, md), &pb.ListVariantsRequest{})
		require.Error(t, err, name)
		wantReason(t, err, pb.ReasonBadCredential)
	}
	for _, m := range methods() {
		_, err := m.call(host{h.testServer, "gridstand_ssh_" + newID()}.call(key), h.conn, m.request.New().Interface())
		wantReason(t, err, pb.ReasonBadCredential)
	}
	for range 3 {
		_, err = h.me(key)
		require.NoError(t, err)
	}
	_, err = elsewhere.me(key)
	require.NoError(t, err)
	used := 0
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "ssh-host-acts") && strings.Contains(line, key.fingerprint()) && strings.Contains(line, ann.GetId()) {
			used++
		}
	}
	assert.Equal(t, 2, used, "once for each server")
	assert.NotContains(t, log.String(), h.credential)

	ops := operator(t, h.store)
	other, err := ops.Credentials.Create(t.Context(), "other")
	require.NoError(t, err)
	require.NoError(t, ops.Credentials.Revoke(t.Context(), "host"))
	assert.Error(t, ops.Credentials.Revoke(t.Context(), "host"))
	for _, on := range []host{h, elsewhere} {
		waittest.Until(t, "the credential is refused", func() bool {
			_, err = on.me(key)
			return err != nil
		})
		wantReason(t, err, pb.ReasonBadCredential)
		_, err = host{on.testServer, other}.me(key)
		require.NoError(t, err)
	}
}

// Ensure that names that look alike are taken once, and that the same name and secret identify the
// same player.
func TestCreatePlayer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	request := &pb.CreatePlayerRequest{Name: "Anna B.", Secret: newID()}
	anna := s.account(t, request)
	assert.Regexp(t, idForm, anna.GetId())
	assert.Equal(t, anna.GetId()+"."+request.GetSecret(), anna.token)
	assert.WithinDuration(t, time.Now(), anna.GetCreateTime().AsTime(), 5*time.Minute)
	again := s.account(t, &pb.CreatePlayerRequest{Name: "ANNA b.", Secret: request.GetSecret(), Bot: true})
	same(t, anna.Player, again.Player)
	assert.Equal(t, anna.token, again.token)
	for _, taken := range []*pb.CreatePlayerRequest{{Name: "ANNA B."}, {Name: "Anna-B", Secret: request.GetSecret()}} {
		s.refuses(t, s.anyone, taken, pb.ReasonNameTaken)
	}
	for _, request := range []*pb.GetPlayerRequest{{PlayerId: anna.GetId()}, {PlayerId: "me"}, {Name: "ANNA B."}} {
		got, err := s.GetPlayer(anna.ctx, request)
		require.NoError(t, err)
		same(t, anna.Player, got.GetPlayer())
	}
	robot := s.account(t, &pb.CreatePlayerRequest{Name: "Bot-1_. x of 24 letters.", Bot: true})
	assert.True(t, robot.GetBot())
	assert.Regexp(t, `^`+robot.GetId()+`\.[a-z2-7]{26,}$`, robot.token, "the server generates the secret")
}

// Ensure that a token can be replaced even if the reply is lost, that the replaced token is dead on
// every server, and that the store contains no secret.
func TestRotateToken(t *testing.T) {
	t.Parallel()
	redis := redistest.StartMiniredis(t)
	s, elsewhere := start(t, "redis://"+redis.Addr()), start(t, "redis://"+redis.Addr())
	p, secret := s.player(t), newID()+newID()
	me := func(token string) error {
		_, err := elsewhere.GetPlayer(s.with(token), &pb.GetPlayerRequest{PlayerId: "me"})
		return err
	}
	rotate := func(token, secret string) string {
		rotated, err := s.RotateToken(s.with(token), &pb.RotateTokenRequest{Secret: secret})
		require.NoError(t, err)
		return rotated.GetToken()
	}
	rotated := rotate(p.token, secret)
	require.Equal(t, p.GetId()+"."+secret, rotated)
	assert.Equal(t, rotated, rotate(rotated, secret), "the reply was lost")
	require.NoError(t, me(rotated))
	wantReason(t, me(p.token), pb.ReasonBadToken)
	for _, wrong := range []string{p.token, newID() + "." + newID()} {
		s.refuses(t, s.with(wrong), &pb.RotateTokenRequest{}, pb.ReasonBadToken)
	}
	same(t, p.Player, s.account(t, &pb.CreatePlayerRequest{Name: p.GetName(), Secret: secret}).Player)
	_, old, _ := strings.Cut(p.token, ".")
	s.refuses(t, s.anyone, &pb.CreatePlayerRequest{Name: p.GetName(), Secret: old}, pb.ReasonNameTaken)

	drawn := rotate(rotated, "")
	require.NoError(t, me(drawn))
	stored := redis.Dump()
	for _, token := range []string{p.token, rotated, drawn} {
		_, secret, _ := strings.Cut(token, ".")
		assert.NotContains(t, stored, secret)
	}
}
