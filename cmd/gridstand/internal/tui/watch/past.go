package watch

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// pastLimit is the maximum number of versions of a game in memory. Other versions are
	// loaded again if the user goes to them.
	pastLimit = 1000
	// pastChunk is the number of versions that are loaded at a time.
	pastChunk = 250
	// loadTimeout is the time limit for loading one chunk.
	loadTimeout = 15 * time.Second
)

// read calls do with the updates of a game after a version, until do returns false or there are no more.
func read(ctx context.Context, server ui.Server, gameID string, after int32, do func(client.Update) (more bool)) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	stream := server.Watch(ctx, client.WatchOptions{GameID: gameID, AfterVersion: &after, EveryEvent: true, Preview: true})
	for {
		u, err := stream.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case u.Connection.State == client.Reconnecting:
			return u.Connection.Err
		case !do(u):
			return nil
		}
	}
}

// eventOf returns the event of an update. For a snapshot, it is an event of an unknown kind.
func eventOf(u client.Update) *pb.Event {
	if g := u.Game; g != nil {
		return &pb.Event{GameId: g.GetId(), Version: g.GetVersion(), Position: g.GetPosition(), Time: g.GetUpdateTime()}
	}
	return u.Event
}

// past keeps events of a game, and tracks which version the user is looking at.
type past struct {
	events map[int32]*pb.Event // by version; at most pastLimit
	// at is the version on the screen, and state the state of the game then. at is 0 for the
	// live version.
	at    int32
	state gamestate.State
	// wanted is the version to go to once it is loaded, or 0.
	wanted  int32
	loading bool
}

// add adds events. If there are too many, it forgets those before them, which are loaded again if the
// user goes to them. The version on the screen stays, since state has it.
func (p *past) add(all ...*pb.Event) {
	if len(p.events)+len(all) > pastLimit {
		clear(p.events)
	}
	for _, e := range all {
		p.events[e.GetVersion()] = e
	}
}

// position returns the version that the user is looking at or waiting for.
func (g *game) position() int32 {
	return cmp.Or(g.past.wanted, g.past.at, g.Game.GetVersion())
}

// seek goes to a version, which may have to be loaded first. If it is the next one, seek animates the move that
// led to it. Seeking to the newest version or beyond returns to the live game.
func (p *page) seek(version int32) tea.Cmd {
	g := p.game
	next := version == g.position()+1
	g.shown().Motion.Stop()
	switch version = max(version, 1); {
	case version >= g.Game.GetVersion():
		g.past.at, g.past.wanted = 0, 0
		if p.chooser != nil && !g.running() {
			p.chooser.ended(p.env.Now)
		}
	case g.past.events[version] != nil:
		g.show(version)
	default:
		g.past.wanted = version
		if g.past.loading {
			return nil
		}
		return p.load(version)
	}
	return g.shown().Show(p.env, p.Tasks, next)
}

// load loads a version and the ones around it.
func (p *page) load(version int32) tea.Cmd {
	g := p.game
	g.past.loading = true
	first := (version-1)/pastChunk*pastChunk + 1
	last := first + min(pastChunk-1, g.Game.GetVersion()-first)
	now, server := g.Game, p.env.Server
	return ui.Call(p.Tasks, func(ctx context.Context) (events []*pb.Event, err error) {
		after := max(first-2, 0) // load one extra version to know what the first one changed
		s := gamestate.New(&pb.Game{Id: now.GetId(), Variant: now.GetVariant(), Seats: now.GetSeats(), Version: after})
		err = read(ctx, server, now.GetId(), after, func(u client.Update) bool {
			if s.Update(u) {
				events = append(events, eventOf(u))
			}
			return s.Game.GetVersion() < last
		})
		return events, err
	}, func(events []*pb.Event, err error) tea.Cmd { return p.loaded(g, first, last, events, err) })
}

// loaded adds the events of a game loaded from first to last and goes to the one that the user is waiting for.
func (p *page) loaded(g *game, first, last int32, events []*pb.Event, err error) tea.Cmd {
	g.past.loading = false
	wanted := g.past.wanted
	g.past.add(slices.DeleteFunc(events, func(e *pb.Event) bool { return g.WrongBoard(e.GetPosition()) })...)
	_, found := g.past.events[wanted]
	switch {
	case wanted == 0 || g != p.game:
		return nil
	case err == nil && (found || wanted < first || wanted > last):
		return p.seek(wanted)
	}
	g.past.wanted = 0 // otherwise it would be loaded forever
	p.stop()
	if err != nil {
		return p.Fail(err)
	}
	return p.Refuse("The server did not send this part of the game.")
}

// lookingBack reports whether the user is looking at a version other than the live one.
func (g *game) lookingBack() bool { return g.past.at != 0 || g.past.wanted != 0 }

// show makes version, whose event is known, the one that the user is looking at. It repeats the
// events up to it that the log shows.
func (g *game) show(version int32) {
	now, motion := g.Game, g.shown().Motion
	var seats []*pb.Seat
	for _, seat := range now.GetSeats() { // leave out Resigned: the events do not tell who had resigned by this version
		seats = append(seats, &pb.Seat{Occupant: seat.GetOccupant()})
	}
	first := version
	for first > version-gamestate.LogLimit && g.past.events[first-1] != nil {
		first--
	}
	s := gamestate.New(&pb.Game{Id: now.GetId(), Variant: now.GetVariant(), Seats: seats, Version: first - 1})
	for v := first; v <= version; v++ {
		s.Apply(g.past.events[v])
	}
	g.past.at, g.past.wanted = 0, 0
	if s.Board() != nil { // else a faulty server sent an event that does not fit the game
		s.Game.Seats, s.Game.Status, s.Motion = seats, pb.GameStatus_GAME_STATUS_ACTIVE, motion
		g.past.at, g.past.state = version, s
	}
}

// shown returns the state of the game at the version that the user is looking at.
func (g *game) shown() *gamestate.State {
	if g.past.at != 0 {
		return &g.past.state
	}
	return &g.State
}
