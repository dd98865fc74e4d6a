package tuitest

import (
	"context"
	"io"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Server implements ui.Server by calling functions that the test sets. A method whose
// function is nil must not be called, except as noted.
type Server struct {
	OnMove       func(ctx context.Context, version int32, m client.Move, byBot bool) (*pb.Event, error)
	OnUndo       func(version int32, to *int32) (*pb.Event, error)
	OnJoin       func(seat *int32) (*pb.Game, error)
	OnResign     func() (*pb.Event, error)
	OnGame       func() (*pb.Game, error)
	OnNewGame    func(variant string, o client.GameOptions) (*pb.Game, error)
	OnLiveGames  func(by pb.OrderBy) ([]*pb.Game, error)
	OnPlace      func(w pb.Window) (ui.Place, error) // if nil, the player has no place
	OnLists      func(me, variant string, w pb.Window) (ui.Lists, error)
	OnVariants   func() ([]*pb.Variant, error) // if nil, the result of Variants is returned
	OnReact      func(r pb.Reaction) error     // if nil, reactions succeed
	OnBest       func() int32                  // if nil, no player has a score
	OnPlayerID   func(name string) (string, error)
	OnPlayerGame func(playerID string) (*pb.Game, error)
	OnChallenges
	// Streams has the streams of games by id. For a game that is missing here, Watch
	// returns a stream without updates.
	Streams map[string]*Stream
	// Past has the game's events. Watchers that ask for the events after a version get them
	// from here.
	Past []*pb.Event
}

// NewGame implements ui.Server.
func (s *Server) NewGame(_ context.Context, variant string, o client.GameOptions) (client.Game, error) {
	return asGame(s.OnNewGame(variant, o))
}

// Game implements ui.Server.
func (s *Server) Game(context.Context, string) (client.Game, error) { return asGame(s.OnGame()) }

func asGame(g *pb.Game, err error) (client.Game, error) { return client.Game{Game: g}, err }

// LiveGames implements ui.Server.
func (s *Server) LiveGames(_ context.Context, by pb.OrderBy) ([]*pb.Game, error) {
	return s.OnLiveGames(by)
}

// Move implements ui.Server.
func (s *Server) Move(ctx context.Context, _ client.Game, version int32, m client.Move, byBot bool) (*pb.Event, error) {
	return s.OnMove(ctx, version, m, byBot)
}

// Undo implements ui.Server.
func (s *Server) Undo(_ context.Context, _ client.Game, version int32, to *int32) (*pb.Event, error) {
	return s.OnUndo(version, to)
}

// Join implements ui.Server.
func (s *Server) Join(_ context.Context, _ string, seat *int32) (client.Game, error) {
	return asGame(s.OnJoin(seat))
}

// Resign implements ui.Server.
func (s *Server) Resign(context.Context, client.Game) (*pb.Event, error) { return s.OnResign() }

// Profile implements ui.Server. The user has finished no game.
func (s *Server) Profile(context.Context) (*pb.GetProfileResponse, error) {
	return &pb.GetProfileResponse{}, nil
}

// Place implements ui.Server.
func (s *Server) Place(_ context.Context, _ string, w pb.Window) (ui.Place, error) {
	if s.OnPlace == nil {
		return ui.Place{}, nil
	}
	return s.OnPlace(w)
}

// React implements ui.Server.
func (s *Server) React(_ context.Context, _ string, r pb.Reaction) error {
	if s.OnReact == nil {
		return nil
	}
	return s.OnReact(r)
}

// Best implements ui.Server.
func (s *Server) Best(context.Context, string, string) (int32, error) {
	if s.OnBest == nil {
		return 0, nil
	}
	return s.OnBest(), nil
}

// Lists implements ui.Server.
func (s *Server) Lists(_ context.Context, me, variant string, w pb.Window, _ []*pb.Variant) (ui.Lists, error) {
	return s.OnLists(me, variant, w)
}

// Variants implements ui.Server.
func (s *Server) Variants(context.Context) ([]*pb.Variant, error) {
	if s.OnVariants == nil {
		return Variants(), nil
	}
	return s.OnVariants()
}

// PlayerByName implements ui.Server.
func (s *Server) PlayerByName(_ context.Context, name string) (*pb.Player, error) {
	id, err := s.OnPlayerID(name)
	return &pb.Player{Id: id, Name: name}, err
}

// CurrentGame implements ui.Server.
func (s *Server) CurrentGame(_ context.Context, playerID string) (client.Game, bool, error) {
	g, err := s.OnPlayerGame(playerID)
	return client.Game{Game: g}, g != nil, err
}

// Watch implements ui.Server.
func (s *Server) Watch(ctx context.Context, o client.WatchOptions) ui.Stream[client.Update] {
	from := s.Streams[o.GameID]
	if o.AfterVersion != nil && s.Past != nil {
		from = NewStream()
		for _, e := range s.Past {
			if e.GetVersion() > *o.AfterVersion {
				from.Push(client.Update{Event: e})
			}
		}
		from.End()
	}
	if from == nil || o.Preview && o.AfterVersion != nil && s.Past == nil { // the past is unknown
		from = NewStream()
	}
	return &reader[client.Update]{ctx: ctx, from: from.pipe}
}

// Stream is the stream of a game, with updates from the test.
type Stream struct{ pipe[client.Update] }

// NewStream returns a stream without updates.
func NewStream() *Stream { return &Stream{make(pipe[client.Update], 10000)} }

// Push sends an update. The connection is live unless the update says otherwise.
func (s *Stream) Push(u client.Update) {
	if u.Connection.State == client.Connecting {
		u.Connection.State = client.Live
	}
	s.pipe <- u
}

// pipe carries the updates of a stream.
type pipe[U any] chan U

// End ends the stream, as the server does after the last event.
func (p pipe[U]) End() { close(p) }

// reader implements the streams of package ui.
type reader[U any] struct {
	ctx  context.Context
	from pipe[U]
}

func (r *reader[U]) Next() (update U, err error) {
	select {
	case u, ok := <-r.from:
		if !ok {
			return update, io.EOF
		}
		return u, nil
	case <-r.ctx.Done():
		return update, r.ctx.Err()
	}
}
