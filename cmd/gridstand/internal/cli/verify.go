package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/internal/verify"
)

func (p *program) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify <game>|-",
		Short: "Recompute a finished game from its seed",
		Long: `Recompute a finished game on this machine: the commitment, every new tile, every
board and every score. It reports what it checked, or the first difference.
` + name + ` games --mine lists your games. The argument - reads the output of
` + name + ` watch <game> --from 0 --json.

This proves that the seed was fixed before the first move, and that every tile
follows from it. It cannot prove who made the moves, or that the seed was chosen
fairly: only the server saw it drawn.

An attempt at a challenge can be verified after the challenge has closed. Before
that, the command exits with 3 and prints the closing time. It also checks that
the seed is the one that the challenge committed to, and the player's line in
its ranking.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" {
				r, err := unlessDone(cmd.Context(), func() (verify.Report, error) { return verify.Transcript(verify.ReadJSON(p.in)) })
				if errors.Is(err, verify.ErrEmpty) {
					err = fmt.Errorf("%w. To make one: %s > FILE", err, p.typed("watch", "GAME", "--from", "0", "--json"))
				}
				return p.report(r, err)
			}
			if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() {
				return usage.Errorf("verify needs a game. To read a file: %s verify - < %s", name, clean(args[0], 500))
			}
			return p.onReference(p.verifyGame)(cmd, args)
		},
	}
}

// verifyGame fetches the transcript of a finished game and verifies it.
func (p *program) verifyGame(ctx context.Context, c *client.Client, r reference) error {
	found, g, err := p.challengeOrGame(ctx, c, r)
	switch {
	case err != nil:
		return err
	case found != nil:
		return p.noGame(found.GetChallenge().GetId())
	}
	return p.report(verify.Game(ctx, c, g.GetId()))
}

// report prints the result of a verification.
func (p *program) report(r verify.Report, err error) error {
	var difference *verify.Difference
	switch {
	case errors.As(err, &difference) && difference.Version == 0:
		return fmt.Errorf("the game is valid, but does not match its challenge: %s", clean(err.Error(), 500))
	case errors.As(err, &difference):
		return fmt.Errorf("the transcript is not valid: %s", clean(err.Error(), 500))
	case err != nil:
		return err
	}
	if p.flags.json {
		return p.printJSON(r)
	}
	spawned := ""
	if r.Spawned > 0 {
		spawned = describe.Comma(int32(r.Spawned)) + " tiles that appeared, "
	}
	points := "score of "
	if len(r.Scores) > 1 {
		points = "scores "
	}
	if err := p.printf("Verified: %s, a game of %s by %s, ended: %s.\n"+
		"The seed matches the commitment made when the game was created.\nAll %s states of the game follow from it:\n"+
		"%s, %severy board, and the %s%s.\n",
		r.GameID, r.Variant, strings.Join(r.Players, ", "), r.Reason,
		describe.Comma(int32(r.Versions)), describe.Plural(r.Moves, "move"), spawned, points, commas(r.Scores, ", ")); err != nil || r.Challenge == nil {
		return err
	}
	place := "It does not count in the ranking."
	if r.Challenge.Missing {
		place = "The ranking does not list it: the operator may have hidden the player."
	}
	if rank := r.Challenge.Rank; rank > 0 {
		place = fmt.Sprintf("The ranking lists it with this score, at rank %s.", describe.Comma(rank))
	}
	if r.Challenge.Unproved {
		place += " Its tiles were known before, so its ranking proves nothing."
	}
	return p.printf("It is an attempt at the challenge %s, whose seed is the same.\n%s\n", r.Challenge.ID, place)
}
