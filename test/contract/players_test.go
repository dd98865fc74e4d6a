package contract

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a name must have 1 to 24 allowed characters.
func TestCreatePlayer_Names(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		for _, name := range []string{
			"a", "Z", "0", "a-", "a_", "a.", "a b", "a-_. b", "meg", "Player.One", "abcdefghijklmnopqrstuvwx", "x 1-2_3.4",
		} {
			created, err := s.CreatePlayer(s.anyone, &pb.CreatePlayerRequest{Name: name})
			require.NoError(t, err, name)
			assert.Equal(t, name, created.GetPlayer().GetName())
		}
		for _, name := range []string{
			"", " ", "  ", " a", "a ", "abcdefghijklmnopqrstuvwxy", strings.Repeat("a", 3_000),
			"a\tb", "a\nb", "a\x00b", "a\x1b[31m", "a\x7f", "é", "ａ", "名", "a\u200bb", "a\u202eb", "a\u00a0b", "😀",
			"-", "_", ".", "..", "-_.", "--help", "a  b", "a   b",
			"a@b", "a/b", "a:b", "a{b}", "a*", "a'b", `a"b`, "a\\b", "a,b", "a+b", "a%b", "a!", "a~", "a|b",
		} {
			_, err := s.CreatePlayer(s.anyone, &pb.CreatePlayerRequest{Name: name})
			t.Logf("%q", name)
			wantField(t, err, "name")
		}
		for _, name := range []string{"me", "ME", "admin", "ad-min.", "s e r v e r", "greedy", "Classic", "Tribolo", "3 x 3", "help"} {
			_, err := s.CreatePlayer(s.anyone, &pb.CreatePlayerRequest{Name: name})
			wantReason(t, err, pb.ReasonNameTaken)
		}
		for _, secret := range []string{
			"a", newID()[1:], strings.ToUpper(newID()), "1" + newID(), newID() + "=", newID() + " ", strings.Repeat("a", 3_000),
		} {
			_, err := s.CreatePlayer(s.anyone, &pb.CreatePlayerRequest{Name: "Secretive", Secret: secret})
			wantField(t, err, "secret")
		}
		s.account(t, &pb.CreatePlayerRequest{Name: "Secretive"}) // The refused calls did not claim the name.
	})
}

// Ensure that names are unique regardless of case, and that the same name and secret identify
// the same player.
func TestCreatePlayer_Again(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		request := &pb.CreatePlayerRequest{Name: "Anna B.", Secret: newID()}
		anna := s.account(t, request)
		assert.Regexp(t, idForm, anna.GetId())
		assert.Equal(t, anna.GetId()+"."+request.GetSecret(), anna.token)
		checkTime(t, anna.GetCreateTime())
		again := s.account(t, request)
		assert.True(t, proto.Equal(anna.Player, again.Player))
		assert.Equal(t, anna.token, again.token)

		for _, taken := range []*pb.CreatePlayerRequest{
			{Name: "Anna B."},
			{Name: "Anna B.", Secret: newID()},
			{Name: "ANNA B."},
			{Name: "anna b.", Secret: newID()},
			{Name: "Anna B.", Bot: true},
		} {
			_, err := s.CreatePlayer(s.anyone, taken)
			wantReason(t, err, pb.ReasonNameTaken)
		}
		for _, free := range []string{"Anna B", "Anna-B.", "AnnaB."} {
			other := s.account(t, &pb.CreatePlayerRequest{Name: free, Secret: request.GetSecret()})
			assert.NotEqual(t, anna.GetId(), other.GetId(), "the same secret under another name is another player")
		}

		got, err := s.GetPlayer(s.anyone, &pb.GetPlayerRequest{PlayerId: anna.GetId()})
		require.NoError(t, err)
		assert.True(t, proto.Equal(anna.Player, got.GetPlayer()))
		got, err = s.GetPlayer(anna.ctx, &pb.GetPlayerRequest{PlayerId: "me"})
		require.NoError(t, err)
		assert.True(t, proto.Equal(anna.Player, got.GetPlayer()))

		for _, name := range []string{"Anna B.", "ANNA B.", "anna b."} {
			got, err = s.GetPlayer(s.anyone, &pb.GetPlayerRequest{Name: name})
			require.NoError(t, err)
			assert.True(t, proto.Equal(anna.Player, got.GetPlayer()))
		}
		for _, name := range []string{"Unknown", "me", "Annab", " Anna B.", "Anna\x00", anna.GetId(), strings.Repeat("a", 3_000)} {
			_, err := s.GetPlayer(anna.ctx, &pb.GetPlayerRequest{Name: name})
			wantReason(t, err, pb.ReasonPlayerNotFound)
		}
		_, err = s.GetPlayer(anna.ctx, &pb.GetPlayerRequest{})
		wantField(t, err, "player_id")
		wantMessage(t, err, "player_id must be set if and only if name is not")

		bot := s.account(t, &pb.CreatePlayerRequest{Name: "Robot", Bot: true})
		assert.True(t, bot.GetBot())
		drawn := s.player(t)
		id, secret, _ := strings.Cut(drawn.token, ".")
		assert.Equal(t, drawn.GetId(), id)
		assert.Regexp(t, `^[a-z2-7]{26,}$`, secret, "the server generates the secret")
	})
}

