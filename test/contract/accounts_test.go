package contract

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"google.golang.org/grpc/metadata"

	"github.com/gridstand/gridstand/internal/sshsig"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
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

// hosts starts two servers that share a store, and returns an SSH host that uses both.
func hosts(t *testing.T, changes ...change) (h, elsewhere host) {
	t.Helper()
	a, b := pair(t, changes...)
	credential, err := operator(t, a.store).CreateCredential(t.Context(), "host")
	require.NoError(t, err)
	return host{a, credential}, host{b, credential}
}

// Ensure that a key represents the player to whom it is linked, on every server, that two keys share
// an account only if both were linked to it, and that a removed key is dead and can be linked to
// another account.
func TestKeys(t *testing.T) {
	t.Parallel()
	h, elsewhere := hosts(t)
	ann, bob := h.player(t), h.player(t)
	one, two, three := newKey(t), newKey(t), newKey(t)
	link := func(p player, key sshKey) error {
		_, err := h.AddKey(p.ctx, key.proof(t, p.GetId()))
		return err
	}
	_, err := h.AddKey(ann.ctx, one.proof(t, bob.GetId()))
	wantField(t, err, "signature")
	require.NoError(t, link(ann, one))
	require.NoError(t, link(ann, one), "linking a key again is a no-op")
	wantReason(t, link(bob, one), pb.ReasonKeyTaken)
	require.NoError(t, link(bob, two))
	require.NoError(t, link(ann, three))
	for _, h := range []host{h, elsewhere} {
		for key, want := range map[sshKey]player{one: ann, two: bob, three: ann} {
			got, err := h.me(key)
			require.NoError(t, err)
			assert.Equal(t, want.GetId(), got.GetId())
		}
		keys, err := h.ListKeys(h.call(one), &pb.ListKeysRequest{})
		require.NoError(t, err)
		require.Len(t, keys.GetKeys(), 2)
		assert.Equal(t, one.fingerprint(), keys.GetKeys()[0].GetFingerprint())
		assert.Equal(t, "a key of "+ann.GetId()[:4], keys.GetKeys()[0].GetComment())
		assert.Equal(t, three.fingerprint(), keys.GetKeys()[1].GetFingerprint())
	}
	created, err := elsewhere.CreateGame(elsewhere.call(one), &pb.CreateGameRequest{Variant: "classic"})
	require.NoError(t, err)
	game := created.GetGame()
	assert.Equal(t, ann.GetId(), game.GetSeats()[0].GetPlayer().GetId())
	_, err = h.Resign(h.call(two), &pb.ResignRequest{GameId: game.GetId()})
	wantReason(t, err, pb.ReasonNotSeated)
	_, err = h.Resign(h.call(three), &pb.ResignRequest{GameId: game.GetId()})
	require.NoError(t, err)

	remove := func(p player, key sshKey) error {
		_, err := h.RemoveKey(p.ctx, &pb.RemoveKeyRequest{Fingerprint: key.fingerprint()})
		return err
	}
	wantReason(t, remove(bob, one), pb.ReasonKeyNotFound)
	require.NoError(t, remove(ann, one))
	wantReason(t, remove(ann, one), pb.ReasonKeyNotFound)
	_, err = h.me(one)
	wantReason(t, err, pb.ReasonKeyNotLinked)
	_, err = h.me(three)
	require.NoError(t, err)
	require.NoError(t, link(bob, one))
	for range 6 {
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
	_, err := h.me(key)
	wantReason(t, err, pb.ReasonKeyNotLinked)
	_, err = h.CreatePlayer(h.call(key), &pb.CreatePlayerRequest{Name: ann.GetName()})
	wantReason(t, err, pb.ReasonNameTaken)
	_, err = h.CreatePlayer(h.call(key), &pb.CreatePlayerRequest{Name: "Eve", Secret: newID()})
	wantField(t, err, "secret")

	created, err := elsewhere.CreatePlayer(elsewhere.call(key), &pb.CreatePlayerRequest{Name: "Eve"})
	require.NoError(t, err)
	assert.Empty(t, created.GetToken(), "a stolen credential must not yield tokens")
	_, err = h.CreatePlayer(h.call(key), &pb.CreatePlayerRequest{Name: "Eve 2"})
	wantReason(t, err, pb.ReasonKeyTaken)
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
	h, elsewhere := hosts(t, func(c *server.Config) { c.Limits.WrongTokensPerMinute, c.Logger = 0, log.Logger() })
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
	_, err = ops.CreateCredential(t.Context(), "host")
	require.Error(t, err)
	other, err := ops.CreateCredential(t.Context(), "other")
	require.NoError(t, err)
	require.NoError(t, ops.RevokeCredential(t.Context(), "host"))
	assert.Error(t, ops.RevokeCredential(t.Context(), "host"))
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
	for _, name := range []string{"a", "0", "b-", "c_", "d.", "a b", "meg", "Player.One", "abcdefghijklmnopqrstuvwx", "x 1-2_3.4"} {
		assert.Equal(t, name, s.account(t, &pb.CreatePlayerRequest{Name: name}).GetName())
	}
	request := &pb.CreatePlayerRequest{Name: "Anna B.", Secret: newID()}
	anna := s.account(t, request)
	assert.Regexp(t, idForm, anna.GetId())
	assert.Equal(t, anna.GetId()+"."+request.GetSecret(), anna.token)
	again := s.account(t, request)
	same(t, anna.Player, again.Player)
	assert.Equal(t, anna.token, again.token)
	for _, taken := range []*pb.CreatePlayerRequest{
		{Name: "Anna B."},
		{Name: "Anna B.", Secret: newID()},
		{Name: "ANNA B."},
		{Name: "Anna B.", Bot: true},
		{Name: "Anna-B"},
		{Name: "AnnaB.", Secret: request.GetSecret()},
	} {
		_, err := s.CreatePlayer(s.anyone, taken)
		wantReason(t, err, pb.ReasonNameTaken)
	}
	other := s.account(t, &pb.CreatePlayerRequest{Name: "Anna C.", Secret: request.GetSecret()})
	assert.NotEqual(t, anna.GetId(), other.GetId(), "the same secret under another name is another player")
	for _, request := range []*pb.GetPlayerRequest{{PlayerId: anna.GetId()}, {PlayerId: "me"}, {Name: "Anna B."}, {Name: "ANNA B."}} {
		got, err := s.GetPlayer(anna.ctx, request)
		require.NoError(t, err)
		same(t, anna.Player, got.GetPlayer())
	}
	assert.True(t, s.account(t, &pb.CreatePlayerRequest{Name: "Robot", Bot: true}).GetBot())
	id, secret, _ := strings.Cut(s.account(t, &pb.CreatePlayerRequest{Name: "Drawn"}).token, ".")
	assert.Regexp(t, idForm, id)
	assert.Regexp(t, `^[a-z2-7]{26,}$`, secret, "the server generates the secret")
}

// Ensure that a token can be replaced even if the reply is lost, that the replaced token is dead on
// every server, and that the store contains no secret.
func TestRotateToken(t *testing.T) {
	t.Parallel()
	redis := redistest.StartMiniredis(t)
	s, elsewhere := start(t, "redis://"+redis.Addr()), start(t, "redis://"+redis.Addr())
	p, secret := s.player(t), newID()+newID()
	me := func(s *testServer, token string) error {
		got, err := s.GetPlayer(s.with(token), &pb.GetPlayerRequest{PlayerId: "me"})
		if err == nil {
			same(t, p.Player, got.GetPlayer())
		}
		return err
	}
	rotate := func(token, secret string) string {
		rotated, err := s.RotateToken(s.with(token), &pb.RotateTokenRequest{Secret: secret})
		require.NoError(t, err)
		return rotated.GetToken()
	}
	rotated := rotate(p.token, secret)
	require.Equal(t, p.GetId()+"."+secret, rotated)
	require.NoError(t, me(s, rotated))
	require.NoError(t, me(elsewhere, rotated))
	// A server that has not verified the old token before rejects it. If the reply was lost,
	// repeating the call returns the same token. The caller may use the new token, or the old one
	// while it still works.
	wantReason(t, me(elsewhere, p.token), pb.ReasonBadToken)
	assert.Equal(t, rotated, rotate(p.token, secret))
	assert.Equal(t, rotated, rotate(rotated, secret))

	drawn := rotate(rotated, "")
	require.NoError(t, me(elsewhere, drawn))
	stored := redis.Dump()
	_, first, _ := strings.Cut(p.token, ".")
	_, now, _ := strings.Cut(drawn, ".")
	for _, secret := range []string{first, secret, now} {
		assert.NotContains(t, stored, secret)
	}
	_, err := s.CreatePlayer(s.anyone, &pb.CreatePlayerRequest{Name: p.GetName(), Secret: secret})
	wantReason(t, err, pb.ReasonNameTaken)
	assert.Equal(t, p.GetId(), s.account(t, &pb.CreatePlayerRequest{Name: p.GetName(), Secret: now}).GetId())
}
