package rpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/match"
)

// ListVariants implements pb.GameServiceServer.
func (s *Service) ListVariants(context.Context, *pb.ListVariantsRequest) (*pb.ListVariantsResponse, error) {
	return &pb.ListVariantsResponse{Variants: convert.All(variants.All(), translate.Variant)}, nil
}

// errRequestID is the error for an invalid request_id.
var errRequestID = invalid.Field("request_id", "must be %d characters of lower-case base32 (a–z, 2–7)", id.Length)

// CreateGame implements pb.GameServiceServer.
func (s *Service) CreateGame(ctx context.Context, request *pb.CreateGameRequest) (*pb.CreateGameResponse, error) {
	player := caller(ctx)
	if request.GetChallengeId() != "" {
		return s.createAttempt(ctx, request, player)
	}
	seed := game.NewSeed()
	created, err := s.newGame(request, player, seed)
	if err != nil {
		return nil, err
	}
	newID := id.New()
	if r := request.GetRequestId(); r != "" {
		newID = id.Derive([]byte("game"), []byte(player.ID), []byte(r))
		// The game may already exist. A retry must find it even if the limits allow no
		// more games.
		state, err := s.Hub.Existing(ctx, newID, created)
		if !errors.Is(err, gamelog.ErrNotFound) {
			return s.createdGame(ctx, state, err)
		}
	}
	if err := s.takeGames(ctx, player.ID, 1, 0); err != nil {
		return nil, err
	}
	state, err := s.Hub.Create(ctx, newID, created, seed, time.Time{})
	return s.createdGame(ctx, state, err)
}

func (s *Service) createdGame(ctx context.Context, state *replay.State, err error) (*pb.CreateGameResponse, error) {
	switch {
	case errors.Is(err, match.ErrExists):
		return nil, invalid.Field("request_id", "was used for a game with other content")
	case err != nil:
		return nil, err
	}
	if state, err = s.show(ctx, state); err != nil {
		return nil, err
	}
	return &pb.CreateGameResponse{Game: translate.Game(state, 0)}, nil
}

// maxTurnLimit is the longest turn limit that a request may set.
const maxTurnLimit = 7 * 24 * time.Hour

// newGame returns the game that a request describes.
func (s *Service) newGame(request *pb.CreateGameRequest, by account.Player, seed game.Seed) (replay.Created, error) {
	var none replay.Created
	if request.GetVariant() == "" {
		return none, missing("variant")
	}
	if r := request.GetRequestId(); r != "" && !id.Valid(r) {
		return none, errRequestID
	}
	var turnLimit time.Duration
	if request.GetTurnLimit() != nil {
		turnLimit = request.GetTurnLimit().AsDuration()
		if !request.GetTurnLimit().IsValid() || turnLimit < s.MinTurnLimit || turnLimit > maxTurnLimit {
			return none, invalid.Field("turn_limit", "must be unset or between %s and 7 days", s.MinTurnLimit)
		}
	}
	variant, ok := variants.Current(request.GetVariant())
	if !ok {
		return none, errVariantNotFound
	}
	seats, err := newSeats(request.GetSeats(), variant, by.Player)
	if err != nil {
		return none, err
	}
	return replay.Created{
		Variant: variant.ID, Revision: variant.Revision, Creator: by.Player, Seats: seats,
		Private: request.GetPrivate(), TurnLimit: turnLimit, Commitment: seed.Commitment(),
	}, nil
}

func seatField(i int) string { return fmt.Sprintf("seats[%d]", i) }

// newSeats returns the seats that a request describes. By default, the caller has the
// first seat and greedy bots have the others.
func newSeats(requested []*pb.SeatRequest, v game.Variant, creator replay.Player) ([]replay.Seat, error) {
	seats := make([]replay.Seat, v.Seats)
	if len(requested) == 0 {
		for i := range seats {
			seats[i] = replay.Seat{Bot: "greedy"}
		}
		seats[0] = replay.Seat{Player: creator}
		return seats, nil
	}
	if len(requested) != v.Seats {
		return nil, invalid.Field("seats", "must be empty or have one entry for each seat of %s, which has %d", v.ID, v.Seats)
	}
	for i, seat := range requested {
		switch occupant := seat.GetOccupant().(type) {
		case *pb.SeatRequest_Caller:
			seats[i].Player = creator
		case *pb.SeatRequest_Bot:
			if !slices.Contains(v.Bots, occupant.Bot) {
				return nil, invalid.Field(seatField(i)+".bot", "must be one of the bots that ListVariants returns for %s", v.ID)
			}
			seats[i].Bot = occupant.Bot
		case nil:
			return nil, invalid.Field(seatField(i), "must name an occupant")
		}
	}
	return seats, nil
}

// GetGame implements pb.GameServiceServer.
func (s *Service) GetGame(ctx context.Context, request *pb.GetGameRequest) (*pb.GetGameResponse, error) {
	g, err := s.game(ctx, request.GetGameId())
	return &pb.GetGameResponse{Game: g}, err
}

