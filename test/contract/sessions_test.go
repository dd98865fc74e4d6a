package contract

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// link returns a code for the caller's account.
func (s *testServer) link(t testing.TB, ctx context.Context) string {
	t.Helper()
	link, err := s.CreateSessionLink(ctx, &pb.CreateSessionLinkRequest{})
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(10*time.Minute), link.GetExpireTime().AsTime(), 5*time.Minute)
	return link.GetCode()
}

// sessions returns the sessions of the caller's account.
func (s *testServer) sessions(t testing.TB, ctx context.Context) []*pb.Session {
	t.Helper()
	listed, err := s.ListSessions(ctx, &pb.ListSessionsRequest{})
	require.NoError(t, err)
	return listed.GetSessions()
}

// openSession opens a session, and returns its player with the session's token.
func (s *testServer) openSession(t testing.TB, code, secret string) player {
	t.Helper()
	opened, err := s.OpenSession(s.anyone, &pb.OpenSessionRequest{Code: code, Secret: secret, Comment: "a browser"})
	require.NoError(t, err)
	return player{opened.GetPlayer(), opened.GetToken(), s.with(opened.GetToken())}
}

// Ensure that the code of an account, over every protocol and on every server, opens one session,
// which plays for the account and can be ended by it, by itself, and by a new token of the account.
func TestSessions(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	ann, bob := a.player(t), a.player(t)
	code, secret := b.link(t, ann.ctx), newID()
	var session player
	for _, protocol := range protocols { // A lost reply is repeated.
		session = a.over(t, protocol).openSession(t, code, secret)
		same(t, ann.Player, session.Player)
		assert.Equal(t, ann.GetId()+"."+secret, session.token)
	}
	b.refuses(t, b.anyone, &pb.OpenSessionRequest{Code: code, Secret: newID()}, pb.ReasonSessionLinkNotFound)
	var opened *pb.Session
	for _, protocol := range protocols {
		listed := b.over(t, protocol).sessions(t, session.ctx)
		require.Len(t, listed, 1)
		opened = listed[0]
		assert.Equal(t, "a browser", opened.GetComment())
		assert.WithinDuration(t, time.Now(), opened.GetCreateTime().AsTime(), 5*time.Minute)
	}
	assert.Equal(t, ann.GetId(), b.game(t, session, "classic").GetSeats()[0].GetPlayer().GetId())

	end := func(p player, id string) error {
		_, err := a.EndSession(p.ctx, &pb.EndSessionRequest{SessionId: id})
		return err
	}
	wantReason(t, end(bob, opened.GetId()), pb.ReasonSessionNotFound)
	require.NoError(t, end(ann, opened.GetId()))
	wantReason(t, end(session, ""), pb.ReasonBadToken)
	var open []player
	for range 8 {
		open = append(open, a.openSession(t, a.link(t, ann.ctx), ""))
	}
	b.refuses(t, b.anyone, &pb.OpenSessionRequest{Code: a.link(t, ann.ctx)}, pb.ReasonTooManySessions)
	require.NoError(t, end(open[7], ""))
	wantReason(t, end(open[7], ""), pb.ReasonBadToken)

	a.game(t, open[0], "classic")
	theirs, unused := a.openSession(t, a.link(t, bob.ctx), ""), a.link(t, ann.ctx)
	rotated, err := a.RotateToken(ann.ctx, &pb.RotateTokenRequest{})
	require.NoError(t, err)
	assert.Empty(t, b.sessions(t, b.with(rotated.GetToken())))
	a.refuses(t, open[0].ctx, &pb.CreateGameRequest{Variant: "classic"}, pb.ReasonBadToken)
	b.refuses(t, b.anyone, &pb.OpenSessionRequest{Code: unused}, pb.ReasonSessionLinkNotFound)
	assert.Len(t, b.sessions(t, theirs.ctx), 1)
}

// accountCall is a call with a request that is valid for a player, and the reason for which a session
// and an SSH host are refused, or "" if they are not.
type accountCall struct {
	request       proto.Message
	session, host string
}

