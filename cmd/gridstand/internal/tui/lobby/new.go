package lobby

import (
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// raceTime is the duration of a race that the lobby creates.
	raceTime = 3 * time.Minute
	// maxSeats limits the seats of a new game, in case the server's number is absurd.
	maxSeats = 12
)

// askNew lets the user choose the variant of a new game or, if race is set, of a new race. For a game with
// several seats, it also asks who has the others.
func (p *page) askNew(race bool) tea.Cmd {
	q := &ui.Question{Title: "New game", No: "close"}
	q.Text = "For a clock, seats or privacy, use flags:\n" + p.env.Command("play", "--help")
	if race {
		q.Title, q.Text = "New race of 3 min", "For another time or privacy, use flags:\n"+p.env.Command("race", "--help")
	}
	add := func(what string, r ui.Route) {
		key := strconv.FormatInt(int64(len(q.Choices)+1), 36) // 1 to 9, then letters
		keys := key
		if len(q.Choices) == 0 {
			keys += " enter"
		}
		q.Choices = append(q.Choices, ui.On(keys, keys, what, true, ui.Run(ui.Open(r))))
	}
	for _, v := range p.lists.Variants {
		id, title := v.GetId(), clean(v.GetTitle())
		switch {
		case race && v.GetKind() == pb.Kind_KIND_TWENTY48:
			add(about(v), ui.Route{NewChallenge: &ui.NewChallenge{Request: &pb.CreateChallengeRequest{
				Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: id, Limit: durationpb.New(raceTime),
			}}})
		case race:
		case v.GetSeats() > 1:
			seats := []*pb.SeatRequest{ui.SeatRequest(ui.SeatMe)}
			for range min(v.GetSeats(), maxSeats) - 1 {
				seats = append(seats, ui.SeatRequest(ui.SeatOpen))
			}
			options := client.GameOptions{Seats: seats}
			add(title+" with others", ui.Route{New: &ui.NewGame{Variant: id, Options: options}})
			add(title+" against bots", ui.Route{New: &ui.NewGame{Variant: id}})
		default:
			add(about(v), ui.Route{New: &ui.NewGame{Variant: id}})
		}
	}
	if len(q.Choices) == 0 {
		return p.Refuse("The variants are still loading. " + ui.SameKey)
	}
	return p.Ask(q)
}

// about returns a variant's id and the first part of its summary, which fits on a line.
func about(v *pb.Variant) string {
	summary := client.CleanText(v.GetSummary(), 200)
	if i := strings.IndexAny(summary, ":;"); i >= 0 {
		summary = summary[:i]
	}
	return clean(v.GetId()) + ": " + summary
}
