package lobby

import (
	"slices"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// dailyTime is the interval between requests for the daily game.
const dailyTime = 15 * time.Second

// dailyRoute plays the daily game, or shows its standings to a user who cannot play.
func (p *page) dailyRoute() ui.Route {
	c := p.daily.GetChallenge()
	if p.env.WatchOnly != "" {
		return ui.Route{Challenge: c.GetId()}
	}
	return ui.Route{Daily: &pb.DailyRequest{Variant: c.GetVariant()}}
}

// dailyMin is the width from which the line about the daily game says what its time is.
const dailyMin = 60

// dailyLine returns the line about the daily game, or "" if the server has no daily game.
func (p *page) dailyLine(width int) string {
	t, c := p.env.Theme, p.daily.GetChallenge()
	if c == nil {
		return ""
	}
	what, text := "play", "the same tiles for everyone" // what the key d does, and the state of the user's attempt
	switch a := p.daily.GetAttempt(); {
	case p.env.WatchOnly != "":
		what, text = "ranking", ""
	case a == nil:
	case a.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED:
		what, text = "result", describe.Plural(a.GetScore(), "point")
	default:
		what, text = "continue", describe.Plural(a.GetScore(), "point")+" so far"
	}
	title := t.Accent().Bold(true).Render(gamestate.Title(c)) + "   " + ui.Choice(t, "d", what)
	facts := []string{"", t.Bold().Render(text)} // The first is empty, since there need not be room for any.
	left := c.GetCloseTime().AsTime().Sub(p.env.Now)
	switch clock := gamestate.Clock(left); {
	case left <= 0:
	case width >= dailyMin:
		facts = append(facts, t.Dim().Render("next in "+clock))
	case lipgloss.Width(title+clock)+4 <= width: // with the margins and a gap
		facts = []string{t.Dim().Render(clock)}
	}
	return " " + ui.Header(width-2, []string{title}, facts) + " "
}

// raceGame represents a race as a row in the list of live games: a game that is waiting for
// players or in progress. Its id is the id of the race, its turn limit is the race's time
// limit, and its score, moves and last event are those of the best, longest and latest attempts in live.
func raceGame(c *pb.Challenge, live []*pb.Game) *pb.Game {
	g := &pb.Game{
		Id: c.GetId(), ChallengeId: c.GetId(), Variant: c.GetVariant(), Status: pb.GameStatus_GAME_STATUS_WAITING,
		TurnLimit: c.GetLimit(), CreateTime: c.GetCreateTime(), UpdateTime: c.GetCreateTime(),
	}
	for _, e := range c.GetEntrants()[:min(len(c.GetEntrants()), gamestate.MaxEntrants)] {
		seat := &pb.Seat{Occupant: &pb.Seat_Player{Player: e.GetPlayer()}}
		if e.GetBot() != "" {
			seat.Occupant = &pb.Seat_Bot{Bot: e.GetBot()}
		}
		g.Seats = append(g.Seats, seat)
	}
	if c.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_WAITING {
		g.Status, g.UpdateTime = pb.GameStatus_GAME_STATUS_ACTIVE, c.GetOpenTime()
		for _, a := range live {
			if a.GetChallengeId() != c.GetId() {
				continue
			}
			if a.GetUpdateTime().AsTime().After(g.GetUpdateTime().AsTime()) {
				g.UpdateTime = a.GetUpdateTime()
			}
			g.Position = &pb.Position{
				Scores:    []int32{max(gamestate.HighestScore(g), gamestate.HighestScore(a))},
				MoveCount: max(g.GetPosition().GetMoveCount(), a.GetPosition().GetMoveCount()),
			}
		}
		return g
	}
	for len(g.Seats) < gamestate.MaxEntrants {
		g.Seats = append(g.Seats, &pb.Seat{Occupant: &pb.Seat_Open{Open: &pb.Open{}}})
	}
	return g
}

// races returns rows for the races that are not over. live contains their attempts.
func races(all []*pb.Challenge, live []*pb.Game) []*pb.Game {
	var rows []*pb.Game
	for _, c := range all {
		if c.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED {
			rows = append(rows, raceGame(c, live))
		}
	}
	return rows
}

// isRace reports whether a row is a race.
func isRace(g *pb.Game) bool { return g.GetChallengeId() != "" && g.GetChallengeId() == g.GetId() }

// withoutAttempts returns games without the attempts at the given races.
func withoutAttempts(games, races []*pb.Game) []*pb.Game {
	return slices.DeleteFunc(slices.Clone(games), func(g *pb.Game) bool {
		return g.GetChallengeId() != "" && slices.ContainsFunc(races, func(r *pb.Game) bool { return r.GetId() == g.GetChallengeId() })
	})
}

// raceFacts returns the preview's lines about a race, each width columns wide.
func raceFacts(t ui.Theme, g *pb.Game, width int) []string {
	title := "Race of " + describe.Limit(g.GetTurnLimit().AsDuration())
	if full := title + " on the same tiles"; lipgloss.Width(full) <= width {
		title = full
	}
	lines := []string{t.Bold().Render(ui.Cell(title, width))}
	for _, seat := range gamestate.Taken(g) {
		lines = append(lines, ui.Cell("  "+gamestate.SeatName(seat), width))
	}
	if n := gamestate.OpenSeats(g); n > 0 {
		lines = append(lines, t.Dim().Render(ui.Cell("  "+describe.Plural(n, "place")+" left", width)))
	}
	return lines
}
