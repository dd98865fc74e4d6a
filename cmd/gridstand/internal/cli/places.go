package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// places prints races and the given games, all of which wait for players. more is set if there are more games.
func (p *program) places(ctx context.Context, c *client.Client, games []*pb.Game, more bool, o gamesOptions) error {
	reply, err := c.Challenges.ListChallenges(ctx, &pb.ListChallengesRequest{Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE})
	if err != nil {
		return err
	}
	now := p.clock()
	var rows [][]string
	for _, race := range reply.GetChallenges() {
		open := gamestate.MaxEntrants - len(race.GetEntrants())
		if race.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_WAITING || open <= 0 || o.variant != "" && race.GetVariant() != o.variant {
			continue
		}
		var names []string
		for _, e := range race.GetEntrants() {
			names = append(names, client.CleanName(e.GetPlayer().GetName()+e.GetBot()))
		}
		rows = append(rows, []string{
			clean(race.GetId(), 26), clean(race.GetVariant(), 24) + " race of " + describe.Limit(race.GetLimit().AsDuration()),
			strconv.Itoa(open), describe.Span(now.Sub(race.GetCreateTime().AsTime())), strings.Join(names, ", "),
		})
	}
	for _, g := range games {
		rows = append(rows, []string{
			gamestate.ShortID(g.GetId()), variantOf(g), strconv.Itoa(gamestate.OpenSeats(g)),
			describe.Span(now.Sub(g.GetCreateTime().AsTime())), gamestate.PlayerName(g),
		})
	}
	if len(rows) == 0 {
		p.notef("No player is waiting. Race somebody now: %s", p.typed("race", "--now"))
		return nil
	}
	if o.limit > 0 && len(rows) > o.limit {
		rows, more = rows[:o.limit], true
	}
	if more {
		defer p.noteMore(len(rows))
	}
	defer p.notef("Take a place: %s", p.typed("join", "PLACE"))
	return p.printTable([]string{"PLACE", "GAME", "OPEN>", "WAITING>", "PLAYERS"}, rows)
}
