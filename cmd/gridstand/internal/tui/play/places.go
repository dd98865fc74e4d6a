package play

import (
	"fmt"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// places holds the player's places on the variant's daily and all-time leaderboards. Both
// are nil until known.
type places struct{ day, all *ui.Place }

// have reports whether the leaderboards already contain the result of a finished game, or
// will never contain it.
func (p places) have(g *gamestate.State, score int32) bool {
	has := func(at *ui.Place) bool { return at.GetGameId() == g.Game.GetId() || at.GetScore() >= score }
	return !g.Ranked() || score == 0 || has(p.day) && has(p.all)
}

// best returns the player's all-time best score, including this game if it is ranked.
func (p places) best(s *gamestate.State, seat int) string {
	var best int32
	if p.all != nil {
		best = p.all.GetScore()
	}
	if s.Game.GetRanked() {
		best = max(best, s.ScoreOf(seat))
	}
	if best == 0 {
		return "–"
	}
	return describe.Comma(best)
}

// beginner reports whether the game has just begun, and is the first one of a player without a score on the leaderboard.
func (p *page) beginner() bool {
	newcomer := p.places.all != nil && p.places.all.GetRank() == 0
	begins := p.Moves() < 2*int32(len(p.Game.GetSeats()))
	return newcomer && begins && p.Game.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE
}

// stands describes the player's rank after a game. If another game determines the rank, the
// description includes that game's score.
func stands(at *ui.Place, window, gameID string) string {
	text := placeText(at, window)
	if at != nil && at.GetRank() > 0 && at.GetGameId() != gameID {
		text += " (best " + describe.Comma(at.GetScore()) + ")"
	}
	return text
}

// placeText describes the player's rank on the leaderboard of a period.
func placeText(p *ui.Place, window string) string {
	switch {
	case p == nil:
		return "… " + window
	case p.GetRank() == 0 && p.Total == 0:
		return "no scores " + window
	case p.GetRank() == 0:
		return "– of " + describe.Comma(p.Total) + " " + window
	default:
		return fmt.Sprintf("#%s of %s %s", describe.Comma(p.GetRank()), describe.Comma(p.Total), window)
	}
}
