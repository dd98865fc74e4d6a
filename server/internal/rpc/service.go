// Package rpc is the contract as gRPC handlers: it reads requests, checks
// who may, asks the rooms beneath, and puts their answers and errors into the
// contract's words. There is no game logic here and no storage.
package rpc

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/origin"
	"github.com/gridstand/gridstand/server/internal/quota"
	"github.com/gridstand/gridstand/server/limits"
)

// Planner is told about games that begin.
type Planner interface {
	// Begin notes a game that is about to be created.
	Begin(ctx context.Context, gameID string) error
	// Plan notes when the game is to be looked at next.
	Plan(ctx context.Context, state *replay.State) error
	// Admit counts a game between bots alone, which is about to be created, among
	// those that run: *limits.ExceededError if there are as many as may be.
	Admit(ctx context.Context, gameID, playerID, address string) error
	// Looked and Watched are told of games that a client of an address is shown,
	// and watches until it calls the function returned. They never wait.
	Looked(state *replay.State, address string)
	Watched(state *replay.State, address string) (left func())
}

// Meter measures what only the service sees.
type Meter interface {
	// FanOut is called, for a share of all drawn at random, with the time from
	// an event's coming to its being handed to the connection of a watcher.
	FanOut(lag time.Duration)
	// Conflated is called when a watcher got a game instead of events.
	Conflated()
	// StorageFailed is called with an error of Redis that a caller met.
	StorageFailed(err error)
}

// Config is what a Service works with. All fields are needed.
type Config struct {
	Hub         *match.Hub
	Log         *gamelog.Log
	Accounts    *account.Store
	Leaderboard *leaderboard.Boards
	Directory   *directory.Directory
	Planner     Planner
	Meter       Meter
	// Refused is called for each call that is refused because of a limit, with the
	// limit's name, or of a wrong token, and with the address it came from.
	Refused func(reason, address string)
	Logger  *slog.Logger
	// Version of the software.
	Version string
	// StoreAnswers reports whether the store answered when it was asked last.
	StoreAnswers func() bool
	// Durable says that the store outlives the server.
	Durable bool
	Limits  limits.Limits
	Quotas  *quota.Quotas
	// Proxies whose word is taken for where calls come from.
	Proxies origin.Proxies
	// HangUp ends a connection a while later, unless it is a proxy's.
	HangUp func(peer net.Addr)
	// MinTurnLimit is the shortest time for a move that can be asked for: that
	// of the contract, or less.
	MinTurnLimit time.Duration
}

// Service implements the contract's three services.
type Service struct {
	pb.UnimplementedGameServiceServer
	pb.UnimplementedLeaderboardServiceServer
	pb.UnimplementedPlayerServiceServer
	Config

	// moves bounds how fast each player moves; opens and wrong how fast each
	// address opens streams and shows wrong tokens.
	moves, opens, wrong *quota.Pacer
	// recounts bounds how often each player's open games are counted anew.
	recounts *quota.Pacer
	crowd    crowd
	reads    *readGate
	// replaying bounds the streams that are sent a game's past; nil for any number.
	replaying *semaphore.Weighted
	// damaged keeps those who ask for a damaged game again and again from
	// filling the log.
	damaged rate.Sometimes

	// admitting is held while a watcher is counted in.
	admitting sync.Mutex
}

// New makes a Service.
func New(c Config) *Service {
	l := c.Limits
	var replaying *semaphore.Weighted
	if l.ReplaysAtOnce > 0 {
		replaying = semaphore.NewWeighted(int64(l.ReplaysAtOnce))
	}
	return &Service{
		Config:    c,
		moves:     quota.NewPacer(rate.Limit(l.MovesPerSecond), l.MovesPerSecond),
		opens:     quota.NewPacer(rate.Limit(l.WatchesPerAddressPerSecond), quota.Burst*l.WatchesPerAddressPerSecond),
		wrong:     quota.NewPacer(rate.Limit(float64(l.WrongTokensPerMinute)/time.Minute.Seconds()), l.WrongTokensPerMinute),
		recounts:  quota.NewPacer(rate.Every(recountEvery), 1),
		reads:     newReadGate(&l),
		replaying: replaying,
		crowd:     crowd{limits: &l, open: map[string]*visitors{}},
		damaged:   rate.Sometimes{First: 10, Interval: time.Second},
	}
}

// Register offers the services on r.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	pb.RegisterGameServiceServer(r, s)
	pb.RegisterLeaderboardServiceServer(r, s)
	pb.RegisterPlayerServiceServer(r, s)
}

// GetServerInfo implements the contract.
func (s *Service) GetServerInfo(context.Context, *pb.GetServerInfoRequest) (*pb.GetServerInfoResponse, error) {
	storage := pb.Storage_STORAGE_EMBEDDED
	if s.Durable {
		storage = pb.Storage_STORAGE_DURABLE
	}
	told := &pb.Limits{MinTurnLimit: durationpb.New(s.MinTurnLimit)}
	message := told.ProtoReflect()
	for _, limit := range limits.Table {
		field := message.Descriptor().Fields().ByName(protoreflect.Name(limit.Field))
		message.Set(field, protoreflect.ValueOfInt32(int32(*limit.Of(&s.Limits))))
	}
	return &pb.GetServerInfoResponse{Name: "gridstand", Version: s.Version, Storage: storage, Limits: told}, nil
}
