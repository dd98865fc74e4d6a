package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// adaID is the player's account in these tests.
const adaID = "adaadaadaadaadaadaadaadaad"

// triboloEvent is the state of a game of Tribolo after so many moves, each to
// the first destination of its mover, with the event that led there.
func triboloEvent(t testing.TB, moves int, seats ...replay.Seat) *replay.Event {
	t.Helper()
	v, ok := variants.Current("tribolo")
	require.True(t, ok)
	var bytes [game.SeedSize]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	seed, err := game.SeedFromBytes(bytes[:])
	require.NoError(t, err)
	e, err := replay.Start(gameID, replay.Entry{Seat: game.NoSeat, Action: replay.Created{
		Variant: v.ID, Revision: v.Revision, Commitment: seed.Commitment(), Seats: seats,
		Creator: seats[0].Player,
	}}, seed, noon.Add(-time.Minute))
	require.NoError(t, err)
	for range moves {
		e, err = e.State.Apply(replay.Entry{Seat: e.State.Turn(), Action: replay.Moved{
			Move: e.State.LegalMoves()[0], ByBot: e.State.Seats[e.State.Turn()].Bot != "",
		}}, noon.Add(-4*time.Second))
		require.NoError(t, err)
	}
	return e
}

// adaAndBots seats her with two bots.
func adaAndBots() []replay.Seat {
	return []replay.Seat{{Player: replay.Player{ID: adaID, Name: "ada"}}, {Bot: "greedy"}, {Bot: "minimax"}}
}

// someTribolo is a screen on which ada is to move, after a move of each.
func someTribolo(t testing.TB, s Server) *Tribolo {
	before, last := triboloEvent(t, 8, adaAndBots()...), triboloEvent(t, 9, adaAndBots()...)
	b := NewTribolo(context.Background(), s, PlayConfig{Game: translate.Game(before.State, 3), Me: adaID, Clock: atNoon})
	b.connection.State = client.Live
	b.apply(translate.Event(last))
	require.True(t, b.mine())
	b.cursor.X, b.cursor.Y = 0, 0
	return b
}

// best is the legal move that takes most.
func best(b *pb.TriboloBoard) *pb.TriboloMove {
	return slices.MaxFunc(b.GetLegalMoves(), func(a, b *pb.TriboloMove) int { return len(a.GetTaken()) - len(b.GetTaken()) })
}

// TestTriboloScreens compares every screen of Tribolo at every size, without
// its colours.
func TestTriboloScreens(t *testing.T) {
	t.Parallel()
	for name, screen := range map[string]func() (Screen, *base){
		"tribolo": func() (Screen, *base) {
			b := someTribolo(t, nil)
			b.game.GetPosition().TurnDeadline = timestamppb.New(noon.Add(41 * time.Second))
			return b, &b.base
		},
		"tribolo-hints": func() (Screen, *base) {
			b := someTribolo(t, nil)
			b.hints = true
			to := best(b.tribolo()).GetCell()
			b.cursor.X, b.cursor.Y = to.GetX(), to.GetY()
			return b, &b.base
		},
		"tribolo-elsewhere": func() (Screen, *base) {
			b := someTribolo(t, nil)
			b.address, b.hints, b.undone, b.game.Ranked = "play.example.org,play2.example.org", true, true, false
			return b, &b.base
		},
		"tribolo-waiting": func() (Screen, *base) {
			seats := adaAndBots()
			seats[1] = replay.Seat{}
			b := NewTribolo(context.Background(), nil, PlayConfig{
				Game: translate.Game(triboloEvent(t, 0, seats...).State, 0), Me: adaID, Clock: atNoon,
			})
			return b, &b.base
		},
		"tribolo-held": func() (Screen, *base) {
			b := someTribolo(t, nil)
			b.seat(0).StandIn = "greedy"
			return b, &b.base
		},
		"tribolo-end": func() (Screen, *base) {
			b := someTribolo(t, nil)
			finish(&b.match, pb.Result_REASON_NO_MOVES)
			b.game.Result.Winners = []int32{0}
			return b, &b.base
		},
		"tribolo-keys": func() (Screen, *base) {
			b := someTribolo(t, nil)
			b.help = true
			return b, &b.base
		},
		"tribolo-watch": func() (Screen, *base) {
			w := NewWatch(context.Background(), nil, WatchConfig{GameID: gameID, Clock: atNoon})
			w.match = newMatch(translate.Game(triboloEvent(t, 0, adaAndBots()...).State, 3))
			for n := range 9 {
				w.apply(translate.Event(triboloEvent(t, n+1, adaAndBots()...)))
			}
			w.connection.State = client.Live
			return w, &w.base
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goldenScreen(t, name, screen)
		})
	}
}

