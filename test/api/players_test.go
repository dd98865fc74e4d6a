package api

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

// Ensure that a name is 1 to 24 harmless characters.
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
		s.account(t, &pb.CreatePlayerRequest{Name: "Secretive"}) // The name was not taken.
	})
}

// Ensure that a name is unique without regard to case, and the same name and
// secret are the same player.
func TestCreatePlayer_Again(t *testing.T) {
	t.Parallel()
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

		bot := s.account(t, &pb.CreatePlayerRequest{Name: "Robot", Bot: true})
		assert.True(t, bot.GetBot())
		drawn := s.player(t)
		id, secret, _ := strings.Cut(drawn.token, ".")
		assert.Equal(t, drawn.GetId(), id)
		assert.Regexp(t, `^[a-z2-7]{26,}$`, secret, "drawn by the server")
	})
}

// Ensure that of many callers who want one name at the same time one gets it,
// and that a repeated request gets one account.
func TestCreatePlayer_AtOnce(t *testing.T) {
	t.Parallel()
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
			assert.Equal(t, 4, n, "all that sent the secret that won")
		}
	})
}

// Ensure that a token can be replaced, also when the reply is lost: one of the
// two works.
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
	// If no server remembers that it was verified, the old one is wrong.
	_, err = elsewhere.GetPlayer(elsewhere.with(p.token), me)
	wantReason(t, err, pb.ReasonBadToken)

	// The reply was lost: with the new token, or the old one while it works,
	// the same call gives the same token.
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
	// Of the secrets the store has nothing.
	client := redistest.NewClient(t, redis.Addr())
	keys := client.Keys(t.Context(), "*").Val()
	require.NotEmpty(t, keys)
	for _, key := range keys {
		stored := client.Dump(t.Context(), key).Val()
		_, first, _ := strings.Cut(p.token, ".")
		assert.NotContains(t, key+stored, secret, key)
		assert.NotContains(t, key+stored, first, key)
	}
	// The name stays, and goes with the present secret alone.
	_, err = s.CreatePlayer(s.anyone, &pb.CreatePlayerRequest{Name: p.GetName(), Secret: secret})
	wantReason(t, err, pb.ReasonNameTaken)
	_, now, _ := strings.Cut(drawn.GetToken(), ".")
	assert.Equal(t, p.GetId(), s.account(t, &pb.CreatePlayerRequest{Name: p.GetName(), Secret: now}).GetId())
}
