package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) dailyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "daily [variant]",
		Short: "Play the challenge of the day: one attempt each",
		Long: `Play the daily game of a variant, by default the server's first: one attempt on
tiles that are the same for everyone, from midnight to midnight UTC. The games
of others stay hidden until you have finished yours.

Without a terminal, or with --json, it prints the daily game: its closing time,
the commitments to its seed and to tomorrow's, and your score. In scripts,
` + name + ` join daily starts the attempt.`,
		ValidArgsFunction: p.complete(variantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.daily(cmd.Context(), first(args))
		},
	}
}

// daily opens a daily game on a terminal; otherwise it prints the challenge.
func (p *program) daily(ctx context.Context, variant string) error {
	c, err := p.dial()
	if err != nil {
		return err
	}
	if p.onScreen() {
		return p.showRestored(ctx, c, ui.Route{Daily: &pb.DailyRequest{Variant: variant}})
	}
	// Log in if the user has an account, so that the response includes their attempt.
	_, _ = p.known(ctx, c)
	reply, err := reference{daily: true, variant: variant}.find(ctx, c)
	if errors.Is(err, client.ErrChallengeNotFound) && variant != "" {
		return fmt.Errorf("%w. Try: %s", err, p.typed("daily"))
	}
	if err != nil {
		return err
	}
	if p.flags.json {
		return p.printMessage(reply)
	}
	if err := p.printChallenge(ctx, c, reply.GetChallenge(), reply.GetNow().AsTime()); err != nil {
		return err
	}
	if next := reply.GetNext(); next != nil {
		if err := p.printField("tomorrow", hex.EncodeToString(next.GetSeedCommitment())); err != nil {
			return err
		}
	}
	if attempt := reply.GetAttempt(); attempt != nil {
		return p.printField("your game", clean(attempt.GetGameId(), 26)+", "+describe.Plural(attempt.GetScore(), "point"))
	}
	p.notef("Play it: %s", p.typed("join", dailyWord))
	return nil
}

// printChallenge writes a challenge, either as JSON or in a few lines. If now is zero, it
// uses this machine's clock.
func (p *program) printChallenge(ctx context.Context, c *client.Client, challenge *pb.Challenge, now time.Time) error {
	if p.flags.json {
		return p.printMessage(challenge)
	}
	if now.IsZero() {
		now = p.clock()
	}
	if err := p.printf("%s: %s\n", titleOf(challenge), describe.ChallengeStage(challenge, now)); err != nil {
		return err
	}
	for _, field := range [][2]string{
		{"id", clean(challenge.GetId(), 26)},
		{"link", p.link(ctx, c, clean(challenge.GetId(), 26))},
		{"variant", clean(challenge.GetVariant(), 24)},
		{"commitment", hex.EncodeToString(challenge.GetSeedCommitment())},
		{"seed", hex.EncodeToString(challenge.GetSeed())},
	} {
		if field[1] == "" {
			continue
		}
		if err := p.printField(field[0], field[1]); err != nil {
			return err
		}
	}
	for _, e := range challenge.GetEntrants() {
		ready := "not ready"
		if e.GetReady() {
			ready = "ready"
		}
		if err := p.printField("entrant", entrantName(e)+", "+ready); err != nil {
			return err
		}
	}
	return nil
}

// printField writes a name and its value.
func (p *program) printField(name, value string) error { return p.printf("%-11s %s\n", name, value) }
