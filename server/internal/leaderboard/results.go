package leaderboard

import "github.com/gridstand/gridstand/game/replay"

// ResultsOf returns the results of the seats that count, or nil if the game is not over. It
// returns nil for a race, because the standings of races are computed from the games
// themselves.
func ResultsOf(final *replay.State) []Result {
	var list []Result
	if final.Attempt.Kind == replay.Race {
		return nil
	}
	scores := final.Position.Scores()
	for i, seat := range final.Seats {
		if final.Scored(i) {
			list = append(list, Result{
				Variant: final.Variant.ID, PlayerID: seat.Player.ID, GameID: final.ID,
				Score: scores[i], Time: final.UpdateTime, ChallengeID: final.Attempt.ChallengeID,
			})
		}
	}
	return list
}
