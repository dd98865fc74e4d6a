// Package rpc implements the contract as gRPC handlers: it checks requests and
// permissions, calls the packages below, and translates their results and errors into
// the contract's. It has no game logic and no storage.
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
	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

// Planner schedules what games need later, from when they begin.
type Planner interface {
	// Begin notes a game that is about to be created.
	Begin(ctx context.Context, gameID string) error
	// Plan notes when the game needs its next action.
	Plan(ctx context.Context, state *replay.State) error
	// Admit counts a game that only bots play, which is about to be created, as one
	// that runs. The error is *limits.ExceededError if too many run.
	Admit(ctx context.Context, gameID, playerID, address string) error
	// Looked and Watched note that a client of an address reads a game, and watches it
	// until it calls left. They never wait.
	Looked(state *replay.State, address string)
	Watched(state *replay.State, address string) (left func())
	// Listed notes that a client reads a list of live games, of which moving are played
	// on the whole store. It never waits.
	Listed(games []*replay.State, moving int)
}

// Meter measures what only the service sees.
type Meter interface {
	// FanOut is called for a random sample of deliveries, with the time from an
	// event's arrival to its being handed to a watcher's connection.
	FanOut(lag time.Duration)
	// Conflated is called when a watcher got a game instead of events.
	Conflated()
	// StorageFailed is called with an error of the store that failed a call.
	StorageFailed(err error)
	// HostCalled is called for each call of the SSH host whose credential has the name.
	HostCalled(name string)
}

// Config configures a Service. All fields are required.
type Config struct {
	Hub         *match.Hub
	Log         *gamelog.Log
	Accounts    *account.Store
	Keys        *account.Keys
	Credentials *account.Credentials
	Leaderboard *leaderboard.Boards
	Directory   *directory.Directory
	Planner     Planner
	Meter       Meter
	// Refused is called for each call that is refused because of a limit or a wrong
	// token or credential, with the limit's name, wrongToken or wrongCredential, and the
	// caller's address.
	Refused func(reason, address string)
	Logger  *slog.Logger
	// Version of the software.
	Version string
	// StoreAnswers reports whether the store answered the last ping.
	StoreAnswers func() bool
	// Durable says that the store outlives the server.
	Durable bool
	Limits  limits.Limits
	Quotas  store.Quotas
	// Proxies are trusted to name the address of a call.
	Proxies ratelimit.Proxies
	// HangUp closes a connection after some time, unless it is a proxy's.
	HangUp func(peer net.Addr, after time.Duration)
	// MinTurnLimit is the shortest turn limit that a game may have: that of the
	// contract, or less.
	MinTurnLimit time.Duration
}

// Service implements the contract's three services.
type Service struct {
	pb.UnimplementedGameServiceServer
	pb.UnimplementedLeaderboardServiceServer
	pb.UnimplementedPlayerServiceServer
	Config

	// moves bounds the rate of each player's moves; opens and wrong the rates at which
	// each address opens streams and sends wrong tokens.
	moves, opens, wrong *ratelimit.Pacer
	// recounts bounds how often each player's open games are counted again.
	recounts *ratelimit.Pacer
	// acting bounds how often the log says that an SSH host acts for the player of a key.
	acting *ratelimit.Pacer
	// addressStreams counts the watch streams of each address. The slots of each are
	// for streams that read a game's past.
	addressStreams *ratelimit.Addresses[*semaphore.Weighted]
	reads          *readGate
	// replaying has the slots for streams that are sent a game's past; nil for any
	// number.
	replaying *semaphore.Weighted
	// damaged keeps repeated calls for a damaged game from filling the log.
	damaged rate.Sometimes

	fanouts fanouts

	// admitting is held while a watcher is counted.
	admitting sync.Mutex
}

// New makes a Service.
func New(c Config) *Service {
	l := c.Limits
	s := &Service{
		Config:    c,
		moves:     ratelimit.NewPacer(rate.Limit(l.MovesPerSecond), l.MovesPerSecond),
		opens:     ratelimit.PerSecond(l.WatchesPerAddressPerSecond),
		wrong:     ratelimit.NewPacer(rate.Limit(float64(l.WrongTokensPerMinute)/time.Minute.Seconds()), l.WrongTokensPerMinute),
		recounts:  ratelimit.NewPacer(rate.Every(recountEvery), 1),
		acting:    ratelimit.NewPacer(rate.Every(actingEvery), 1),
		reads:     newReadGate(&l),
		replaying: newSlots(l.ReplaysAtOnce, l.ReplaysAtOnce),
		damaged:   rate.Sometimes{First: 10, Interval: time.Second},
	}
	s.addressStreams = ratelimit.NewAddresses(func(string) *semaphore.Weighted {
		return newSlots(l.WatchesPerAddress, s.replaysPerAddress())
	})
	return s
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