// game returns the message for the current state of a game.
func (s *Service) game(ctx context.Context, givenID string) (*pb.Game, error) {
	m, state, err := s.openMatch(ctx, givenID)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	return translate.Game(state, m.Spectators()), nil
}

// JoinGame implements pb.GameServiceServer.
func (s *Service) JoinGame(ctx context.Context, request *pb.JoinGameRequest) (*pb.JoinGameResponse, error) {
	seat, err := seatNamed(request.Seat)
	if err != nil {
		return nil, err
	}
	m, err := s.acquire(ctx, request.GetGameId(), seat)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	before := m.State().Version
	state, err := m.Join(ctx, caller(ctx).Player, seat)
	if err == nil && state.Version != before { // else the game is listed, if need be by its job
		err = s.Directory.Put(ctx, directory.Of(state, m.Spectators()))
	}
	if err != nil {
		return nil, err
	}
	if state, err = s.show(ctx, state); err != nil {
		return nil, err
	}
	return &pb.JoinGameResponse{Game: translate.Game(state, m.Spectators())}, nil
}

// seatNamed returns the seat specified in a request, or game.NoSeat if the request
// specifies none.
func seatNamed(seat *int32) (int, error) {
	if seat == nil {
		return game.NoSeat, nil
	}
	if *seat < 0 {
		return game.NoSeat, invalid.Field("seat", "must not be negative")
	}
	return int(*seat), nil
}

// acquire returns the match of a game, or an error if the game has no such seat. If seat
// is game.NoSeat, acquire does not check it.
func (s *Service) acquire(ctx context.Context, givenID string, seat int) (*match.Match, error) {
	id, err := checkID("game_id", givenID, errGameIDForm)
	if err != nil {
		return nil, err
	}
	m, err := s.Hub.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	if seats := len(m.State().Seats); seat >= seats {
		m.Release()
		return nil, invalid.Field("seat", "must be less than %d, the game's number of seats", seats)
	}
	return m, nil
}

// Undo implements pb.GameServiceServer.
func (s *Service) Undo(ctx context.Context, request *pb.UndoRequest) (*pb.UndoResponse, error) {
	if to := request.ToVersion; to != nil && (*to < 1 || *to >= request.GetVersion()) {
		return nil, invalid.Field("to_version", "must be at least 1 and less than version")
	}
	event, err := s.do(ctx, request.GetGameId(), &request.Version, game.NoSeat, replay.Undone{To: request.GetToVersion()})
	return &pb.UndoResponse{Event: event}, err
}

// Move implements pb.GameServiceServer.
func (s *Service) Move(ctx context.Context, request *pb.MoveRequest) (*pb.MoveResponse, error) {
	moved := replay.Moved{ByBot: request.GetByBot()}
	switch move := request.GetMove().(type) {
	case *pb.MoveRequest_Direction:
		direction, ok := translate.Direction(move.Direction)
		if !ok {
			return nil, invalid.Field("direction", "must be up, down, left or right")
		}
		moved.Move = game.Slide(direction)
	case *pb.MoveRequest_Cell:
		if move.Cell == nil {
			return nil, invalid.Field("cell", "must be set")
		}
		moved.Move = translate.To(move.Cell)
	default:
		return nil, invalid.Field("move", "must be a direction or a cell")
	}
	event, err := s.do(ctx, request.GetGameId(), &request.Version, game.NoSeat, moved)
	return &pb.MoveResponse{Event: event}, err
}

// Resign implements pb.GameServiceServer.
func (s *Service) Resign(ctx context.Context, request *pb.ResignRequest) (*pb.ResignResponse, error) {
	seat, err := seatNamed(request.Seat)
	if err != nil {
		return nil, err
	}
	event, err := s.do(ctx, request.GetGameId(), request.Version, seat, replay.Resigned{})
	return &pb.ResignResponse{Event: event}, err
}

// do performs an action of the caller on a game at the given version, or at the current one if version is nil.
func (s *Service) do(
	ctx context.Context, givenID string, version *int32, seat int, action replay.Action,
) (*pb.Event, error) {
	call := match.Call{PlayerID: caller(ctx).ID, Seat: seat, Action: action}
	if version != nil {
		if call.Version = *version; call.Version < 1 {
			return nil, invalid.Field("version", "must be 1 or more")
		}
	}
	m, err := s.acquire(ctx, givenID, seat)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	if state := m.State(); state.Attempt.Kind == replay.Race && state.Version <= 1 && len(state.SeatsOf(call.PlayerID)) > 0 {
		// If the race has not opened, the response would reveal information about the first board.
		err := s.Challenges.Hidden(ctx, state, call.PlayerID)
		if notOpen, ok := errors.AsType[*challenge.NotOpenError](err); ok {
			err = notYet(pb.ReasonGameNotStarted, notOpen)
		}
		if err != nil {
			return nil, err
		}
	}
	event, err := m.Do(ctx, call)
	if err != nil {
		return nil, err
	}
	shown := *event.Event
	if shown.State, err = s.Challenges.Reveal(ctx, shown.State); err != nil {
		return nil, err
	}
	return translate.Event(&shown), nil
}
