// Package operator has the commands that an operator runs on the store, beside the
// servers.
package operator

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/flags"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server"
)

// Commands returns the commands.
func Commands() []*cobra.Command {
	return []*cobra.Command{rebuild(), hide(), unhide(), fence()}
}

// command makes a command of work on the store: do, with the arguments.
// It has the servers' flags that say where and for how long things are kept.
func command(cmd *cobra.Command, do func(*cobra.Command, *server.Operator, []string) error) *cobra.Command {
	config := server.DefaultConfig()
	config.Redis = ""
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		if config.Redis == "" {
			return usage.Errorf("--redis must say where the games are kept")
		}
		operator, err := server.Operate(cmd.Context(), config)
		if err != nil {
			return err
		}
		defer operator.Close()
		return do(cmd, operator, given)
	}
	set := cmd.Flags()
	flags.Redis(set, &config.Redis)
	flags.AbandonAfter(set, &config.AbandonAfter)
	flags.KeepFinished(set, &config.KeepFinished)
	flags.KeepAccounts(set, &config.KeepAccounts)
	flags.NameVariables(set)
	return cmd
}

func rebuild() *cobra.Command {
	return command(&cobra.Command{
		Use:   "rebuild",
		Short: "Derive leaderboards and lists again from the games' logs",
		Long: `Derives leaderboards and lists again from the logs of all games that are still
kept. Servers may go on serving meanwhile.

Entries that no log proves are taken off the leaderboards, those that are missing
are put there, and games that wait for something to happen are looked at. Scores
that counted by earlier rules and do not by today's are taken off, too: those of
Tribolo games with more than one human seat. Accounts that were made when
none lapsed lapse from now on, after --keep-accounts. Players who are hidden stay
hidden.`,
	}, func(cmd *cobra.Command, operator *server.Operator, _ []string) error {
		r, err := operator.Rebuild(cmd.Context())
		fmt.Fprintf(cmd.OutOrStdout(), "%d games read, %d of them over; %d entries taken off the leaderboards.\n", r.Games, r.Finished, r.Pruned)
		if r.Unknown > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "%d games are left to a newer server.\n", r.Unknown)
		}
		if len(r.Damaged) > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "%d games are damaged:\n%s\n", len(r.Damaged), strings.Join(r.Damaged, "\n"))
		}
		return err
	})
}

func hide() *cobra.Command {
	return command(&cobra.Command{
		Use:   "hide <player>",
		Short: "Hide a player, by name or id, from leaderboards and lists",
		Long: `Hides a player, by name or id: off all leaderboards for good, also when they are
rebuilt, and the player's games off the lists that everybody sees. The player
can go on playing, and whoever has the id of a game can watch it.`,
	}, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
		return told(cmd, "hidden")(operator.Hide(cmd.Context(), args[0]))
	})
}

func unhide() *cobra.Command {
	return command(&cobra.Command{
		Use:   "unhide <player>",
		Short: "Show a player again who was hidden",
		Long: `Shows a player again, by name or id, who was hidden. The results of the player's
games that are still kept are put on the leaderboards.`,
	}, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
		return told(cmd, "shown again")(operator.Unhide(cmd.Context(), args[0]))
	})
}

// told says what was done with a player.
func told(cmd *cobra.Command, what string) func(name, id string, err error) error {
	return func(name, id string, err error) error {
		if err == nil {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, id %s: %s\n", name, id, what)
		}
		return err
	}
}

func fence() *cobra.Command {
	var before string
	cmd := command(&cobra.Command{
		Use:   "fence [game]...",
		Short: "Let nobody play on in games that Redis may have lost moves of",
		Long: `Makes games that are not over damaged for good: whoever asks for them is told so,
nobody plays on, and they are forgotten after --keep-finished. It is for games of
which Redis may have lost moves, as when it was restored from an older copy.
Servers that ran before and after that find such games themselves; where none
did, nobody can tell which they are:

    gridstand-server fence --before now

before the servers start on the restored copy. Prints the id of each game.`,
	}, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
		if (before != "") == (len(args) > 0) {
			return usage.Errorf("name games, or the time of those that are meant with --before")
		}
		if before != "" {
			return fenceBefore(cmd, operator, before)
		}
		return fenceGames(cmd, operator, args)
	})
	cmd.Flags().StringVar(&before, "before", "",
		"fence all games that were created before this `time`, such as 2026-11-20T18:00:00Z, or \"now\"")
	return cmd
}

func fenceBefore(cmd *cobra.Command, operator *server.Operator, text string) error {
	var at time.Time // stands for now
	if text != "now" {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return usage.Errorf(`--before: %q is no time like 2026-11-20T18:00:00Z, and not "now"`, text)
		}
	}
	ids, err := operator.FenceBefore(cmd.Context(), at)
	for _, id := range ids {
		fmt.Fprintln(cmd.OutOrStdout(), id)
	}
	return err
}

func fenceGames(cmd *cobra.Command, operator *server.Operator, gameIDs []string) error {
	var failed []error
	for _, id := range gameIDs {
		if err := operator.Fence(cmd.Context(), id); err != nil {
			failed = append(failed, fmt.Errorf("game %s: %w", id, err))
			continue
		}
		fmt.Fprintln(cmd.OutOrStdout(), id)
	}
	return errors.Join(failed...)
}
