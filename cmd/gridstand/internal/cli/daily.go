package cli

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) dailyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "daily [variant]",
		Short: "Play the challenge of the day: one attempt each",
		Long: `Show the daily game of a variant, by default the server's first, and play it
with enter: one attempt on tiles that are the same for everyone, from midnight
to midnight UTC. The games of others stay hidden until you have finished yours.

Without a terminal, or with --json, it prints the daily game: its closing time,
the commitments to its seed and to tomorrow's, and your score. In scripts,
` + name + ` join daily starts the attempt.`,
		RunE: p.onServer(func(ctx context.Context, c *client.Client, args []string) error {
			if day := first(args); day == yesterdayWord || isDate(day) {
				return usage.Errorf("only today's daily game can be played; the results of another: %s", p.typed("top", day))
			}
			return p.daily(ctx, c, first(args))
		}),
	}
}

// daily opens a daily game on a terminal; otherwise it prints the challenge.
func (p *program) daily(ctx context.Context, c *client.Client, variant string) error {
	if p.onScreen() {
		return p.showRestored(ctx, c, ui.Route{Daily: &pb.DailyRequest{Variant: variant}})
	}
	// Log in if the user has an account, so that the response includes their attempt.
	_, _ = p.known(ctx, c)
	reply, err := p.find(ctx, c, reference{daily: true, variant: variant})
	if err != nil {
		return err
	}
	if p.flags.json {
		return p.printMessage(reply)
	}
	if reply.GetAttempt() == nil {
		p.notef("Play it: %s", p.typed("join", dailyOf(dailyWord, variant)))
	}
	return p.printChallenge(ctx, c, reply)
}

// printChallenge writes a challenge as JSON, or in a few lines together with the rest of the reply.
func (p *program) printChallenge(ctx context.Context, c *client.Client, reply *pb.GetChallengeResponse) error {
	challenge := reply.GetChallenge()
	fields := [][2]string{
		{"id", clean(challenge.GetId(), 26)},
		{"link", p.link(ctx, c, clean(challenge.GetId(), 26))},
		{"variant", clean(challenge.GetVariant(), 24)},
		{"commitment", hex.EncodeToString(challenge.GetSeedCommitment())},
		{"seed", hex.EncodeToString(challenge.GetSeed())},
	}
	for _, e := range challenge.GetEntrants() {
		name := gamestate.Name(e)
		if challenge.GetStatus() == pb.ChallengeStatus_CHALLENGE_STATUS_WAITING {
			name += map[bool]string{false: ", not ready", true: ", ready"}[e.GetReady()]
		}
		fields = append(fields, [2]string{"entrant", name})
	}
	fields = append(fields, [2]string{"tomorrow", hex.EncodeToString(reply.GetNext().GetSeedCommitment())})
	if attempt := reply.GetAttempt(); attempt != nil {
		mine := clean(attempt.GetGameId(), 26) + ", " + describe.Plural(attempt.GetScore(), "point")
		fields = append(fields, [2]string{"your game", mine})
	}
	text := gamestate.Title(challenge) + ": " + describe.ChallengeStage(challenge, reply.GetNow().AsTime()) + "\n"
	for _, field := range fields {
		if field[1] != "" {
			text += fmt.Sprintf("%-11s %s\n", field[0], field[1])
		}
	}
	return p.printEither(challenge, "%s", text)
}