// TestTriboloPalettes compares a board in every palette, with its colours.
func TestTriboloPalettes(t *testing.T) {
	t.Parallel()
	b := someTribolo(t, nil)
	defer b.stop()
	for _, profile := range []colorprofile.Profile{
		colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII,
	} {
		for _, light := range []bool{false, true} {
			theme := Theme{Profile: profile, Light: light}
			ground := "dark"
			if light {
				ground = "light"
			}
			text := triboloPicture{board: b.tribolo(), jump: b.jump, cursor: &b.cursor}.draw(sizeTriboloMiddle, theme)
			golden(t, fmt.Sprintf("tribolo-%s-%s.ansi", strings.ToLower(profile.String()), ground), text+"\n")
			p := theme.palette()
			if p == nil {
				continue
			}
			seen := map[any]bool{p.board: true, p.empty: true}
			for i := range p.owners {
				for _, tone := range []tone{p.owners[i], p.fresh[i]} {
					assert.False(t, seen[tone.ground], "%s %s: owner %d looks like something else", profile, ground, i)
					seen[tone.ground] = true
					assert.Equal(t, tone.ground, profile.Convert(tone.ground), "a colour of another depth")
					assert.Equal(t, tone.ink, profile.Convert(tone.ink), "a colour of another depth")
				}
			}
		}
	}
}

// TestTriboloJump moves the cursor to a place where a jump leads and jumps, by
// keys and by a click; where none leads it says so.
func TestTriboloJump(t *testing.T) {
	t.Parallel()
	jumped := make(chan *pb.Cell, 2)
	s := &script{jump: func(version int32, to *pb.Cell) (*pb.Event, error) {
		assert.EqualValues(t, 10, version)
		jumped <- to
		return nil, client.FromError(&client.Error{Reason: pb.ReasonVersionConflict})
	}}
	b := someTribolo(t, s)
	s.game = func() (*pb.Game, error) { return translate.Game(triboloEvent(t, 8, adaAndBots()...).State, 3), nil }
	d := drive(t, b)
	target := best(b.tribolo()).GetCell()
	b.cursor.X, b.cursor.Y = target.GetX()+1, target.GetY()
	b.tribolo().LegalMoves = slices.DeleteFunc(b.tribolo().LegalMoves, func(m *pb.TriboloMove) bool {
		return sameCell(m.GetCell(), &b.cursor)
	})
	d.press(" ")
	assert.Contains(t, b.notice, "No jump")
	d.press("left", "?")
	assert.Contains(t, b.hint(), "takes")
	d.press(" ")
	d.until("the refusal", func() bool { return !b.acting })
	require.Len(t, jumped, 1)
	assert.True(t, sameCell(target, <-jumped))
	assert.Contains(t, b.notice, "changed since")

	v := b.View()
	x, y := int(target.GetX()), int(target.GetY())
	lines := strings.Split(ansi.Strip(v.Content), "\n")
	top := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "┏") })
	left := strings.Index(lines[top], "┏") // nothing but spaces is before it
	click := v.OnMouse(tea.MouseClickMsg{X: left + 1 + x*3, Y: top + 1 + y, Button: tea.MouseLeft})
	require.NotNil(t, click)
	assert.Nil(t, v.OnMouse(tea.MouseClickMsg{X: left - 1, Y: top + 1, Button: tea.MouseLeft}))
	d.send(click())
	select {
	case to := <-jumped:
		assert.True(t, sameCell(target, to))
	case <-time.After(limit):
		assert.Fail(t, "the click did nothing")
	}
}

// TestTribolo_JumpAgain jumps where the game moved on but not the board, as when
// time was given back.
func TestTribolo_JumpAgain(t *testing.T) {
	t.Parallel()
	made := translate.Event(triboloEvent(t, 10, adaAndBots()...))
	made.Version = 12
	s := &script{jump: func(version int32, _ *pb.Cell) (*pb.Event, error) {
		if version == 10 {
			return nil, client.FromError(&client.Error{Reason: pb.ReasonVersionConflict})
		}
		assert.EqualValues(t, 11, version)
		return made, nil
	}}
	b := someTribolo(t, s)
	s.game = func() (*pb.Game, error) {
		g := translate.Game(triboloEvent(t, 9, adaAndBots()...).State, 3)
		g.Version = 11
		return g, nil
	}
	d := drive(t, b)
	b.cursor.X, b.cursor.Y = best(b.tribolo()).GetCell().GetX(), best(b.tribolo()).GetCell().GetY()
	d.press("enter")
	d.until("the move", func() bool { return b.game.GetVersion() == 12 })
	assert.Empty(t, b.notice+b.problem)
}

