package lobby

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// daily is the daily game as received from the server, or the zero value if the server has
// no daily game.
type daily struct {
	game    *pb.Challenge
	attempt *pb.Attempt
	// place is the user's place in the standings once the attempt is over.
	place *pb.ListStandingsResponse
	// played is the number of other daily games that the user has finished today, of others.
	played, others int
}

// over reports whether the user's attempt is over.
func over(a *pb.Attempt) bool { return a.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED }

// dailyTime is the interval between requests for the daily game.
const dailyTime = 15 * time.Second

// maxDailies limits the number of daily games that the lobby asks for.
const maxDailies = 10

// getDaily requests the first daily game that the user has not finished, or else the last one and the
// user's place in it.
func getDaily(ctx context.Context, s ui.Server) (d daily, err error) {
	variants := []string{""} // the server's first, until the reply names the others
	for i := 0; i < len(variants) && err == nil && (i == 0 || over(d.attempt)); i++ {
		var reply *pb.GetChallengeResponse
		reply, err = s.GetChallenge(ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: variants[i]}})
		if more := reply.GetDailyVariants(); i == 0 && len(more) > 1 {
			variants = more[:min(len(more), maxDailies)]
		}
		d = daily{game: reply.GetChallenge(), attempt: reply.GetAttempt(), played: i, others: len(variants) - 1}
	}
	if err == nil && over(d.attempt) {
		d.place, err = s.ListStandings(ctx, &pb.ListStandingsRequest{ChallengeId: d.game.GetId(), PlayerId: "me"})
		if errors.Is(err, client.ErrNoScore) { // not recorded yet
			err = nil
		}
	}
	return d, err
}

// route plays the daily game, or shows its standings to a user who cannot play.
func (d *daily) route(env *ui.Env) ui.Route {
	if env.WatchOnly != "" {
		return ui.Route{Challenge: d.game.GetId()}
	}
	return ui.Route{Daily: &pb.DailyRequest{Variant: d.game.GetVariant()}}
}

// line returns the line about the daily game, or "" if the server has no daily game.
func (d *daily) line(env *ui.Env, width int) string {
	t := env.Theme
	if d.game == nil {
		return ""
	}
	title := t.Accent().Bold(true).Render(gamestate.Title(d.game))
	var what string // what the key d does
	var texts []string
	switch a := d.attempt; {
	case env.WatchOnly != "":
		what = "ranking"
	case a == nil:
		what, texts = "play", []string{"the same tiles for everyone"}
		if d.played > 0 {
			texts = []string{fmt.Sprintf("%d of %d played", d.played, d.others+1)}
		}
	case over(a):
		what = "result"
		place := describe.Place(env.Standing(d.place.GetStandings()).GetRank(), d.place.GetTotal())
		texts = []string{
			describe.Phrases(describe.Plural(a.GetScore(), "point"), place, describe.Streak(a.GetDayStreak())),
			describe.Phrases(describe.Plural(a.GetScore(), "point"), place),
		}
	default:
		what, texts = "continue", []string{describe.Plural(a.GetScore(), "point") + " so far"}
	}
	key := ui.Choice(t, "d", what)
	lefts := convert.All(texts, func(text string) string { return title + "  " + t.Bold().Render(text) + "   " + key })
	lefts = append(lefts, title+"   "+key)
	rights := []string{""}
	if left := d.game.GetCloseTime().AsTime().Sub(env.Now); left > 0 {
		rights = []string{t.Dim().Render("next in " + gamestate.Clock(left)), t.Dim().Render(gamestate.Clock(left)), ""}
	}
	return " " + ui.Header(width-2, lefts, rights) + " "
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
	for _, seat := range g.GetSeats() {
		if seat.GetOpen() == nil {
			lines = append(lines, ui.Cell("  "+gamestate.SeatName(seat), width))
		}
	}
	if n := gamestate.OpenSeats(g); n > 0 {
		lines = append(lines, t.Dim().Render(ui.Cell("  "+describe.Plural(n, "place")+" left", width)))
	}
	return lines
}
