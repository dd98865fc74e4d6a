package tui

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// limit is the time after which a test gives up waiting.
const limit = 10 * time.Second

// driver does what Bubble Tea does: it runs a screen's commands and brings
// their messages back to it.
type driver struct {
	t      *testing.T
	screen Screen
	msgs   chan tea.Msg
	quit   bool
	// heard are the messages that were for Bubble Tea itself, as far as a test
	// wants them.
	heard []tea.Msg

	running sync.WaitGroup // commands
}

// drive starts a screen. The test's end stops it.
func drive(t *testing.T, s Screen) *driver {
	t.Helper()
	d := &driver{t: t, screen: s, msgs: make(chan tea.Msg, 1000)}
	t.Cleanup(func() {
		s.stop()
		d.running.Wait()
	})
	d.run(s.Init())
	return d
}

func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	d.running.Go(func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				d.run(c)
			}
		default:
			d.msgs <- msg
		}
	})
}

// send gives the screen a message.
func (d *driver) send(msg tea.Msg) {
	switch msg.(type) {
	case tea.QuitMsg:
		d.quit = true
		return
	case tea.RawMsg:
		d.heard = append(d.heard, msg)
		return
	}
	_, cmd := d.screen.Update(msg)
	d.run(cmd)
	d.screen.View() // must never panic
}

// press types keys: letters, or the names of arrows.
func (d *driver) press(keys ...string) {
	codes := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "esc": tea.KeyEsc,
		"enter": tea.KeyEnter, "tab": tea.KeyTab,
	}
	for _, key := range keys {
		switch {
		case codes[key] != 0:
			d.send(tea.KeyPressMsg{Code: codes[key]})
		case key == "ctrl+c":
			d.send(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
		default:
			d.send(tea.KeyPressMsg{Code: []rune(key)[0], Text: key})
		}
	}
}

// until takes messages in until the condition holds.
func (d *driver) until(what string, holds func() bool) {
	d.t.Helper()
	timeout := time.After(limit)
	for !holds() {
		select {
		case msg := <-d.msgs:
			d.send(msg)
		case <-timeout:
			require.Fail(d.t, "waited too long", "for: %s", what)
		}
	}
}

// script is a server that does what a test tells it to.
type script struct {
	slide  func(ctx context.Context, version int32, d pb.Direction) (*pb.Event, error)
	solved func(ctx context.Context, version int32, d pb.Direction) (*pb.Event, error)
	jump   func(version int32, to *pb.Cell) (*pb.Event, error)
	undo   func(version int32, to *int32) (*pb.Event, error)
	join   func(seat *int32) (*pb.Game, error)
	resign func() (*pb.Event, error)
	game   func() (*pb.Game, error)
	create func() (*pb.Game, error)
	live   func(by pb.OrderBy) ([]*pb.Game, error)
	place  func(w pb.Window) (Place, error)
	lists  func(me, variant string, w pb.Window) (Lists, error)
	// streams are handed out by game; missing ones say nothing.
	streams map[string]*stream
	// past is what a watcher that asks for events after a version gets.
	past []*pb.Event
}

func (s *script) NewGame(context.Context, string, client.GameOptions) (*pb.Game, error) {
	return s.create()
}

func (s *script) Game(context.Context, string) (*pb.Game, error) { return s.game() }

func (s *script) LiveGames(_ context.Context, by pb.OrderBy) ([]*pb.Game, error) { return s.live(by) }

func (s *script) Slide(ctx context.Context, _ *pb.Game, version int32, d pb.Direction, byBot bool) (*pb.Event, error) {
	if byBot {
		return s.solved(ctx, version, d)
	}
	return s.slide(ctx, version, d)
}

func (s *script) Jump(_ context.Context, _ *pb.Game, version int32, to *pb.Cell) (*pb.Event, error) {
	return s.jump(version, to)
}

func (s *script) Undo(_ context.Context, _ *pb.Game, version int32, to *int32) (*pb.Event, error) {
	return s.undo(version, to)
}

func (s *script) Join(_ context.Context, _ string, seat *int32) (*pb.Game, error) {
	return s.join(seat)
}

func (s *script) Resign(context.Context, *pb.Game) (*pb.Event, error) { return s.resign() }

func (s *script) Place(_ context.Context, _ string, w pb.Window) (Place, error) {
	if s.place == nil {
		return Place{}, nil
	}
	return s.place(w)
}

func (s *script) Lists(_ context.Context, me, variant string, w pb.Window, _ []*pb.Variant) (Lists, error) {
	return s.lists(me, variant, w)
}

func (s *script) Watch(ctx context.Context, id string, after *int32) Stream {
	from := s.streams[id]
	if after != nil && s.past != nil {
		from = newStream()
		for _, e := range s.past {
			if e.GetVersion() > *after {
				from.push(client.Update{Event: e})
			}
		}
		from.end()
	}
	if from == nil {
		from = newStream()
	}
	return &reader{ctx: ctx, from: from}
}

// stream is what a test lets a screen see of a game.
type stream struct{ updates chan client.Update }

func newStream() *stream { return &stream{updates: make(chan client.Update, 100)} }

func (s *stream) push(u client.Update) {
	if u.Connection.State == client.Connecting {
		u.Connection.State = client.Live
	}
	s.updates <- u
}

// end ends the stream, as after the last event.
func (s *stream) end() { close(s.updates) }

type reader struct {
	ctx  context.Context
	from *stream
}

func (r *reader) Next() (client.Update, error) {
	select {
	case u, ok := <-r.from.updates:
		if !ok {
			return client.Update{}, io.EOF
		}
		return u, nil
	case <-r.ctx.Done():
		return client.Update{}, r.ctx.Err()
	}
}

// movedEvent is what a move made of the game at a version.
func movedEvent(version int32, d pb.Direction, b *pb.Twenty48Board, score int32) *pb.Event {
	return &pb.Event{
		GameId: gameID, Version: version, Ranked: true,
		Position: &pb.Position{MoveCount: version - 1, Scores: []int32{score}, Board: &pb.Position_Twenty48{Twenty48: b}},
		Action: &pb.Event_Moved{Moved: &pb.Moved{
			Move: &pb.Moved_Direction{Direction: d}, Gained: 4, Spawned: &pb.Spawn{Index: 0, Value: 2},
		}},
	}
}

// lastEvent is the end of the game at a version.
func lastEvent(version int32, reason pb.Result_Reason) *pb.Event {
	e := movedEvent(version, pb.Direction_DIRECTION_UP, someBoard(4, 4), 12340)
	if reason == pb.Result_REASON_RESIGNED {
		e.Action = &pb.Event_Resigned{Resigned: &pb.Resigned{}}
	}
	e.GetPosition().GetTwenty48().LegalMoves = nil
	e.Result = &pb.Result{Reason: reason, Scores: []int32{12340}}
	return e
}
