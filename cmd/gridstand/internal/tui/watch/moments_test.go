package watch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that each milestone is shown once, for two seconds, but not over an earlier position.
func TestMoments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, p, from := watching(t, &tuitest.Server{})
		d.Env.Me = ""
		from.Push(client.Update{Game: tuitest.Game(aBoard())})
		d.Settle()
		version := int32(613)
		after := func(tile, score int32) string {
			version++
			b := aBoard()
			b.Tiles[8] = tile // the largest
			from.Push(client.Update{Event: tuitest.Moved(version, pb.Direction_DIRECTION_LEFT, b, score)})
			d.Settle()
			return p.News
		}
		assert.Empty(t, after(1024, 12344))
		assert.Equal(t, "2048!", after(2048, 12350))
		d.Press("x").Shows("\n  2048!\n", "12,350")
		d.Until("the end of the moment", func() bool { return p.News == "" })
		assert.NotContains(t, d.Screen(), "2048!")
		assert.Empty(t, after(1024, 12354), "undone")
		assert.Empty(t, after(2048, 12360), "not for the first time")
		assert.Equal(t, "4096!", after(4096, 12404))
		d.Until("the end of the moment", func() bool { return p.News == "" })
		d.Press("left", "left", "left") // to the first 2048
		assert.Empty(t, after(8192, 20596))
	})
}

// Ensure that a watcher without an account becomes a guest with the first reaction, at most one a second
// and one at a time is sent, and what all watchers sent is shown for two seconds.
func TestReactions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent []pb.Reaction
		var refusal error
		d, p, from := watching(t, &tuitest.Server{OnReact: func(r pb.Reaction) error {
			sent = append(sent, r)
			return refusal
		}})
		guests, now := 0, tuitest.Noon
		d.Env.Me, d.Env.Clock = "", func() time.Time { return now }
		d.Env.SignIn = func(context.Context) (string, error) { guests++; return tuitest.Me, nil }
		d.Press("1")
		from.Push(client.Update{Game: tuitest.Game(aBoard())})
		d.Settle()
		d.Press("5")
		now = now.Add(time.Second)
		d.Press("1") // The account is still being created.
		d.Settle()
		d.Press("6")
		d.Settle()
		d.Press("1")
		d.Settle()
		assert.Equal(t, []pb.Reaction{pb.Reaction_REACTION_FIRE, pb.Reaction_REACTION_OUCH}, sent)
		assert.Equal(t, 1, guests)
		assert.Equal(t, tuitest.Me, d.Env.Me)
		now = now.Add(time.Second)
		refusal = client.ErrReactionsOff // They were on when the program started.
		assert.Contains(t, d.Screen(), "1–6 react")
		d.Press("1")
		d.Settle()
		assert.Contains(t, d.Screen(), "! the server has no reactions")
		now = now.Add(time.Second)
		d.Env.Reactions = false
		assert.NotContains(t, d.Screen(), "1–6 react")
		d.Press("1")
		d.Settle()
		assert.Len(t, sent, 3)
		d.Env.Reactions = true

		count := int32(4)
		from.Push(client.Update{Audience: &count, Reactions: []int32{1200, 0, -1, 0, 1, 0, 9}})
		d.Settle()
		assert.Equal(t, "★ clap ×1,200, fire", p.News, "no negative count, and no unknown reaction")
		d.Shows("★ clap ×1,200, fire", "4 watching")
		d.Until("the end of the reactions", func() bool { return p.News == "" })
		assert.NotContains(t, d.Screen(), "clap")

		now = now.Add(time.Second)
		d.Env.WatchOnly = "You are a guest."
		assert.NotContains(t, d.Screen(), "1–6 react")
		d.Press("1")
		d.Settle()
		assert.Len(t, sent, 3, "a guest who may only watch cannot react")
		d.Env.WatchOnly = ""
		d.Press("left", "1")
		d.Settle()
		assert.Len(t, sent, 3, "a replay takes no reactions")
		assert.True(t, p.game.lookingBack())
	})
}

// Ensure that nothing that arrives late for a game changes the page once TV shows another one.
func TestWatch_Late(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, p, from := watching(t, &tuitest.Server{Past: history(613)})
		from.Push(client.Update{Game: tuitest.Game(aBoard())})
		until(d, p, 613)
		d.Press("home") // loads the start
		from.Push(client.Update{Reactions: []int32{1}})
		synctest.Wait()
		p.chooser = &chooser{byUser: true}
		d.Send(tuitest.Result(p.found, liveGame("second", 0, 0), nil))
		p.game.Replace(liveGame("second", 0, 0))
		d.Settle()
		assert.Equal(t, "second", p.game.Game.GetId())
		assert.Empty(t, p.News+p.Notice)
	})
}