// Ensure that only one of several concurrent callers gets a name, and that repeated requests
// return the same account.
func TestCreatePlayer_AtOnce(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		var group sync.WaitGroup
		var mu sync.Mutex
		ids := map[string]int{}
		secrets := []string{newID(), newID(), newID()}
		for i := range 12 {
			group.Go(func() {
				created, err := s.CreatePlayer(s.anyone, &pb.CreatePlayerRequest{
					Name: []string{"Every", "every"}[i%2], Secret: secrets[i%3],
				})
				if err != nil {
					assert.Equal(t, pb.ReasonNameTaken, refusalOf(t, err).info.GetReason(), "%v", err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				ids[created.GetPlayer().GetId()]++
			})
		}
		group.Wait()
		require.Len(t, ids, 1)
		for _, n := range ids {
			assert.Equal(t, 4, n, "every call with the winning secret succeeds")
		}
	})
}

// Ensure that a token can be replaced even if the reply is lost: either the old or the new token
// works.
func TestRotateToken(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	s, elsewhere := start(t, redis.URL()), start(t, redis.URL())
	p := s.player(t)
	secret := newID() + newID()
	rotated, err := s.RotateToken(p.ctx, &pb.RotateTokenRequest{Secret: secret})
	require.NoError(t, err)
	require.Equal(t, p.GetId()+"."+secret, rotated.GetToken())

	me := &pb.GetPlayerRequest{PlayerId: "me"}
	for _, server := range []*testServer{s, elsewhere} {
		got, err := server.GetPlayer(server.with(rotated.GetToken()), me)
		require.NoError(t, err)
		assert.True(t, proto.Equal(p.Player, got.GetPlayer()))
	}
	// A server that has not verified the old token before rejects it.
	_, err = elsewhere.GetPlayer(elsewhere.with(p.token), me)
	wantReason(t, err, pb.ReasonBadToken)

	// If the reply was lost, repeating the call returns the same token. The caller may use
	// the new token, or the old one while it still works.
	for _, ctx := range []string{rotated.GetToken(), p.token} {
		again, err := s.RotateToken(s.with(ctx), &pb.RotateTokenRequest{Secret: secret})
		require.NoError(t, err)
		assert.Equal(t, rotated.GetToken(), again.GetToken())
	}

	drawn, err := s.RotateToken(s.with(rotated.GetToken()), &pb.RotateTokenRequest{})
	require.NoError(t, err)
	assert.NotEqual(t, rotated.GetToken(), drawn.GetToken())
	_, err = elsewhere.GetPlayer(elsewhere.with(drawn.GetToken()), me)
	require.NoError(t, err)

	for _, wrong := range []string{"a", newID()[1:], strings.ToUpper(newID()), newID() + "."} {
		_, err := s.RotateToken(s.with(drawn.GetToken()), &pb.RotateTokenRequest{Secret: wrong})
		wantField(t, err, "secret")
	}
	// The store does not contain the secrets.
	client := redistest.NewClient(t, redis.Addr())
	keys := client.Keys(t.Context(), "*").Val()
	require.NotEmpty(t, keys)
	for _, key := range keys {
		stored := client.Dump(t.Context(), key).Val()
		_, first, _ := strings.Cut(p.token, ".")
		assert.NotContains(t, key+stored, secret, key)
		assert.NotContains(t, key+stored, first, key)
	}
	// The account keeps its name, which can only be claimed with the current secret.
	_, err = s.CreatePlayer(s.anyone, &pb.CreatePlayerRequest{Name: p.GetName(), Secret: secret})
	wantReason(t, err, pb.ReasonNameTaken)
	_, now, _ := strings.Cut(drawn.GetToken(), ".")
	assert.Equal(t, p.GetId(), s.account(t, &pb.CreatePlayerRequest{Name: p.GetName(), Secret: now}).GetId())
}
