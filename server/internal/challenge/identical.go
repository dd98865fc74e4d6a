package challenge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"

	"github.com/gridstand/gridstand/server/internal/leaderboard"
)

// comparedMoves is the number of moves that Identical compares.
const comparedMoves = 100

// Identical returns groups of at least two games in a challenge's standings that begin with the
// same 100 moves. Games with fewer moves are ignored.
func (s *Challenges) Identical(ctx context.Context, boards *leaderboard.Boards, challengeID string) ([][]string, error) {
	c, _, err := s.Read(ctx, challengeID)
	if err != nil {
		return nil, err
	}
	groups := map[[sha256.Size]byte][]string{}
	err = boards.Games(ctx, leaderboard.Board{Variant: c.Variant, ChallengeID: c.ID}, func(gameIDs []string) error {
		for _, gameID := range gameIDs {
			records, err := s.Log.Entries(ctx, gameID, 2, comparedMoves)
			if err != nil {
				return err
			}
			if len(records) < comparedMoves {
				continue
			}
			moves := sha256.New()
			for _, r := range records {
				moves.Write(r.Raw) // Hash the encoded moves, because equal moves have equal encodings.
			}
			first := [sha256.Size]byte(moves.Sum(nil))
			if !slices.Contains(groups[first], gameID) { // Games may visit a game twice.
				groups[first] = append(groups[first], gameID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var found [][]string
	for _, games := range groups {
		if len(games) > 1 {
			found = append(found, slices.Sorted(slices.Values(games)))
		}
	}
	slices.SortFunc(found, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return found, nil
}
