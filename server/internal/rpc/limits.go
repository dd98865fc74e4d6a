package rpc

import (
	"cmp"
	"context"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/page"
)

// Charge counts reads by the client of an HTTP request. If they exceed its limit, Charge returns the
// status that a call would get.
func (s *Service) Charge(ctx context.Context, reads int) error {
	if err := front.BudgetOf(ctx).Check(reads); err != nil {
		return s.toStatus(ctx, "", err)
	}
	return nil
}

// EnterCall waits until another call of the client of an HTTP request may run, see front.EnterCall.
// If that takes too long, it returns the status that a call would get.
func (s *Service) EnterCall(ctx context.Context) error {
	if err := front.EnterCall(ctx, front.Reading); err != nil {
		return s.toStatus(ctx, "", err)
	}
	return nil
}

// takeGames counts new games toward the limits of the player and of the caller's address, and new public
// challenges toward that of the address. If they would exceed a limit, it counts nothing.
func (s *Service) takeGames(ctx context.Context, playerID string, games, challenges int) error {
	address := front.AddressOf(ctx)
	if err := s.games.take(playerID, games); err != nil {
		return err
	}
	if err := s.gamesFrom.take(address, games); err != nil {
		_ = s.games.take(playerID, -games)
		return err
	}
	if err := s.challengesFrom.take(address, challenges); err != nil {
		_ = s.games.take(playerID, -games)
		_ = s.gamesFrom.take(address, -games)
		return err
	}
	s.Demand.Creates(playerID, address)
	return nil
}

// takesGame returns a function that counts the player's next game with takeGames, and the given number of new
// public challenges. It may be called again if another call changes the race that the player enters, and counts
// the game only once. It returns an error if the caller has left, who may have left the race in another call since.
func (s *Service) takesGame(ctx context.Context, playerID string) func(challenges int) error {
	games := 1
	return func(challenges int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := s.takeGames(ctx, playerID, games, challenges)
		if err == nil {
			games = 0
		}
		return err
	}
}

// limitPlayer counts a unary call that needs a token toward the move rate limit of the player who makes it. It
// returns an error if the call has none or exceeds the limit.
func (s *Service) limitPlayer(ctx context.Context, may callers) error {
	if may.anyone {
		return nil
	}
	playerID := caller(ctx).ID
	if playerID == "" {
		return errNoToken
	}
	front.Paid(ctx)
	return s.moves.take(playerID, 1)
}

// signatureCost is the number of reads that a signature verification counts as.
// Verification takes up to 3 ms for the slowest type of key, P-521.
const signatureCost = 50

// rowsPerRead is the number of rows of a list that count as one read.
const rowsPerRead = 25

// readCost returns the number of reads of the store that a request counts as: signatureCost for a new key,
// otherwise one for each rowsPerRead entries that it requests, and at least 1.
func readCost(request any) int {
	if _, ok := request.(*pb.AddKeyRequest); ok {
		return signatureCost
	}
	entries := 0
	if r, ok := request.(interface{ GetNeighbors() int32 }); ok {
		entries = 2 * int(min(r.GetNeighbors(), page.MaxSize))
	}
	if r, ok := request.(interface{ GetPageSize() int32 }); ok && (r.GetPageSize() != 0 || entries <= 0) {
		entries = max(entries, cmp.Or(int(r.GetPageSize()), page.DefaultSize))
	}
	entries = min(max(entries, 0), page.MaxSize)
	return max(1, (entries+rowsPerRead-1)/rowsPerRead)
}

// chargeCall charges the caller's address for the reads of a call, of which the front has charged one, and waits
// until it may run beside the address's other calls.
func chargeCall(ctx context.Context, called method, request any) error {
	if err := front.BudgetOf(ctx).Check(readCost(request) - 1); err != nil {
		return err
	}
	slots := int64(front.Changing)
	if called.reads {
		slots = front.Reading
	}
	return front.EnterCall(ctx, slots)
}

// skipCost returns the number of reads that the next look-up for a list counts as if the given number of
// games did not belong to the list. Looking up a game takes 10 to 15 µs of processor time.
func skipCost(games int) int { return (games + 9) / 10 }
