package lobby

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/contest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// raceGame represents a race as a row in the list of live games: a game that is waiting for
// players or in progress. Its id is the id of the race, and its turn limit is the race's
// time limit.
func raceGame(c *pb.Challenge) *pb.Game {
	g := &pb.Game{
		Id: c.GetId(), ChallengeId: c.GetId(), Variant: c.GetVariant(), Status: pb.GameStatus_GAME_STATUS_WAITING,
		TurnLimit: c.GetLimit(), CreateTime: c.GetCreateTime(), UpdateTime: c.GetCreateTime(),
	}
	for _, e := range c.GetEntrants()[:min(len(c.GetEntrants()), contest.MaxEntrants)] {
		seat := &pb.Seat{Occupant: &pb.Seat_Player{Player: e.GetPlayer()}}
		if e.GetBot() != "" {
			seat.Occupant = &pb.Seat_Bot{Bot: e.GetBot()}
		}
		g.Seats = append(g.Seats, seat)
	}
	if c.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_WAITING {
		g.Status, g.UpdateTime = pb.GameStatus_GAME_STATUS_ACTIVE, c.GetOpenTime()
		return g
	}
	for len(g.Seats) < contest.MaxEntrants {
		g.Seats = append(g.Seats, &pb.Seat{Occupant: &pb.Seat_Open{Open: &pb.Open{}}})
	}
	return g
}

// races returns rows for the races that are not over.
func races(all []*pb.Challenge) []*pb.Game {
	var rows []*pb.Game
	for _, c := range all {
		if c.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED {
			rows = append(rows, raceGame(c))
		}
	}
	return rows
}

// isRace reports whether a row is a race.
func isRace(g *pb.Game) bool { return g.GetChallengeId() != "" && g.GetChallengeId() == g.GetId() }

// withoutAttempts returns games without the attempts at the given races.
func withoutAttempts(games, races []*pb.Game) []*pb.Game {
	return slices.DeleteFunc(games, func(g *pb.Game) bool {
		return g.GetChallengeId() != "" && slices.ContainsFunc(races, func(r *pb.Game) bool { return r.GetId() == g.GetChallengeId() })
	})
}

// opensRace returns the description of Enter on a race and the route that it opens.
func (p *page) opensRace(g *pb.Game) (what string, r ui.Route) {
	switch {
	case p.env.Guest == "" && p.env.Seated(g):
		return "open", ui.Route{Enter: g.GetId()}
	case p.env.Guest == "" && g.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING:
		return "join", ui.Route{Enter: g.GetId()}
	default:
		return "watch", ui.Route{Challenge: g.GetId()}
	}
}

// joins returns the command that joins g, a game or race that is waiting for players.
func (p *page) joins(g *pb.Game) tea.Cmd {
	if isRace(g) {
		return p.open(ui.Route{Enter: g.GetId()})
	}
	return p.open(ui.Route{Join: g.GetId()})
}

// raceName returns the name of a race in a list: its time limit and its players.
func raceName(g *pb.Game) string { return raceTime(g) + " race: " + players(g) }

func raceTime(g *pb.Game) string { return describe.Limit(g.GetTurnLimit().AsDuration()) }

// raceFacts returns the preview's lines about a race, each width columns wide.
func (p *page) raceFacts(g *pb.Game, width int) []string {
	t := p.env.Theme
	lines := []string{t.Bold().Render(widget.Cell("Race of "+raceTime(g)+" on the same tiles", width))}
	for _, seat := range g.GetSeats() {
		if seat.GetOpen() == nil {
			lines = append(lines, widget.Cell("  "+gamestate.SeatName(seat), width))
		}
	}
	if n := gamestate.OpenSeats(g); n > 0 {
		lines = append(lines, t.Dim().Render(widget.Cell("  "+describe.Plural(n, "place")+" left", width)))
	}
	return lines
}
