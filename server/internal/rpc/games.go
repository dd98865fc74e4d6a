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
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/match"
)

// ListVariants implements the contract.
func (s *Service) ListVariants(context.Context, *pb.ListVariantsRequest) (*pb.ListVariantsResponse, error) {
	response := &pb.ListVariantsResponse{}
	for _, v := range variants.All() {
		response.Variants = append(response.Variants, translate.Variant(v))
	}
	return response, nil
}

// CreateGame implements the contract.
func (s *Service) CreateGame(ctx context.Context, request *pb.CreateGameRequest) (*pb.CreateGameResponse, error) {
	player, err := mustCaller(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.checkMoveRate(player.ID); err != nil {
		return nil, err
	}
	seed := game.NewSeed()
	created, err := s.newGame(request, player, seed)
	if err != nil {
		return nil, err
	}
	newID := id.New()
	if r := request.GetRequestId(); r != "" {
		newID = id.Derive([]byte("game"), []byte(player.ID), []byte(r))
		// The game may be there, also when no new one would be allowed.
		_, err := s.Hub.Existing(ctx, newID, created)
		if err == nil {
			g, err := s.game(ctx, newID)
			return &pb.CreateGameResponse{Game: g}, err
		}
		if !errors.Is(err, gamelog.ErrNotFound) {
			return createdGame(nil, err)
		}
	}
	if err := s.takeQuota(ctx, "games", player.ID, &s.Limits.NewGamesPerMinute, "new games a minute"); err != nil {
		return nil, err
	}
	if err := s.takeQuota(ctx, "games-from", s.Address(ctx), &s.Limits.NewGamesPerAddressPerMinute, "new games of one address a minute"); err != nil {
		return nil, err
	}
	if created.Exhibition() {
		if err := s.Planner.Admit(ctx, newID, player.ID, s.Address(ctx)); err != nil {
			return nil, err
		}
	}
	if err := s.reserve(ctx, player.ID, newID); err != nil {
		return nil, err
	}
	// Noted before there is anything to look at: a server that dies between
	// here and the lists leaves a game that is seen to.
	if err := s.Planner.Begin(ctx, newID); err != nil {
		return nil, err
	}
	state, err := s.Hub.Create(ctx, newID, created, seed)
	if err == nil {
		err = s.Planner.Plan(ctx, state)
	}
	return createdGame(state, err)
}

func createdGame(state *replay.State, err error) (*pb.CreateGameResponse, error) {
	switch {
	case errors.Is(err, match.ErrExists):
		return nil, invalid.Field("request_id", "was used for a game with other content")
	case err != nil:
		return nil, err
	}
	return &pb.CreateGameResponse{Game: translate.Game(state, 0)}, nil
}

// maxTurnLimit is the longest turn limit that can be asked for.
const maxTurnLimit = 7 * 24 * time.Hour

// newGame returns the game that a request describes.
func (s *Service) newGame(request *pb.CreateGameRequest, by account.Player, seed game.Seed) (replay.Created, error) {
	var none replay.Created
	if request.GetVariant() == "" {
		return none, missing("variant")
	}
	if r := request.GetRequestId(); r != "" && !id.Valid(r) {
		return none, invalid.Field("request_id", "must be %d characters of lower-case base32 (a–z, 2–7)", id.Length)
	}
	var turnLimit time.Duration
	if request.GetTurnLimit() != nil {
		turnLimit = request.GetTurnLimit().AsDuration()
		if !request.GetTurnLimit().IsValid() || turnLimit < s.MinTurnLimit || turnLimit > maxTurnLimit {
			return none, invalid.Field("turn_limit", "must be unset or between %s and 7 days", s.MinTurnLimit)
		}
	}
	for i, seat := range request.GetSeats() {
		if seat.GetOccupant() == nil {
			return none, invalid.Field(seatField(i), "must say who sits there")
		}
	}
	variant, ok := variants.Current(request.GetVariant())
	if !ok {
		return none, errVariantNotFound
	}
	creator := replay.Player{ID: by.ID, Name: by.Name, Bot: by.Bot}
	seats, err := newSeats(request.GetSeats(), variant, creator)
	if err != nil {
		return none, err
	}
	return replay.Created{
		Variant: variant.ID, Revision: variant.Revision, Creator: creator, Seats: seats,
		Private: request.GetPrivate(), TurnLimit: turnLimit, Commitment: seed.Commitment(),
	}, nil
}

func seatField(i int) string { return fmt.Sprintf("seats[%d]", i) }

// newSeats returns the seats that a request describes. By default the caller has the
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
		return nil, invalid.Field("seats", "must be none or %d for %s", v.Seats, v.ID)
	}
	for i, seat := range requested {
		switch occupant := seat.GetOccupant().(type) {
		case *pb.SeatRequest_Caller:
			seats[i].Player = creator
		case *pb.SeatRequest_Bot:
			if !slices.Contains(v.Bots, occupant.Bot) {
				return nil, invalid.Field(seatField(i), "must name one of the bots that ListVariants names for %s", v.ID)
			}
			seats[i].Bot = occupant.Bot
		}
	}
	return seats, nil
}

