package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/invalid"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/account"
	"github.com/gridstand/gridstand/server/gamelog"
	"github.com/gridstand/gridstand/server/match"
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
	seed := game.NewSeed()
	created, err := newGame(request, player, seed)
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

// newGame reads what game is asked for.
func newGame(request *pb.CreateGameRequest, by account.Player, seed game.Seed) (replay.Created, error) {
	var none replay.Created
	if request.GetVariant() == "" {
		return none, missing("variant")
	}
	if r := request.GetRequestId(); r != "" && !id.Valid(r) {
		return none, invalid.Field("request_id", "must be %d characters of lower-case base32 (a–z, 2–7)", id.Length)
	}
	if request.GetTurnLimit() != nil {
		return none, invalid.Field("turn_limit", "is not offered by this server")
	}
	creator := replay.Player{ID: by.ID, Name: by.Name, Bot: by.Bot}
	for i, s := range request.GetSeats() {
		field := fmt.Sprintf("seats[%d]", i)
		switch s.GetOccupant().(type) {
		case *pb.SeatRequest_Caller:
		case *pb.SeatRequest_Open:
			return none, invalid.Field(field, "cannot be open on this server")
		case *pb.SeatRequest_Bot:
			return none, invalid.Field(field, "names a bot that cannot sit there")
		default:
			return none, invalid.Field(field, "must say who sits there")
		}
	}
	variant, ok := variants.Current(request.GetVariant())
	if !ok {
		return none, errVariantNotFound
	}
	if n := len(request.GetSeats()); n != 0 && n != variant.Seats {
		return none, invalid.Field("seats", "must be none or %d for %s", variant.Seats, variant.ID)
	}
	return replay.Created{
		Variant: variant.ID, Revision: variant.Revision, Creator: creator,
		Seats:   slices.Repeat([]replay.Seat{{Player: creator}}, variant.Seats),
		Private: request.GetPrivate(), Commitment: seed.Commitment(),
	}, nil
}

// bornWithin is how long after it was counted a game may still come to be:
// longer than any call takes.
const bornWithin = time.Minute

// reserve counts a new game among the player's open ones. A player who seems
// to have too many gets those off the count that are over or never came to be,
// as after a server died.
func (s *Service) reserve(ctx context.Context, playerID, gameID string) error {
	limit := s.Limits.OpenGamesPerPlayer
	err := s.Accounts.Reserve(ctx, playerID, gameID, limit)
	if !errors.Is(err, account.ErrTooManyGames) {
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
	id, err := gameID(request.GetGameId())
	if err != nil {
		return nil, err
	}
	g, err := s.game(ctx, id)
	if err != nil {
		return nil, err
	}
	return &pb.GetGameResponse{Game: g}, nil
}

// game is a game as it is now.
func (s *Service) game(ctx context.Context, id string) (*pb.Game, error) {
	m, err := s.Hub.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	state, err := m.Confirm(ctx)
	if err != nil {
		return nil, err
	}
	return translate.Game(state, m.Watchers()), nil
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
	seat := game.NoSeat
	if request.Seat != nil {
		if seat = int(request.GetSeat()); seat < 0 {
			return nil, invalid.Field("seat", "must not be negative")
		}
	}
	event, err := s.do(ctx, request.GetGameId(), match.Call{
		PlayerID: player.ID, Version: request.GetVersion(), Seat: seat, Action: replay.Resigned{},
	})
	if err != nil {
		return nil, err
	}
	return &pb.ResignResponse{Event: event}, nil
}

// do carries out a call on a game at the pace that its player is allowed.
func (s *Service) do(ctx context.Context, givenID string, call match.Call) (*pb.Event, error) {
	id, err := gameID(givenID)
	if err != nil {
		return nil, err
	}
	if err := s.pace(call.PlayerID); err != nil {
		return nil, err
	}
	m, err := s.Hub.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	if call.Seat >= len(m.State().Seats) {
		return nil, invalid.Field("seat", "the game has %d seats", len(m.State().Seats))
	}
	event, err := m.Do(ctx, call)
	if err != nil {
		return nil, err
	}
	return translate.Event(event.Event), nil
}

// pace refuses a player who moves faster than the limit.
func (s *Service) pace(playerID string) error {
	limit := s.Limits.MovesPerSecond
	if limit == 0 {
		return nil
	}
	fresh := rate.NewLimiter(rate.Limit(limit), limit)
	limiter, ok, _ := s.moves.PeekOrAdd(playerID, fresh)
	if !ok {
		limiter = fresh
	} else {
		s.moves.Get(playerID) // counts as used
	}
	if limiter.Allow() {
		return nil
	}
	return rateLimited(fmt.Sprintf("at most %d moves a second", limit), time.Second/time.Duration(limit),
		map[string]string{"limit": fmt.Sprint(limit)})
}
