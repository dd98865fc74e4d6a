package operator

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/flags"
	"github.com/gridstand/gridstand/internal/syncdir"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server"
)

func dump() *cobra.Command {
	config := server.DefaultConfig()
	cmd := &cobra.Command{
		Use:   "dump <file>|-",
		Short: "Write everything in the store to a file for any kind of store",
		Long: `Writes all games, accounts, keys, challenges and settings in the store to a
compressed file, from which "restore" creates a file or fills a Redis. The new
file must not exist; - is standard output. The store is not changed.

If the store is a file, its server may be running; the file whose name ends in
-wal grows until the dump is complete. If it is a Redis, stop all servers first.

The dump contains the seeds of open games, digests of tokens, and secrets of the
servers, so only its owner can read it. It has one line of JSON for each item.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" && term.IsTerminal(int(os.Stdout.Fd())) {
				return usage.Errorf("standard output is a terminal: name a file, or redirect the output")
			}
			out, report := cmd.OutOrStdout(), cmd.ErrOrStderr()
			var dumped server.Dumped
			write := func(out io.Writer) (err error) {
				dumped, err = server.Dump(cmd.Context(), config, out, progress(cmd))
				return orSelect(err)
			}
			var err error
			if args[0] == "-" {
				err = write(out)
			} else {
				report = out
				err = createFile(args[0], func(f *os.File) error { return write(f) })
			}
			if err == nil {
				_, err = fmt.Fprintln(report, counted(dumped)+" dumped")
			}
			return err
		},
	}
	return selecting(cmd, &config)
}

func restore() *cobra.Command {
	config := server.DefaultConfig()
	var replace bool
	cmd := &cobra.Command{
		Use:   "restore <file>|-",
		Short: "Fill an empty store from a file made by dump or backup",
		Long: `Writes everything in a file made by "dump" to an empty store of any kind: a new
file, or an empty Redis. Games keep their ids and versions, and tokens stay
valid; leaderboards and lists are rebuilt. A file made by "backup" can be
restored to a file, but not to a Redis. - is standard input. Stop all servers of
the store first.

With --replace, the store may have data, which is deleted.

If players may have made moves since the file was made, freeze the open games
before you start a server:

    gridstand-server quarantine --before now

To move games from a file to a Redis, stop the server and run

    gridstand-server dump --store sqlite: - |
        gridstand-server restore --store redis://localhost:6379/0 -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in := cmd.InOrStdin()
			if args[0] == "-" && term.IsTerminal(int(os.Stdin.Fd())) {
				return usage.Errorf("standard input is a terminal: name a file, or redirect the input")
			}
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer func() { _ = f.Close() }()
				in = f
			}
			restored, err := server.Restore(cmd.Context(), config, in, replace, progress(cmd))
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), counted(restored)+" restored")
				fmt.Fprintln(cmd.ErrOrStderr(), `if players moved since the file was made, run "gridstand-server quarantine --before now", `+
					"with the same --data or --store, before you start a server")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "delete the data that the store has")
	flags.Retention(cmd.Flags(), &config)
	return selecting(cmd, &config)
}

// progress returns a function that prints the counts to standard error from time to time.
func progress(cmd *cobra.Command) func(server.Dumped) {
	const every = 5 * time.Second
	last := time.Now()
	return func(d server.Dumped) {
		if time.Since(last) > every {
			last = time.Now()
			fmt.Fprintln(cmd.ErrOrStderr(), counted(d)+" so far")
		}
	}
}

// counted says what was dumped or restored. Of a file made by backup, only the games are counted.
func counted(d server.Dumped) string {
	if d == (server.Dumped{Games: d.Games}) {
		return english.Plural(d.Games, "game", "")
	}
	return fmt.Sprintf("%s with %s, %s and %s", english.Plural(d.Games, "game", ""), english.Plural(d.Entries, "entry", "entries"),
		english.Plural(d.Accounts, "account", ""), english.Plural(d.Challenges, "challenge", ""))
}

// createFile creates a file that only its owner can read, and calls write with it. The file
// is synced to disk, and gets its name once it is complete.
func createFile(name string, write func(*os.File) error) error {
	if info, err := os.Lstat(name); !errors.Is(err, os.ErrNotExist) {
		switch {
		case err == nil && info.IsDir():
			err = errors.New("it is a directory; add a file name")
		case err == nil:
			err = os.ErrExist
		}
		return fmt.Errorf("writing %s: %w", name, err)
	}
	// Remove what killed commands have left: any of this name, and files of other names that have not changed for
	// a day. A command that still runs fails, because its file is gone.
	directory, base := filepath.Dir(name), filepath.Base(name)
	files, _ := os.ReadDir(directory) // MkdirTemp reports the error.
	for _, file := range files {
		target, random, ok := strings.Cut(file.Name(), ".partial-")
		info, err := os.Lstat(filepath.Join(directory, file.Name(), target))
		old := err == nil && time.Since(info.ModTime()) > 24*time.Hour
		if ok && strings.Trim(random, "0123456789") == "" && (old || target == base) {
			_ = os.RemoveAll(filepath.Join(directory, file.Name()))
		}
	}
	partial, err := os.MkdirTemp(directory, base+".partial-*") // SQLite writes a journal next to the file.
	if err != nil {
		if reason, ok := errors.AsType[*fs.PathError](err); ok {
			err = reason.Err // without the temporary name
		}
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer func() { _ = os.RemoveAll(partial) }()
	f, err := os.OpenFile(filepath.Join(partial, filepath.Base(name)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	if err := syncdir.Sync(filepath.Dir(name)); err != nil {
		_ = os.Remove(name) // a caller that sees an error assumes that there is no file
		return err
	}
	return nil
}
