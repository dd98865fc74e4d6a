package contract

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

const clap = pb.Reaction_REACTION_CLAP

// Ensure that the player and the watchers of a game see the reactions on all servers, over every
// protocol, that a reaction does not change the game, and that a later watcher does not see it.
func TestReact(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	p := a.player(t)
	id := a.game(t, p, "classic").GetId()
	watchers := []*watcher{a.watch(t, p.ctx, from(id, 1))}
	for i, protocol := range append(protocols, sse) {
		watchers = append(watchers, []*testServer{a, b}[i%2].over(t, protocol).watch(t, a.anyone, from(id, 1)))
	}
	for _, w := range watchers {
		w.audience(t, int32(len(watchers)-1))
	}
	var want [6]int32
	for i, protocol := range protocols {
		on := []*testServer{b, a}[i%2].over(t, protocol)
		for _, r := range []pb.Reaction{clap, pb.Reaction(i + 2)} {
			_, err := on.React(a.player(t).ctx, &pb.ReactRequest{GameId: id, Reaction: r})
			require.NoError(t, err)
			want[r-1]++
		}
	}
	for _, w := range watchers {
		var got [6]int32
		for got != want {
			update, err := w.receive(t)
			require.NoError(t, err, "received %v", got)
			require.Nil(t, update.GetEvent())
			for i, n := range update.GetReactions() {
				got[i] += n
			}
		}
	}
	late := a.watch(t, a.anyone, from(id, 1))
	update, err := late.receive(t)
	require.NoError(t, err)
	assert.Empty(t, update.GetReactions())
	assert.EqualValues(t, 1, a.get(t, id).GetVersion())
}

// Ensure that a server without reactions and daily games says so and refuses them.
func TestReact_Off(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *server.Config) { c.Reactions, c.Daily = false, "" })
	info, err := s.GetServerInfo(s.anyone, &pb.GetServerInfoRequest{})
	require.NoError(t, err)
	assert.False(t, info.GetReactions())
	p := s.player(t)
	react := &pb.ReactRequest{GameId: s.game(t, p, "classic").GetId(), Reaction: clap}
	s.refuses(t, p.ctx, react, pb.ReasonReactionsOff)
	s.refuses(t, p.ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}}, pb.ReasonChallengeNotFound)
}