// bornWithin is the time within which a game that was counted is created: longer than
// any call takes.
const bornWithin = time.Minute

// recountEvery is how often the open games of a player at the limit are counted again,
// which reads the head of each.
const recountEvery = 5 * time.Second

// reserve counts a new game as one of the player's open games. If the player has too
// many, it first releases those that are over, or were never created because a server
// died.
func (s *Service) reserve(ctx context.Context, playerID, gameID string) error {
	limit := s.Limits.OpenGamesPerPlayer
	err := s.Accounts.Reserve(ctx, playerID, gameID, limit)
	if !errors.Is(err, account.ErrTooManyGames) || !s.recounts.Take(playerID) {
		return err
	}
	open, err := s.Accounts.OpenGames(ctx, playerID)
	if err != nil {
		return err
	}
	ids := make([]string, len(open))
	for i, o := range open {
		ids[i] = o.ID
	}
	heads, err := s.Log.Heads(ctx, ids)
	if err != nil {
		return err
	}
	var gone []string
	for i, head := range heads {
		// One that is not there may be just being created.
		if !head.Exists && open[i].Age > bornWithin || head.State != nil && head.State.Status == replay.Finished {
			gone = append(gone, ids[i])
		}
	}
	if len(gone) == 0 {
		return account.ErrTooManyGames
	}
	if err := s.Accounts.Release(ctx, playerID, gone...); err != nil {
		return err
	}
	return s.Accounts.Reserve(ctx, playerID, gameID, limit)
}

// GetGame implements the contract.
func (s *Service) GetGame(ctx context.Context, request *pb.GetGameRequest) (*pb.GetGameResponse, error) {
	g, err := s.game(ctx, request.GetGameId())
	if err != nil {
		return nil, err
	}
	return &pb.GetGameResponse{Game: g}, nil
}

// game returns the current state of a game.
func (s *Service) game(ctx context.Context, givenID string) (*pb.Game, error) {
	m, err := s.acquire(ctx, givenID, game.NoSeat)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	state, err := m.Confirm(ctx)
	if err != nil {
		return nil, err
	}
	s.Planner.Looked(state, s.Address(ctx))
	return translate.Game(state, m.Watchers()), nil
}

