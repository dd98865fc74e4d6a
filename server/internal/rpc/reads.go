package rpc

import (
	"context"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/page"
)

// signatureCost is the number of reads that a signature verification counts as.
// Verification takes up to 3 ms for the slowest type of key, P-521.
const signatureCost = 50

// rowsPerRead is the number of rows of a list that count as one read.
const rowsPerRead = 25

// readCost returns the number of reads that a request counts as: 0 for a move;
// signatureCost for a new key; otherwise one for each rowsPerRead entries that it requests, and at
// least 1. needsStore reports whether the call reads the
// store.
func readCost(request any) (cost int, needsStore bool) {
	entries := 0
	switch r := request.(type) {
	case *pb.MoveRequest, *pb.UndoRequest, *pb.ResignRequest:
		return 0, false
	case *pb.ListVariantsRequest, *pb.GetServerInfoRequest:
		return 1, false
	case *pb.AddKeyRequest:
		return signatureCost, true
	case *pb.ListGamesRequest:
		entries = int(r.GetPageSize())
	case *pb.ListScoresRequest:
		entries = int(r.GetPageSize())
	case *pb.ListChallengesRequest:
		entries = int(r.GetPageSize())
	case *pb.ListStandingsRequest:
		entries = max(int(r.GetPageSize()), 2*int(min(r.GetNeighbors(), page.MaxSize)))
	case *pb.GetRankRequest:
		entries = 2 * int(min(r.GetNeighbors(), page.MaxSize))
	}
	entries = min(max(entries, 0), page.MaxSize)
	return max(1, (entries+rowsPerRead-1)/rowsPerRead), true
}

// read admits a call that is not a move, of which the front has charged one read.
func (s *Service) read(ctx context.Context, request any) error {
	cost, needsStore := readCost(request)
	if !needsStore {
		return nil
	}
	address := s.Address(ctx)
	if err := s.Budgets.Check(address, cost-1); err != nil {
		return err
	}
	return s.Budgets.EnterCall(ctx, address)
}

// skipCost returns the number of reads that a look-up for a list counts as, in addition to one, if the
// given number of games did not belong to the list. Looking up a game takes 10 to 15 µs of processor
// time.
func skipCost(games int) int { return (games + 9) / 10 }
