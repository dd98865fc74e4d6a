package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// CreatePlayer implements pb.PlayerServiceServer.
func (s *Service) CreatePlayer(ctx context.Context, request *pb.CreatePlayerRequest) (*pb.CreatePlayerResponse, error) {
	if err := s.playersFrom.take(front.AddressOf(ctx), 1); err != nil {
		return nil, err
	}
	p, token, err := s.createPlayer(ctx, request)
	return &pb.CreatePlayerResponse{Player: fullPlayer(p), Token: token}, nameRefused(err, request.GetName())
}

// createPlayer creates an account and returns its token. If the call is from an SSH host,
// it links the account to the player's SSH key and returns no token.
func (s *Service) createPlayer(ctx context.Context, request *pb.CreatePlayerRequest) (account.Player, string, error) {
	key := identityOf(ctx).key
	if key == "" {
		return s.Accounts.Create(ctx, request.GetName(), request.GetSecret(), request.GetBot())
	}
	if request.GetSecret() != "" {
		return account.Player{}, "", invalid.Field("secret", "must be empty in a call from an SSH host, which gets no token")
	}
	p, err := s.Keys.Create(ctx, request.GetName(), key, request.GetBot())
	return p, "", err
}

// nameRefused returns the error for a name that is taken or reserved, or err if it is another error or nil.
func nameRefused(err error, name string) error {
	f := &failure{code: codes.AlreadyExists, reason: pb.ReasonNameTaken, metadata: map[string]string{"name": name}}
	switch {
	case errors.Is(err, account.ErrNameTaken):
		f.message = fmt.Sprintf("the name %q, or one that looks like it, is already taken", name)
	case errors.Is(err, account.ErrNameReserved):
		f.message = fmt.Sprintf("the name %q is reserved; choose another", name)
	default:
		return err
	}
	return f
}

// GetPlayer implements pb.PlayerServiceServer.
func (s *Service) GetPlayer(ctx context.Context, request *pb.GetPlayerRequest) (*pb.GetPlayerResponse, error) {
	p, err := s.player(ctx, request)
	return &pb.GetPlayerResponse{Player: fullPlayer(p)}, err
}

// player returns the player with the name or ID in the request. Players whom an operator has hidden are
// found only by themselves.
func (s *Service) player(ctx context.Context, request *pb.GetPlayerRequest) (p account.Player, err error) {
	switch name, id := request.GetName(), request.GetPlayerId(); {
	case name != "" && id != "":
		return p, invalid.Field("name", "cannot be combined with player_id")
	case name != "":
		p, err = s.Accounts.FindByName(ctx, name)
	case id == "":
		return p, invalid.Field("player_id", "must be set if and only if name is not")
	default:
		if id, err = playerID(ctx, id); err == nil {
			p, err = s.Accounts.Get(ctx, id)
		}
	}
	if err == nil && p.ID != caller(ctx).ID {
		var hidden map[string]bool
		if hidden, err = s.Leaderboard.Hidden(ctx, p.ID); hidden[p.ID] {
			err = account.ErrNotFound
		}
	}
	if errors.Is(err, account.ErrNotFound) && request.GetName() != "" {
		err = errNameNotFound
	}
	return p, err
}

// Rename implements pb.PlayerServiceServer.
func (s *Service) Rename(ctx context.Context, request *pb.RenameRequest) (*pb.RenameResponse, error) {
	p, err := s.Accounts.Rename(ctx, caller(ctx).ID, request.GetName())
	if recent, ok := errors.AsType[*account.RenamedRecentlyError](err); ok {
		f := precondition(pb.ReasonRenamedRecently, recent.Error())
		f.metadata = map[string]string{"until": recent.Until.Format(time.RFC3339)}
		return nil, f
	}
	return &pb.RenameResponse{Player: fullPlayer(p)}, nameRefused(err, request.GetName())
}

// RotateToken implements pb.PlayerServiceServer.
func (s *Service) RotateToken(ctx context.Context, request *pb.RotateTokenRequest) (*pb.RotateTokenResponse, error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	token, err := s.Accounts.Rotate(ctx, identityOf(ctx).token, request.GetSecret())
	if err == nil { // A thief of the old token may have opened sessions.
		err = s.Sessions.EndAll(ctx, caller(ctx).ID)
	}
	return &pb.RotateTokenResponse{Token: token}, err
}

// fullPlayer returns the message for a player, including the fields that only
// PlayerService returns.
func fullPlayer(p account.Player) *pb.Player {
	m := translate.Player(p.Player)
	m.CreateTime = timestamppb.New(p.Created)
	return m
}
