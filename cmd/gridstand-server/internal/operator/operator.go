// Package operator contains the commands that an operator runs on the store.
package operator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/flags"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server"
)

// Commands returns the operator commands, for use as subcommands.
func Commands() []*cobra.Command {
	return []*cobra.Command{backup(), dump(), restore(), rebuild(), hide(), unhide(), quarantine(), sshCredential()}
}

// command makes cmd open the store and run do with the command's arguments. If alone is set, no server
// may use a store in a file. It also adds the server's flags for the store and for data retention.
func command(cmd *cobra.Command, alone bool, do func(*cobra.Command, *server.Operator, []string) error) *cobra.Command {
	config := server.DefaultConfig()
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		operator, err := server.Operate(cmd.Context(), config, alone)
		if err != nil {
			return orSelect(err)
		}
		defer operator.Close()
		err = do(cmd, operator, given)
		if _, wrong := errors.AsType[*usage.Error](err); err != nil && !wrong {
			err = fmt.Errorf("%s: %w", operator.Store(), err)
		}
		return err
	}
	flags.Retention(cmd.Flags(), &config)
	return selecting(cmd, &config)
}

// selecting adds the server's flags for the store to a command, and names the variables of all its flags.
func selecting(cmd *cobra.Command, config *server.Config) *cobra.Command {
	flags.Store(cmd.Flags(), config)
	usage.NameVariables(cmd.Flags(), usage.Prefix)
	return cmd
}

// orSelect returns err and, if the store's file does not exist, adds how to select another.
func orSelect(err error) error {
	if errors.Is(err, server.ErrNoStore) {
		return fmt.Errorf("%w; --data or --store selects another", err)
	}
	return err
}

// note prints a line that names the store. It prints to standard error, because scripts may
// parse standard output.
func note(cmd *cobra.Command, operator *server.Operator, format string, args ...any) {
	fmt.Fprintf(cmd.ErrOrStderr(), format+" in %s\n", append(args, operator.Store())...)
}