// TestTriboloTurn rings and says in the title when the turn comes, once.
func TestTriboloTurn(t *testing.T) {
	t.Parallel()
	from := newStream()
	s := &script{streams: map[string]*stream{gameID: from}}
	b := NewTribolo(t.Context(), s, PlayConfig{
		Game: translate.Game(triboloEvent(t, 7, adaAndBots()...).State, 0), Me: adaID, Clock: atNoon,
	})
	d := drive(t, b)
	rings := 0
	hear := func() {
		d.until("the next version", func() bool {
			for _, msg := range d.heard {
				if raw, ok := msg.(tea.RawMsg); ok && raw.Msg == "\a" {
					rings++
				}
			}
			d.heard = nil
			return len(from.updates) == 0 && len(d.msgs) == 0
		})
	}
	require.False(t, b.mine())
	assert.NotContains(t, b.View().WindowTitle, "Your turn")
	for n := 8; n <= 9; n++ {
		from.push(client.Update{Event: translate.Event(triboloEvent(t, n, adaAndBots()...))})
	}
	d.until("the turn", b.mine)
	d.until("the bell", func() bool { hear(); return rings > 0 })
	assert.Contains(t, b.View().WindowTitle, "Your turn")
	assert.Equal(t, 1, rings)
}

// TestTribolo_StandIn takes the seat back with whatever key.
func TestTribolo_StandIn(t *testing.T) {
	t.Parallel()
	asked := make(chan int32, 1)
	s := &script{join: func(seat *int32) (*pb.Game, error) {
		asked <- *seat
		g := translate.Game(triboloEvent(t, 9, adaAndBots()...).State, 0)
		g.Version = 11
		return g, nil
	}}
	b := someTribolo(t, s)
	d := drive(t, b)
	out := translate.Event(triboloEvent(t, 9, adaAndBots()...))
	out.Seat = new(int32)
	out.Version, out.Action = 11, &pb.Event_TimedOut{TimedOut: &pb.TimedOut{StandIn: "greedy"}}
	b.apply(out)
	require.NotNil(t, b.held())
	assert.False(t, b.mine())
	assert.Contains(t, b.View().Content, "Any key takes your seat back")
	d.press("x")
	d.until("the answer", func() bool { return !b.acting })
	require.Len(t, asked, 1)
	assert.EqualValues(t, 0, <-asked)
	assert.Nil(t, b.held())
}

// TestTribolo_NewGame asks for one game, however often the keys are pressed, in
// the place of one that is over or given up.
func TestTribolo_NewGame(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]bool{"over": true, "given up": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resigned := false
			s := &script{
				resign: func() (*pb.Event, error) {
					resigned = true
					return nil, &client.Error{Reason: pb.ReasonGameOver}
				},
				create: func() (*pb.Game, error) {
					g := translate.Game(triboloEvent(t, 8, adaAndBots()...).State, 0)
					g.Id = "zzzzzzzzzzzzzzzzzzzzzzzzzz"
					return g, nil
				},
			}
			b := someTribolo(t, s)
			d := drive(t, b)
			if over {
				finish(&b.match, pb.Result_REASON_NO_MOVES)
				d.press("n")
			} else {
				d.press("n")
				require.Equal(t, askNew, b.question)
				d.press("y")
			}
			for _, key := range "nyuRny" {
				_, cmd := b.Update(tea.KeyPressMsg{Code: key, Text: string(key)})
				assert.Nil(t, cmd, string(key))
				assert.Equal(t, noQuestion, b.question)
			}
			assert.Contains(t, b.state(), "new game")
			d.until("the new game", func() bool { return b.opened.GetId() != gameID })
			assert.False(t, b.starting)
			assert.Equal(t, !over, resigned)
		})
	}
}

// TestTriboloWaits follows players who join until the game begins.
func TestTriboloWaits(t *testing.T) {
	t.Parallel()
	seats := adaAndBots()
	seats[1] = replay.Seat{}
	waiting := triboloEvent(t, 0, seats...)
	b := NewTribolo(t.Context(), &script{}, PlayConfig{
		Game: translate.Game(waiting.State, 0), Me: adaID, Clock: atNoon,
	})
	d := drive(t, b)
	assert.Contains(t, b.View().Content, "gridstand join")
	assert.Contains(t, b.View().Content, "Waiting for 1 to join")
	joined, err := waiting.State.Apply(replay.Entry{Seat: 1, Action: replay.Joined{
		Player: replay.Player{ID: "b", Name: "bob"},
	}}, noon)
	require.NoError(t, err)
	b.apply(translate.Event(joined))
	d.press("left")
	assert.True(t, b.mine())
	assert.Equal(t, "ada, bob, minimax", b.player())
	assert.Contains(t, b.View().Content, "gridstand watch")
	assert.False(t, b.alone())
}

// TestTriboloClock reads like a clock.
func TestTriboloClock(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0:00", 400 * time.Millisecond: "0:01", 41 * time.Second: "0:41",
		2*time.Hour + 3*time.Minute: "2:03:00", 76 * time.Hour: "3 d 4 h",
	} {
		assert.Equal(t, want, clock(d))
	}
	g := &pb.Game{Status: pb.GameStatus_GAME_STATUS_ACTIVE, TurnLimit: durationpb.New(time.Minute)}
	assert.Empty(t, (&match{game: client.Game{Game: g}}).clockText(&base{now: noon}))
}