// accountCalls lists every method of PlayerService.
func accountCalls(t *testing.T, p player, code string, session, key string) map[string]accountCall {
	t.Helper()
	const limited, notOverSSH = pb.ReasonLimitedSession, pb.ReasonNotOverSSH
	return map[string]accountCall{
		"CreatePlayer":      {&pb.CreatePlayerRequest{Name: p.GetName()}, pb.ReasonNameTaken, pb.ReasonKeyTaken},
		"GetPlayer":         {&pb.GetPlayerRequest{PlayerId: "me"}, "", ""},
		"GetProfile":        {&pb.GetProfileRequest{PlayerId: "me"}, "", ""},
		"Rename":            {&pb.RenameRequest{Name: p.GetName()}, "", ""},
		"RotateToken":       {&pb.RotateTokenRequest{}, limited, notOverSSH},
		"AddKey":            {newKey(t).proof(t, p.GetId()), limited, notOverSSH},
		"ListKeys":          {&pb.ListKeysRequest{}, "", ""},
		"RemoveKey":         {&pb.RemoveKeyRequest{Fingerprint: key}, limited, notOverSSH},
		"CreateSessionLink": {&pb.CreateSessionLinkRequest{}, limited, ""},
		"OpenSession":       {&pb.OpenSessionRequest{Code: code}, pb.ReasonSessionLinkNotFound, notOverSSH},
		"ListSessions":      {&pb.ListSessionsRequest{}, "", ""},
		"EndSession":        {&pb.EndSessionRequest{SessionId: session}, limited, ""},
	}
}

// Ensure that neither a stolen session nor a stolen credential of an SSH host can change the tokens or
// keys of an account, that the former cannot change its other sessions, and that the latter reaches only accounts
// whose keys it knows.
func TestSessions_Limited(t *testing.T) {
	t.Parallel()
	h, _ := hosts(t)
	ann, bob, key := h.player(t), h.player(t), newKey(t)
	_, err := h.AddKey(ann.ctx, key.proof(t, ann.GetId()))
	require.NoError(t, err)
	other := h.openSession(t, h.link(t, h.call(key)), "")
	others := h.sessions(t, other.ctx)[0].GetId()
	stolen := h.openSession(t, h.link(t, h.call(key)), "")
	theirs := h.openSession(t, h.link(t, bob.ctx), "")
	bobs := h.sessions(t, theirs.ctx)

	calls := accountCalls(t, ann, newID(), others, key.fingerprint())
	tested := 0
	for _, m := range methods() {
		name, ok := strings.CutPrefix(m.name, "/gridstand.v1.PlayerService/")
		if !ok {
			continue
		}
		call, ok := calls[name]
		require.True(t, ok, "%s is not in the table", name)
		tested++
		for _, by := range []struct {
			ctx  context.Context
			want string
		}{{stolen.ctx, call.session}, {h.call(key), call.host}} {
			if _, err := h.send(by.ctx, call.request); by.want == "" {
				require.NoError(t, err, name)
			} else {
				require.Error(t, err, name)
				wantReason(t, err, by.want)
			}
		}
	}
	assert.Len(t, calls, tested)

	// Another account is out of reach.
	h.refuses(t, h.call(key), &pb.EndSessionRequest{SessionId: bobs[0].GetId()}, pb.ReasonSessionNotFound)
	for _, request := range []proto.Message{&pb.CreateSessionLinkRequest{}, &pb.ListSessionsRequest{}, &pb.RenameRequest{Name: "Thief"}} {
		h.refuses(t, h.call(newKey(t)), request, pb.ReasonKeyNotLinked)
	}
	// The owner still has the account.
	me, err := h.GetPlayer(ann.ctx, &pb.GetPlayerRequest{PlayerId: "me"})
	require.NoError(t, err)
	same(t, ann.Player, me.GetPlayer())
	keys, err := h.ListKeys(ann.ctx, &pb.ListKeysRequest{})
	require.NoError(t, err)
	require.Len(t, keys.GetKeys(), 1)
}

// Ensure that a server that still knows a token or key, although it was replaced or removed on another one,
// refuses it in all calls about the account: its thief can neither keep the account nor take it over.
func TestSessions_Replaced(t *testing.T) {
	t.Parallel()
	h, elsewhere := hosts(t)
	ann, key := h.player(t), newKey(t)
	_, err := h.AddKey(ann.ctx, key.proof(t, ann.GetId()))
	require.NoError(t, err)
	opened := h.openSession(t, h.link(t, h.call(key)), "")
	session := h.sessions(t, opened.ctx)[0].GetId()
	rotated, err := elsewhere.RotateToken(ann.ctx, &pb.RotateTokenRequest{})
	require.NoError(t, err)
	owner := h.with(rotated.GetToken())
	_, err = elsewhere.RemoveKey(owner, &pb.RemoveKeyRequest{Fingerprint: key.fingerprint()})
	require.NoError(t, err)

	for name, call := range accountCalls(t, ann, newID(), session, key.fingerprint()) {
		for _, stolen := range []context.Context{ann.ctx, opened.ctx} {
			h.refuses(t, stolen, call.request, pb.ReasonBadToken)
		}
		if call.host == "" {
			_, err := h.send(h.call(key), call.request)
			wantReason(t, err, pb.ReasonKeyNotLinked)
		}
		_, err = h.GetPlayer(owner, &pb.GetPlayerRequest{PlayerId: "me"})
		require.NoError(t, err, name)
	}
}
