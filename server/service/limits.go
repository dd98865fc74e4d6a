package service

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/account"
)

// Limits are what a server allows; 0 stands for no limit.
type Limits struct {
	MessageBytes         int
	StreamsPerConnection int
	MovesPerSecond       int
	OpenGamesPerPlayer   int
	WatchersPerGame      int
	// Of one address. Those of a minute are counted over all servers, the
	// others on this one.
	ConnectionsPerAddress int
	ConnectionsPerSecond  int
	WatchesPerAddress     int
	WatchesPerSecond      int
	WrongTokensPerMinute  int
	NewPlayersPerMinute   int
	GamesPerAddress       int // new ones in a minute
	// NewGamesPerMinute are of one player, over all servers.
	NewGamesPerMinute int
}

// crowd counts the watch streams of each address.
type crowd struct {
	mu   sync.Mutex
	open map[string]int // those that have any
}

// enter counts a stream, unless the address has as many as it may.
func (c *crowd) enter(address string, limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if limit > 0 && c.open[address] >= limit {
		return false
	}
	c.open[address]++
	return true
}

func (c *crowd) leave(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[address]--; c.open[address] == 0 {
		delete(c.open, address)
	}
}

// opensRetry is after what time an address that opens streams too fast has room
// for a second's worth.
const opensRetry = time.Second

// fullRetry is after what time somebody may come again who has as much open as
// allowed.
const fullRetry = 5 * time.Second

// address is from where a call comes.
func (s *Service) address(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	return s.Proxies.Of(p.Addr, metadata.ValueFromIncomingContext(ctx, "x-forwarded-for"))
}

func tooMany(what string, limit int, retry time.Duration) *failure {
	return rateLimited("at most "+strconv.Itoa(limit)+" "+what, retry, map[string]string{"limit": strconv.Itoa(limit)})
}

// quota takes one from what somebody may do in a minute, on all servers.
func (s *Service) quota(ctx context.Context, what, who string, limit int, text string) error {
	wait, err := s.Quotas.Take(ctx, what, who, limit)
	if err == nil && wait > 0 {
		return tooMany(text, limit, wait)
	}
	return err
}

// pace refuses a player who moves faster than the limit.
func (s *Service) pace(playerID string) error {
	if s.moves.Take(playerID) {
		return nil
	}
	return tooMany("moves a second", s.Limits.MovesPerSecond, s.moves.Wait())
}

// watching counts a watch stream of an address, until leave is called.
func (s *Service) watching(ctx context.Context) (leave func(), err error) {
	address := s.address(ctx)
	if !s.opens.Take(address) {
		return nil, tooMany("streams of one address opened in a second", s.Limits.WatchesPerSecond, opensRetry)
	}
	if !s.crowd.enter(address, s.Limits.WatchesPerAddress) {
		return nil, tooMany("streams of one address at once", s.Limits.WatchesPerAddress, fullRetry)
	}
	return func() { s.crowd.leave(address) }, nil
}

// verify is Accounts.Verify for tokens of which an address has not shown too
// many wrong ones: each costs a look into the store.
func (s *Service) verify(ctx context.Context, token string) (account.Player, error) {
	if player, ok := s.Accounts.Verified(token); ok {
		return player, nil
	}
	address := ""
	if s.Limits.WrongTokensPerMinute > 0 {
		if address = s.address(ctx); s.wrong.Spent(address) {
			return account.Player{}, tooMany("wrong tokens a minute", s.Limits.WrongTokensPerMinute, s.wrong.Wait())
		}
	}
	player, err := s.Accounts.Verify(ctx, token)
	if errors.Is(err, account.ErrBadToken) {
		s.wrong.Take(address)
	}
	return player, err
}
