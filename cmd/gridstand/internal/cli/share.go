package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

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
	lines := strings.Split(describe.Share(result), "\n")
	for i, line := range lines {
		lines[i] = clean(line, 300)
	}
	text := strings.Join(lines, "\n")
	if p.flags.json {
		return p.printJSON(map[string]any{
			"challengeId": reply.GetChallenge().GetId(), "gameId": reply.GetAttempt().GetGameId(), "score": result.Score,
			"rank": result.Rank, "total": result.Total, "dayStreak": result.DayStreak, "text": text,
		})
	}
	return p.printf("%s\n", text)
}

// result returns the result of the user's attempt at a challenge, including its rank.
func (p *program) result(ctx context.Context, c *client.Client, reply *pb.GetChallengeResponse) (describe.Result, error) {
	challenge, attempt := reply.GetChallenge(), reply.GetAttempt()
	result := describe.Result{
		Challenge: challenge, Score: attempt.GetScore(), DayStreak: attempt.GetDayStreak(), Link: p.link(ctx, c, challenge.GetId()),
	}
	g, err := c.Game(ctx, attempt.GetGameId())
	if err != nil {
		return result, err
	}
	result.Tiles = g.GetPosition().GetTwenty48().GetTiles()
	mine, err := c.Challenges.ListStandings(ctx, &pb.ListStandingsRequest{ChallengeId: challenge.GetId(), PlayerId: "me"})
	if errors.Is(err, client.ErrNoScore) {
		return result, nil
	}
	if rows := mine.GetStandings(); len(rows) == 1 {
		result.Rank, result.Total = rows[0].GetRank(), mine.GetTotal()
	}
	return result, err
}
