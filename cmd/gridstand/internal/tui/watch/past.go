package watch

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

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

// frame is the state of a game at one version.
type frame struct {
	version  int32
	position *pb.Position
	time     *timestamppb.Timestamp
	change   gamestate.Change
	entry    gamestate.Entry // its line in the log; What is empty if it has none
}

func frameOf(s *gamestate.State) frame {
	f := frame{version: s.Game.GetVersion(), position: s.Game.GetPosition(), time: s.Game.GetUpdateTime(), change: s.Change}
	if len(s.Log) > 0 && s.Log[0].Version == f.version {
		f.entry = s.Log[0]
	}
	return f
}

// past keeps versions of a game, and tracks which one the user is looking at.
type past struct {
	frames map[int32]frame // by version; at most pastLimit
	// at is the version on the screen, or 0 for the live version.
	at int32
	// wanted is the version to go to once it is loaded, or 0.
	wanted  int32
	loading bool
}

// add adds a version. If there are too many, it drops the one furthest from the version
// that the user is looking at or waiting for.
func (p *past) add(f frame) {
	p.frames[f.version] = f
	center := f.version
	if p.wanted != 0 {
		center = p.wanted
	} else if p.at != 0 {
		center = p.at
	}
	for len(p.frames) > pastLimit {
		furthest := center
		for v := range p.frames {
			if abs(v-center) > abs(furthest-center) {
				furthest = v
			}
		}
		delete(p.frames, furthest)
	}
}

func abs(n int32) int32 { return max(n, -n) }

// log lists the last events up to a version, newest first.
func (p *past) log(version int32) []gamestate.Entry {
	var entries []gamestate.Entry
	for v := version; len(entries) < gamestate.LogLimit; v-- {
		f, ok := p.frames[v]
		if !ok {
			break
		}
		if f.entry.What != "" {
			entries = append(entries, f.entry)
		}
	}
	return entries
}

// position returns the version that the user is looking at or waiting for.
func (g *game) position() int32 {
	switch {
	case g.past.wanted != 0:
		return g.past.wanted
	case g.past.at != 0:
		return g.past.at
	default:
		return g.state.Game.GetVersion()
	}
}

// seek goes to a version, which may have to be loaded first. Seeking to the newest version
// or beyond returns to the live game.
func (g *game) seek(version int32) tea.Cmd {
	version = max(version, 1)
	if version >= g.state.Game.GetVersion() {
		g.past.at, g.past.wanted = 0, 0
		return nil
	}
	if _, ok := g.past.frames[version]; ok {
		g.past.at, g.past.wanted = version, 0
		return nil
	}
	g.past.wanted = version
	if g.past.loading {
		return nil
	}
	return g.load(version)
}

// load loads a version and the ones around it.
func (g *game) load(version int32) tea.Cmd {
	g.past.loading = true
	first := (version-1)/pastChunk*pastChunk + 1
	last := first + min(pastChunk-1, g.state.Game.GetVersion()-first)
	now, server := g.state.Game, g.env.Server
	return ui.Call(g.tasks, func(ctx context.Context) (frames []frame, _ error) {
		ctx, cancel := context.WithTimeout(ctx, loadTimeout)
		defer cancel()
		after := max(first-2, 0) // load one extra version to know what the first one changed
		s := gamestate.New(&pb.Game{Id: now.GetId(), Variant: now.GetVariant(), Seats: now.GetSeats(), Version: after})
		stream := server.Watch(ctx, client.WatchOptions{GameID: now.GetId(), AfterVersion: &after, EveryEvent: true, Preview: true})
		for s.Game.GetVersion() < last {
			u, err := stream.Next()
			if err == nil && u.Connection.State == client.Reconnecting {
				err = u.Connection.Err
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return frames, err
			}
			if s.Update(u, time.Time{}) && s.Game.GetVersion() >= first {
				frames = append(frames, frameOf(&s))
			}
		}
		return frames, nil
	}, func(frames []frame, err error) tea.Cmd { return g.loaded(first, last, frames, err) })
}

// loaded adds versions loaded from first to last and goes to the one that the user is waiting for.
func (g *game) loaded(first, last int32, frames []frame, err error) tea.Cmd {
	g.past.loading = false
	wanted := g.past.wanted
	for _, f := range frames {
		if !g.state.WrongKind(f.position) {
			g.past.add(f)
		}
	}
	_, found := g.past.frames[wanted]
	switch {
	case wanted == 0:
		return nil
	case err != nil:
		g.past.wanted, g.problem = 0, ui.Explain(err, ui.SameKey)
		return nil
	case !found && first <= wanted && wanted <= last: // otherwise it would be loaded forever
		g.past.wanted, g.problem = 0, "The server did not send this part of the game."
		return nil
	default:
		return g.seek(wanted)
	}
}

// lookingBack reports whether the user is looking at a version other than the live one.
func (g *game) lookingBack() bool { return g.past.at != 0 || g.past.wanted != 0 }

// shown returns the state of the game at the version that the user is looking at.
func (g *game) shown() *gamestate.State {
	s := g.state
	f, ok := g.past.frames[g.past.at]
	if g.past.at == 0 || !ok {
		return &s
	}
	now := g.state.Game
	s.Game.Game = &pb.Game{
		Id: now.GetId(), Variant: now.GetVariant(), Status: pb.GameStatus_GAME_STATUS_ACTIVE,
		Version: f.version, Position: f.position, UpdateTime: f.time,
	}
	for _, seat := range now.GetSeats() { // leave out Resigned: the events do not tell who had resigned by this version
		s.Game.Seats = append(s.Game.Seats, &pb.Seat{Occupant: seat.GetOccupant()})
	}
	s.Change, s.Log = f.change, g.past.log(f.version)
	return &s
}
