// Package operator has the commands that an operator runs on the store, beside the
// servers.
package operator

import (
	"context"
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
	// The name of quarantine before; scripts may still use it.
	fence := quarantine()
	fence.Use, fence.Hidden = "fence [game]...", true
	return []*cobra.Command{backup(), copyStore(), rebuild(), hide(), unhide(), quarantine(), fence, sshCredential()}
}

// open is server.Operate or server.OperateAlone.
type open func(context.Context, server.Config) (*server.Operator, error)

// command makes a command of work on the store: do, with the arguments.
// It has the servers' flags that say where and for how long things are kept.
func command(cmd *cobra.Command, open open, do func(*cobra.Command, *server.Operator, []string) error) *cobra.Command {
	config := server.DefaultConfig()
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		operator, err := open(cmd.Context(), config)
		if err != nil {
			return err
		}
		defer operator.Close()
		return do(cmd, operator, given)
	}
	set := cmd.Flags()
	flags.Store(set, &config.Store)
	flags.Data(set, &config.Data)
	flags.AbandonAfter(set, &config.AbandonAfter)
	flags.KeepFinished(set, &config.KeepFinished)
	flags.KeepAccounts(set, &config.KeepAccounts)
	flags.NameVariables(set)
	return cmd
}

func backup() *cobra.Command {
	config := server.DefaultConfig()
	cmd := &cobra.Command{
		Use:   "backup <file>",
		Short: "Copy the file with all games into a new file, also while the server runs",
		Long: `Copies the file with all games, accounts and scores into a new file, which must not
exist. The server may run: the copy is of one moment. It contains the seeds of open
games, so only its owner can read it.

To restore it, stop the server, delete the files beside the server's file whose names
end in -wal and -shm, and put the copy in its place. Then

    gridstand-server quarantine --before now

freezes the open games, which may have lost moves.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return server.Backup(cmd.Context(), config, args[0])
		},
	}
	set := cmd.Flags()
	flags.Store(set, &config.Store)
	flags.Data(set, &config.Data)
	flags.NameVariables(set)
	return cmd
}

func copyStore() *cobra.Command {
	config := server.DefaultConfig()
	var from, to string
	cmd := &cobra.Command{
		Use:   "copy",
		Short: "Copy everything into an empty store, from a file to a Redis or back",
		Long: `Copies all games, accounts and scores from one store into another, empty one: from a
file to a Redis, when one server is no longer enough, from a Redis to a file, or
between two of the same kind. All servers of both must be stopped. Clients notice
nothing: games keep their ids and versions, and tokens stay valid.

    gridstand-server copy --from sqlite: --to redis://localhost:6379/0`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" || to == "" {
				return usage.Errorf("--from and --to must name two stores")
			}
			config.Store = from
			last := time.Now()
			copied, err := server.Copy(cmd.Context(), config, to, func(c server.Copied) {
				if time.Since(last) > progressEvery {
					last = time.Now()
					fmt.Fprintf(cmd.ErrOrStderr(), "%d games and %d scores so far\n", c.Games, c.Scores)
				}
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d games with %d entries, %d accounts and %d scores copied.\n",
				copied.Games, copied.Entries, copied.Accounts, copied.Scores)
			return err
		},
	}
	set := cmd.Flags()
	flags.Data(set, &config.Data)
	flags.AbandonAfter(set, &config.AbandonAfter)
	flags.KeepFinished(set, &config.KeepFinished)
	flags.KeepAccounts(set, &config.KeepAccounts)
	set.StringVar(&from, "from", "", "`store` to copy, as --store of a server names it")
	set.StringVar(&to, "to", "", "empty `store` to copy to")
	flags.NameVariables(set)
	return cmd
}

// progressEvery is how often copy says how far it is.
const progressEvery = 5 * time.Second

func rebuild() *cobra.Command {
	return command(&cobra.Command{
		Use:   "rebuild",
		Short: "Derive leaderboards and lists again from the games' logs",
		Long: `Derives leaderboards and lists again from the logs of all games that are still
kept. Servers may run at the same time if the store is a Redis; a file needs its
server stopped.

Entries that no log has are removed from the leaderboards, missing ones are added,
and open games get a job in the scheduler's queue if they have none. Scores that
counted by earlier rules and do not by today's are removed, too: those of Tribolo
games with more than one human seat. Accounts that were created before
accounts expired expire from now on, after --keep-accounts. Players who are hidden stay hidden.`,
	}, server.OperateAlone, func(cmd *cobra.Command, operator *server.Operator, _ []string) error {
		r, err := operator.Rebuild(cmd.Context())
		fmt.Fprintf(cmd.OutOrStdout(), "%d games read, %d of them over; %d entries taken off the leaderboards.\n", r.Games, r.Finished, r.Pruned)
		if r.Recounted > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "%d leaderboards had a wrong count.\n", r.Recounted)
		}
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
		Long: `Hides a player, by name or id: removes the player from all leaderboards, also when
they are rebuilt, and the player's games from the public lists. The player can go
on playing, and clients that have the id of a game can watch it.`,
	}, server.Operate, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
		return told(cmd, "hidden")(operator.Hide(cmd.Context(), args[0]))
	})
}

func unhide() *cobra.Command {
	return command(&cobra.Command{
		Use:   "unhide <player>",
		Short: "Show a hidden player again",
		Long: `Shows a hidden player again, by name or id. The results of the player's games that
are still kept are put on the leaderboards.`,
	}, server.Operate, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
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

func quarantine() *cobra.Command {
	var before string
	cmd := command(&cobra.Command{
		Use:   "quarantine [game]...",
		Short: "Freeze games whose moves the store may have lost",
		Long: `Freezes unfinished games whose moves the store may have lost, for example after it
was restored from an older copy. A frozen game is reported as damaged, takes no more
moves, and is deleted after --keep-finished.

Servers that ran before and after a rollback find such games themselves. If no
server ran before it, it is not known which games lost moves: quarantine all of them
before you start the servers on the restored copy:

    gridstand-server quarantine --before now

Prints the id of each game.`,
	}, server.Operate, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
		if (before != "") == (len(args) > 0) {
			return usage.Errorf("give either the ids of games, or --before")
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
	var at time.Time // stands for now
	if text != "now" {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return usage.Errorf(`--before: %q is no time like 2026-11-20T18:00:00Z, and not "now"`, text)
		}
	}
	ids, err := operator.QuarantineBefore(cmd.Context(), at)
	for _, id := range ids {
		fmt.Fprintln(cmd.OutOrStdout(), id)
	}
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
	return errors.Join(failed...)
}
