// Package rpc implements the contract as gRPC handlers. It validates requests, checks
// permissions, calls the lower packages, and translates their results and errors into
// those of the contract. It has no game logic and no storage.
package rpc

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/metrics"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/profile"
	"github.com/gridstand/gridstand/server/limits"
)

// Demand learns which games clients create and look for, and which races they start.
type Demand interface {
	// Creates records the address from which a player creates a game. It does not block.
	Creates(playerID, address string)
	// Listed records that a client read a list of live games. moving is the number of
	// games in motion in the store. Listed does not block.
	Listed(moving int)
	// Opens schedules the attempts at a race that has been started.
	Opens(ctx context.Context, gameIDs ...string) error
}

// Config configures a Service. All fields except WebURL are required.
type Config struct {
	Hub         *match.Hub
	Log         *gamelog.Log
	Accounts    *account.Store
	Keys        *account.Keys
	Sessions    *account.Sessions
	Credentials *account.Credentials
	Leaderboard *leaderboard.Boards
	Directory   *directory.Directory
	Challenges  *challenge.Challenges
	Profiles    *profile.Profiles
	// Tokens seals the page tokens of challenges and standings.
	Tokens  *page.Tokens
	Demand  Demand
	Metrics *metrics.Metrics
	// Refused is called for each call that is refused because of a limit, a wrong token or
	// a wrong credential. reason is the limit's name, wrongToken or wrongCredential;
	// address is the caller's.
	Refused func(reason, address string)
	Logger  *slog.Logger
	// Version is the server's software version.
	Version string
	// WebURL is the URL of the web pages for links to share with others, or empty if it is
	// not configured.
	WebURL string
	// Durable is set if the store's data survives a restart of the server.
	Durable bool
	Limits  limits.Limits
	// MinTurnLimit is the shortest turn limit that games may have. It is at most five
	// seconds, because the contract guarantees that every server allows that turn limit.
	MinTurnLimit time.Duration
	// Reactions lets watchers react to games.
	Reactions bool
}

// Service implements the contract's four services.
type Service struct {
	pb.UnimplementedChallengeServiceServer
	pb.UnimplementedGameServiceServer
	pb.UnimplementedLeaderboardServiceServer
	pb.UnimplementedPlayerServiceServer
	Config

	// moves limits the rate of each player's moves, and wrong the rate at which each address sends
	// wrong tokens.
	moves, wrong *pacer
	// games limits how often each player creates a game, and gamesFrom, challengesFrom and playersFrom
	// how often each address creates a game, a public challenge and an account.
	games, gamesFrom, challengesFrom, playersFrom *pacer
	// reactions limits how often each player reacts to a game.
	reactions *pacer
	// acting limits how often the server logs that an SSH host acts for the player with a
	// given key.
	acting *pacer
	// damaged and tooNew limit log messages about calls on damaged games and on games that
	// need a newer server, and notStarted those about races that do not start, so that repeated calls do not
	// flood the log.
	damaged, tooNew, notStarted rate.Sometimes

	// pages keeps pages of public lists.
	pages directory.Shared[ranked]
	live  liveChallenges
	// fanouts maps each match to its newest *fanout, which new views join while it has room. sharing has the
	// goroutines of all fanouts.
	fanouts sync.Map
	sharing sync.WaitGroup
}

// New returns a Service with the given configuration.
func New(c Config) *Service {
	s := &Service{
		Config:     c,
		acting:     newPacer(&limits.ExceededError{Value: 1}, actingEvery),
		damaged:    rate.Sometimes{First: 10, Interval: time.Second},
		tooNew:     rate.Sometimes{First: 10, Interval: time.Second},
		notStarted: rate.Sometimes{Interval: time.Minute},
		live:       liveChallenges{all: map[string]*liveChallenge{}, watched: map[string]int{}},
	}
	l := &s.Limits
	s.moves = newPacer(l.Exceeded(limits.MovesPerSecond, "moves a second", 0), time.Second)
	s.reactions = newPacer(l.Exceeded(limits.ReactionsPerSecond, "reaction a second", 0), time.Second)
	s.wrong = newPacer(l.Exceeded(limits.WrongTokensPerMinute, "wrong tokens a minute", 0), time.Minute)
	s.games = newPacer(l.Exceeded(limits.NewGamesPerMinute, "new games a minute", 0), time.Minute)
	s.gamesFrom = newPacer(l.Exceeded(limits.NewGamesPerAddressPerMinute, "new games from one address a minute", 0), time.Minute)
	s.challengesFrom = newPacer(l.Exceeded(limits.NewChallengesPerAddressPerMinute, "new public challenges from one address a minute", 0), time.Minute)
	s.playersFrom = newPacer(l.Exceeded(limits.NewPlayersPerMinute, "new players from one address a minute", 0), time.Minute)
	return s
}

// Register registers the services with r.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	pb.RegisterGameServiceServer(r, s)
	pb.RegisterLeaderboardServiceServer(r, s)
	pb.RegisterPlayerServiceServer(r, s)
	pb.RegisterChallengeServiceServer(r, s)
}

// GetServerInfo implements pb.GameServiceServer.
func (s *Service) GetServerInfo(context.Context, *pb.GetServerInfoRequest) (*pb.GetServerInfoResponse, error) {
	storage := pb.Storage_STORAGE_EMBEDDED
	if s.Durable {
		storage = pb.Storage_STORAGE_DURABLE
	}
	clientLimits := &pb.Limits{MinTurnLimit: durationpb.New(s.MinTurnLimit)}
	message := clientLimits.ProtoReflect()
	for i, limit := range limits.Table {
		field := message.Descriptor().Fields().ByName(protoreflect.Name(limit.Field))
		message.Set(field, protoreflect.ValueOfInt32(int32(s.Limits[i])))
	}
	return &pb.GetServerInfoResponse{
		Name: "gridstand", Version: s.Version, Storage: storage, Limits: clientLimits,
		WebUrl: s.WebURL, Reactions: s.Reactions,
	}, nil
}
