package leaderboard

import "github.com/gridstand/gridstand/game/replay"

// ResultsOf returns the results of a game's seats that count; none while the game
// is not over.
func ResultsOf(final *replay.State) []Result {
	var list []Result
	scores := final.Position.Scores()
	for i, seat := range final.Seats {
		if final.Scored(i) {
			list = append(list, Result{
				Variant: final.Variant.ID, PlayerID: seat.Player.ID, GameID: final.ID,
				Score: scores[i], Time: final.UpdateTime,
			})
		}
	}
	return list
}
