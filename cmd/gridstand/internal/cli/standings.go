package cli

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// standingsOptions are the flags of the standings command.
type standingsOptions struct {
	variant   string
	me, share bool
	limit     int
}

func (p *program) standingsCommand() *cobra.Command {
	var o standingsOptions
	cmd := &cobra.Command{
		Use:   "standings <challenge>|daily|yesterday|<day>",
		Short: "Show the standings of a challenge or of a daily game",
		Long: `Show the standings of today's or yesterday's daily game, of the daily game of a
day in UTC such as 2026-11-21, or of a challenge given by its id, a prefix of
the id or a link. A race lists all entrants with their current scores;
other challenges list finished attempts. Attempts in which a program moved do
not count.

--share prints text that tells others about your result without revealing any
tiles.`,
		ValidArgsFunction: p.completeChallenges,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.limit < 0:
				return usage.Errorf("--limit must not be negative")
			case o.me && o.share:
				return usage.Errorf("--me and --share cannot be combined")
			}
			return p.standings(cmd.Context(), args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.variant, "variant", "", "`variant` of the daily game (default: the server's first)")
	flags.BoolVar(&o.me, "me", false, "only your own rank and the ranks around it")
	flags.BoolVar(&o.share, "share", false, "print your result as text to share")
	flags.IntVar(&o.limit, "limit", defaultLimit, "maximum number of rows, 0 for all")
	completeFlag(cmd, "variant", p.completeVariants)
	return cmd
}

// standings shows the standings of a challenge.
func (p *program) standings(ctx context.Context, what string, o standingsOptions) error {
	r, c, disconnect, err := p.dialFor(what)
	if err != nil {
		return err
	}
	defer disconnect()
	if o.variant != "" && !r.daily {
		return usage.Errorf("--variant is only for %s", dailyWord)
	}
	r.variant = cmp.Or(o.variant, r.variant)
	player, err := p.known(ctx, c)
	if err != nil && (o.me || o.share) {
		return err
	}
	reply, err := r.find(ctx, c)
	if err != nil {
		return err
	}
	switch {
	case o.share:
		return p.share(ctx, c, reply)
	case o.me:
		return p.standingsAround(ctx, c, reply.GetChallenge(), player)
	}
	request, total := &pb.ListStandingsRequest{ChallengeId: reply.GetChallenge().GetId()}, int32(0)
	rows, more, err := pages(o.limit, func(size int32, token string) ([]*pb.Standing, string, error) {
		request.PageSize, request.PageToken = size, token
		page, err := c.Challenges.ListStandings(ctx, request)
		total = page.GetTotal()
		return page.GetStandings(), page.GetNextPageToken(), err
	})
	if err != nil {
		return err
	}
	if p.flags.json {
		return printMessages(p, rows)
	}
	if err := p.printf("%s: %s\n", titleOf(reply.GetChallenge()), describe.ChallengeStage(reply.GetChallenge(), reply.GetNow().AsTime())); err != nil {
		return err
	}
	if len(rows) == 0 {
		p.notef("No attempt that counts has finished yet.")
		if command := p.typed("standings", yesterdayWord); r.daily && r.date == "" && command != "" {
			r.date = dayBefore(reply)
			if _, err := r.find(ctx, c); err == nil {
				p.notef("Yesterday's results: %s", command)
			}
		}
		return nil
	}
	if err := p.printStandings(reply.GetChallenge(), rows, player.GetId()); err != nil {
		return err
	}
	if more {
		p.notef("%s of %s: --limit %d shows more, --limit 0 shows all.", describe.Comma(len(rows)), describe.Comma(total), 2*o.limit)
	}
	return nil
}

// standingsAround shows the user's line and the lines around it.
func (p *program) standingsAround(ctx context.Context, c *client.Client, challenge *pb.Challenge, player *pb.Player) error {
	reply, err := c.Challenges.ListStandings(ctx, &pb.ListStandingsRequest{
		ChallengeId: challenge.GetId(), PlayerId: "me", Neighbors: neighbors,
	})
	if errors.Is(err, client.ErrNoScore) {
		return missingf("you are not in these standings, which list only finished attempts that count")
	}
	if err != nil {
		return err
	}
	if p.flags.json {
		return printMessages(p, reply.GetStandings())
	}
	return p.printStandings(challenge, reply.GetStandings(), player.GetId())
}

// share prints the user's result in a form to share with others.
func (p *program) share(ctx context.Context, c *client.Client, reply *pb.GetChallengeResponse) error {
	switch {
	case reply.GetAttempt() == nil:
		return missingf("you have not played this challenge")
	case reply.GetAttempt().GetStatus() != pb.GameStatus_GAME_STATUS_FINISHED:
		return missingf("your attempt is not over yet")
	}
	result, err := p.result(ctx, c, reply)
	if err != nil {
		return err
	}
	text := shareText(result)
	if p.flags.json {
		return p.printJSON(map[string]any{
			"challengeId": reply.GetChallenge().GetId(), "gameId": reply.GetAttempt().GetGameId(), "score": result.Score,
			"rank": result.Rank, "total": result.Total, "dayStreak": result.DayStreak, "text": text,
		})
	}
	return p.printf("%s\n", text)
}

// shareText returns the text to share, safe for a terminal.
func shareText(r describe.Result) string {
	lines := strings.Split(describe.Share(r), "\n")
	for i, line := range lines {
		lines[i] = clean(line, 300)
	}
	return strings.Join(lines, "\n")
}

// entrantName returns the name of a participant in a challenge.
func entrantName(e interface {
	GetPlayer() *pb.Player
	GetBot() string
},
) string {
	if e.GetPlayer() == nil {
		return clean(e.GetBot(), 24) + " (bot)"
	}
	return client.CleanName(e.GetPlayer().GetName())
}

// progressOf returns a word for the progress of an attempt at a race.
func progressOf(challenge *pb.Challenge, s *pb.Standing) string {
	switch challenge.GetStatus() {
	case pb.ChallengeStatus_CHALLENGE_STATUS_WAITING, pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED:
		return "waiting"
	case pb.ChallengeStatus_CHALLENGE_STATUS_OPEN:
		if !s.GetFinished() {
			return "playing"
		}
	}
	return "finished"
}

// printStandings writes standings as a table and marks the line of a player.
func (p *program) printStandings(challenge *pb.Challenge, rows []*pb.Standing, marked string) error {
	columns := []column{
		{title: "RANK", right: true},
		{title: "PLAYER", flexible: true},
		{title: "SCORE", right: true},
	}
	race := challenge.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_RACE
	if race {
		columns = append(columns, column{title: "TILE", right: true, drop: 3}, column{title: "MOVES", right: true, drop: 4}, column{title: "STATUS", drop: 5})
	}
	columns = append(columns, column{title: "GAME", id: true, drop: 2}, column{title: "WHEN", drop: 1})
	cells := make([][]string, len(rows))
	for i, s := range rows {
		rank, player := "-", entrantName(s)
		if s.GetRank() > 0 {
			rank = describe.Comma(s.GetRank())
		}
		if marked != "" && s.GetPlayer().GetId() == marked {
			player += " ◂ you"
		}
		cells[i] = []string{rank, player, describe.Comma(s.GetScore())}
		if race {
			cells[i] = append(cells[i], strconv.Itoa(int(s.GetLargestTile())), describe.Comma(s.GetMoveCount()), progressOf(challenge, s))
		}
		cells[i] = append(cells[i], s.GetGameId(), p.ago(s.GetTime()))
	}
	return p.printTable(columns, cells)
}
