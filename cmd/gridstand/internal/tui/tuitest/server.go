package tuitest

import (
	"cmp"
	"context"
	"io"
	"sync"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Server implements ui.Server by calling functions that the test sets. A method whose
// function is nil must not be called, except as noted.
type Server struct {
	OnMove       func(ctx context.Context, version int32, m client.Move, byBot bool) (*pb.Event, error)
	OnUndo       func(version int32) (*pb.Event, error)
	OnJoin       func(seat *int32) (*pb.Game, error)
	OnResign     func() (*pb.Event, error)
	OnGame       func() (*pb.Game, error)
	OnNewGame    func(variant string, o client.GameOptions) (*pb.Game, error)
	OnLiveGames  func(by pb.OrderBy) ([]*pb.Game, error)
	OnPlace      func(w pb.Window) (ui.Place, error) // if nil, the player has no place
	OnLists      func(me, variant string, w pb.Window) (ui.Lists, error)
	OnReact      func(r pb.Reaction) error
	OnPlayerGame func(playerID string) (*pb.Game, error)
	OnChallenge  func(r *pb.GetChallengeRequest) (*pb.GetChallengeResponse, error) // if nil, there are no challenges
	// OnRace is called with what the user does to a race: "join ready=true", "add greedy", "leave …", "start".
	OnRace         func(call string) error
	OnNewChallenge func() (*pb.Challenge, error)
	OnAttempt      func(id string) (*pb.Game, error)
	OnStandings    func(r *pb.ListStandingsRequest) (*pb.ListStandingsResponse, error) // if nil, there are none
	// Contest is the stream of every challenge.
	Contest ChallengeStream
	// End is the error with which the streams of games end, or nil if they end after the last event.
	End error
	// streams maps the ids of games to their streams.
	streams sync.Map
	// Past has the game's events. Watchers that ask for the events after a version get them
	// from here.
	Past []*pb.Event
}

// NewGame implements ui.Server.
func (s *Server) NewGame(_ context.Context, n ui.NewGame) (client.Game, error) {
	return asGame(s.OnNewGame(n.Variant, n.Options))
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
func (s *Server) Undo(_ context.Context, _ client.Game, version int32) (*pb.Event, error) {
	return s.OnUndo(version)
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
	return s.OnReact(r)
}

// Lists implements ui.Server.
func (s *Server) Lists(_ context.Context, me, variant string, w pb.Window, _ []*pb.Variant) (ui.Lists, error) {
	return s.OnLists(me, variant, w)
}

// Variants implements ui.Server.
func (s *Server) Variants(context.Context) ([]*pb.Variant, error) { return Variants(), nil }

// CurrentGame implements ui.Server.
func (s *Server) CurrentGame(_ context.Context, playerID string) (client.Game, bool, error) {
	g, err := s.OnPlayerGame(playerID)
	return client.Game{Game: g}, g != nil, err
}

// Watch implements ui.Server.
func (s *Server) Watch(ctx context.Context, o client.WatchOptions) ui.Stream[client.Update] {
	from := s.Stream(o.GameID)
	switch {
	case o.AfterVersion == nil:
	case s.Past != nil:
		from = make(Stream, len(s.Past))
		for _, e := range s.Past {
			if e.GetVersion() > *o.AfterVersion {
				from.Push(client.Update{Event: e})
			}
		}
		close(from)
	case o.Preview:
		from = nil // the past is unknown
	}
	return &reader[client.Update]{ctx: ctx, from: from, end: &s.End}
}

// Stream is the stream of a game, with updates from the test. The test closes it to end the stream, as the
// server does after the last event. A nil stream has no updates.
type Stream chan client.Update

// Stream returns the stream of the game with the given id.
func (s *Server) Stream(gameID string) Stream {
	stream, _ := s.streams.LoadOrStore(gameID, make(Stream, 1000))
	return stream.(Stream)
}

// Push sends an update. The connection is live unless the update says otherwise.
func (s Stream) Push(u client.Update) {
	if u.Connection.State == client.Connecting {
		u.Connection.State = client.Live
	}
	s <- u
}

// reader implements the streams of package ui.
type reader[U any] struct {
	ctx  context.Context
	from <-chan U
	end  *error // points to nil if the stream ends after the last update
}

func (r *reader[U]) Next() (update U, err error) {
	select {
	case u, ok := <-r.from:
		if !ok {
			return update, cmp.Or(*r.end, io.EOF)
		}
		return u, nil
	case <-r.ctx.Done():
		return update, r.ctx.Err()
	}
}