func backup() *cobra.Command {
	config := server.DefaultConfig()
	cmd := &cobra.Command{
		Use:   "backup <file>",
		Short: "Copy the file with all games, even while its server is running",
		Long: `Copies the file with all games, accounts and scores into a new file, which must
not exist. The server may be running: the copy is a consistent snapshot. It
contains the seeds of open games, so only its owner can read it.

To restore it, stop the server. Then, with the server's --data or --store,

    gridstand-server restore --replace <file>
    gridstand-server quarantine --before now

put it in place and freeze the open games, which may have lost moves.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			var b server.BackedUp
			err = createFile(args[0], func(f *os.File) (err error) {
				b, err = server.Backup(cmd.Context(), config, f.Name())
				return err
			})
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s copied from %s to %s, %d bytes\n",
					english.Plural(int(b.Games), "game", ""), b.Store, name, b.Bytes)
			}
			return orSelect(err)
		},
	}
	return selecting(cmd, &config)
}

func rebuild() *cobra.Command {
	return command(&cobra.Command{
		Use:   "rebuild",
		Short: "Rebuild leaderboards and lists from the games' logs",
		Long: `Rebuilds leaderboards and lists from the logs of all stored games. If the store
is Redis, servers may keep running, but the leaderboards lack entries until the
command ends. If it is a file, its server must be stopped.

Leaderboards are emptied first, so that they lose entries without a log, and
scores that no longer count under the current rules. Hidden players stay hidden.
If the command is interrupted, run it again.`,
	}, true, func(cmd *cobra.Command, operator *server.Operator, _ []string) error {
		r, err := operator.Rebuild(cmd.Context())
		fmt.Fprintf(cmd.OutOrStdout(), "%s read, %d of them finished.\n", english.Plural(r.Games, "game", ""), r.Finished)
		if r.Unknown > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "%s can be read only by a newer server.\n", english.Plural(r.Unknown, "game", ""))
		}
		if len(r.Damaged) > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "%s, damaged or quarantined:\n", english.Plural(len(r.Damaged), "game", ""))
		}
		for _, id := range r.Damaged {
			if slices.Contains(r.Quarantined, id) {
				id += " (quarantined)"
			}
			fmt.Fprintln(cmd.OutOrStdout(), id)
		}
		if err == nil {
			note(cmd, operator, "leaderboards and lists rebuilt")
		}
		return err
	})
}

func hide() *cobra.Command {
	return command(&cobra.Command{
		Use:   "hide <player>",
		Short: "Hide a player, by name or id, from rankings, lists and pages",
		Long: `Hides a player, by name or id: removes the player from all leaderboards,
including rebuilt ones, and standings, and the player's page and games for all
others. Challenges show a guest's name instead. The player can continue to play
and to enter races, and clients that have the id of a game can watch it: games
show the name that the player had when they began.`,
	}, false, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
		return printPlayer(cmd, operator, "hidden")(operator.Hide(cmd.Context(), args[0]))
	})
}

func unhide() *cobra.Command {
	return command(&cobra.Command{
		Use:   "unhide <player>",
		Short: "Show a hidden player again",
		Long: `Shows a hidden player again, by name or id. The results of the player's stored
games return to the leaderboards.`,
	}, false, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
		return printPlayer(cmd, operator, "visible")(operator.Unhide(cmd.Context(), args[0]))
	})
}

// printPlayer returns a function that reports a change to a player. what describes the
// change.
func printPlayer(cmd *cobra.Command, operator *server.Operator, what string) func(name, id string, err error) error {
	return func(name, id string, err error) error {
		if err == nil {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, id %s: %s\n", name, id, what)
			note(cmd, operator, "1 player %s", what)
		}
		return err
	}
}

func quarantine() *cobra.Command {
	var before string
	cmd := command(&cobra.Command{
		Use:   "quarantine [game]...",
		Short: "Freeze games whose moves the store may have lost",
		Long: `Freezes unfinished games whose moves the store may have lost, for example after
it was restored from an older copy. A frozen game is reported as damaged, takes
no more moves, and is deleted after --keep-finished.

Servers that were running before and after a rollback find such games in their
memory, and log the command for the others. If no server was running before it,
quarantine all games before you start the servers on the restored copy:

    gridstand-server quarantine --before now

Prints the id of each game on standard output, and the store and the number of
games on standard error.`,
	}, false, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
		if (before != "") == (len(args) > 0) {
			return usage.Errorf("give either game ids or --before")
		}
		if before != "" {
			return quarantineBefore(cmd, operator, before)
		}
		return quarantineGames(cmd, operator, args)
	})
	cmd.Flags().StringVar(&before, "before", "",
		"quarantine all games that were created before this `time`, such as 2026-11-20T18:00:00Z, or \"now\"")
	return cmd
}

func quarantineBefore(cmd *cobra.Command, operator *server.Operator, text string) error {
	var at time.Time // means now; a script prints it if it has no time
	if text != "now" {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil || at.IsZero() {
			return usage.Errorf(`--before must be a time such as 2026-11-20T18:00:00Z, or "now", not %q`, text)
		}
	}
	ids, err := operator.QuarantineBefore(cmd.Context(), at)
	for _, id := range ids {
		fmt.Fprintln(cmd.OutOrStdout(), id)
	}
	note(cmd, operator, "%s quarantined", english.Plural(len(ids), "game", ""))
	return err
}

func quarantineGames(cmd *cobra.Command, operator *server.Operator, gameIDs []string) error {
	var failed []error
	for _, id := range gameIDs {
		if err := operator.Quarantine(cmd.Context(), id); err != nil {
			failed = append(failed, fmt.Errorf("game %s: %w", id, err))
			continue
		}
		fmt.Fprintln(cmd.OutOrStdout(), id)
	}
	if done := len(gameIDs) - len(failed); done > 0 {
		note(cmd, operator, "%s quarantined", english.Plural(done, "game", ""))
	}
	return errors.Join(failed...)
}
