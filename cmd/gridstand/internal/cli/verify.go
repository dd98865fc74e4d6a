package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/internal/verify"
)

func (p *program) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify <game>|-",
		Short: "Recompute a finished game from its revealed seed",
		Long: `Recompute a finished game on this machine: the commitment, every tile that
appeared, every board and score. It reports what it checked, or the first
difference. - reads the output of ` + name + ` watch <game> --from 0 --json.

This proves that the seed was fixed before the first move, and that every tile
follows from it. It cannot prove who made the moves, or that the seed was chosen
fairly: only the server saw it drawn.`,
		ValidArgsFunction: p.completeGames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" {
				return p.report(verify.Transcript(verify.ReadJSON(p.in)))
			}
			return p.verifyGame(cmd.Context(), args[0])
		},
	}
}

// verifyGame fetches the transcript of a finished game and verifies it.
func (p *program) verifyGame(ctx context.Context, what string) error {
	c, hangUp, err := p.dial()
	if err != nil {
		return err
	}
	defer hangUp()
	id, err := p.resolve(ctx, c, what)
	if errors.Is(err, client.ErrInvalid) && isFile(what) {
		return usage.Errorf("%w. For the file: %s verify - < %s", err, name, clean(what, 500))
	}
	if err != nil {
		return err
	}
	return p.report(verify.Game(ctx, c, id))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// report prints the result of a verification.
func (p *program) report(r verify.Report, err error) error {
	var difference *verify.Difference
	switch {
	case errors.As(err, &difference):
		return fmt.Errorf("the transcript is not valid: %s", clean(err.Error(), 500))
	case err != nil:
		return err
	}
	scores := make([]string, len(r.Scores))
	for i, s := range r.Scores {
		scores[i] = comma(s)
	}
	if p.flags.json {
		return p.printJSON(map[string]any{
			"gameId": r.GameID, "variant": r.Variant, "players": r.Players, "versions": r.Versions,
			"moves": r.Moves, "spawned": r.Spawned, "reason": r.Reason.String(), "scores": r.Scores,
			"ranked": r.Ranked, "begin": r.Begin, "end": r.End,
		})
	}
	spawned := ""
	if r.Spawned > 0 {
		spawned = comma(int32(r.Spawned)) + " tiles that appeared, "
	}
	points := "score of "
	if len(scores) > 1 {
		points = "scores "
	}
	return p.printf("Verified: %s, a game of %s by %s, ended: %s.\n"+
		"The seed matches the commitment made when the game was created. All %s versions follow from it:\n"+
		"%s moves, %severy board, and the %s%s.\n",
		r.GameID, r.Variant, strings.Join(r.Players, ", "), r.Reason,
		comma(int32(r.Versions)), comma(int32(r.Moves)), spawned, points, strings.Join(scores, ", "))
}