// JoinGame implements the contract.
func (s *Service) JoinGame(ctx context.Context, request *pb.JoinGameRequest) (*pb.JoinGameResponse, error) {
	player, err := mustCaller(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.checkMoveRate(player.ID); err != nil {
		return nil, err
	}
	seat, err := seatNamed(request.Seat)
	if err != nil {
		return nil, err
	}
	m, err := s.acquire(ctx, request.GetGameId(), seat)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	// The game is counted before the player joins it.
	counted := false
	state, err := m.Join(ctx, replay.Player{ID: player.ID, Name: player.Name, Bot: player.Bot}, seat, func() error {
		err := s.reserve(ctx, player.ID, request.GetGameId())
		counted = err == nil
		return err
	})
	if counted && (errors.Is(err, match.ErrSeatTaken) || errors.Is(err, replay.ErrGameOver)) {
		if err := s.leave(ctx, m.State(), player.ID); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.Directory.Put(ctx, directory.Of(state, m.Watchers())); err != nil {
		return nil, err
	}
	return &pb.JoinGameResponse{Game: translate.Game(state, m.Watchers())}, nil
}

// leave releases a game that a player did not get into.
func (s *Service) leave(ctx context.Context, state *replay.State, playerID string) error {
	if playerID == state.Creator.ID || len(state.SeatsOf(playerID)) > 0 {
		return nil
	}
	return s.Accounts.Release(ctx, playerID, state.ID)
}

// seatNamed returns the seat that a request names, or game.NoSeat.
func seatNamed(seat *int32) (int, error) {
	if seat == nil {
		return game.NoSeat, nil
	}
	if *seat < 0 {
		return game.NoSeat, invalid.Field("seat", "must not be negative")
	}
	return int(*seat), nil
}

// acquire returns the match of a game. It returns an error if the game lacks the seat,
// unless that is game.NoSeat.
func (s *Service) acquire(ctx context.Context, givenID string, seat int) (*match.Match, error) {
	id, err := gameID(givenID)
	if err != nil {
		return nil, err
	}
	m, err := s.Hub.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	if seats := len(m.State().Seats); seat >= seats {
		m.Release()
		return nil, invalid.Field("seat", "must be below %d: the game has as many seats", seats)
	}
	return m, nil
}

// Undo implements the contract.
func (s *Service) Undo(ctx context.Context, request *pb.UndoRequest) (*pb.UndoResponse, error) {
	player, err := mustCaller(ctx)
	if err != nil {
		return nil, err
	}
	if request.GetVersion() < 1 {
		return nil, invalid.Field("version", "must be 1 or more")
	}
	if to := request.ToVersion; to != nil && (*to < 1 || *to >= request.GetVersion()) {
		return nil, invalid.Field("to_version", "must be 1 or more and below version")
	}
	event, err := s.do(ctx, request.GetGameId(), match.Call{
		PlayerID: player.ID, Version: request.GetVersion(), Seat: game.NoSeat,
		Action: replay.Undone{To: request.GetToVersion()},
	})
	if err != nil {
		return nil, err
	}
	return &pb.UndoResponse{Event: event}, nil
}

// Move implements the contract.
func (s *Service) Move(ctx context.Context, request *pb.MoveRequest) (*pb.MoveResponse, error) {
	player, err := mustCaller(ctx)
	if err != nil {
		return nil, err
	}
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
	if request.GetVersion() < 1 {
		return nil, invalid.Field("version", "must be 1 or more")
	}
	event, err := s.do(ctx, request.GetGameId(), match.Call{
		PlayerID: player.ID, Version: request.GetVersion(), Seat: game.NoSeat, Action: moved,
	})
	if err != nil {
		return nil, err
	}
	return &pb.MoveResponse{Event: event}, nil
}

// Resign implements the contract.
func (s *Service) Resign(ctx context.Context, request *pb.ResignRequest) (*pb.ResignResponse, error) {
	player, err := mustCaller(ctx)
	if err != nil {
		return nil, err
	}
	if request.Version != nil && request.GetVersion() < 1 {
		return nil, invalid.Field("version", "must be 1 or more")
	}
	seat, err := seatNamed(request.Seat)
	if err != nil {
		return nil, err
	}
	event, err := s.do(ctx, request.GetGameId(), match.Call{
		PlayerID: player.ID, Version: request.GetVersion(), Seat: seat, Action: replay.Resigned{},
	})
	if err != nil {
		return nil, err
	}
	return &pb.ResignResponse{Event: event}, nil
}

// do carries out a call on a game, within the player's limit on moves.
func (s *Service) do(ctx context.Context, givenID string, call match.Call) (*pb.Event, error) {
	if err := s.checkMoveRate(call.PlayerID); err != nil {
		return nil, err
	}
	m, err := s.acquire(ctx, givenID, call.Seat)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	event, err := m.Do(ctx, call)
	if err != nil {
		return nil, err
	}
	return translate.Event(event.Event), nil
}
