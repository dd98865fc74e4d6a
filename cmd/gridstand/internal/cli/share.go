package cli

import (
	"context"
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
