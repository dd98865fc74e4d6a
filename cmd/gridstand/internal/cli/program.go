package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/internal/palette"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/internal/version"
)

// program is one run of the client, with its streams, environment and global flags.
type program struct {
	in  io.Reader
	out io.Writer // output of commands; messages go to err
	err io.Writer
	env []string

	store *client.Store
	state string // directory for the games of play --local
	// clock returns the time, by the server's clock once it has answered.
	clock func() time.Time
	// leaveAfter is gamestate.LeaveTime, except in tests.
	leaveAfter time.Duration
	// giveUpAfter is the constant of that name, except in tests.
	giveUpAfter time.Duration
	// terminal reports whether a stream is a terminal. width returns the number of columns,
	// or 0 for no limit.
	terminal func(stream any) bool
	width    func() int

	flags globalFlags
	// over is the SSH session that runs the program, or nil outside SSH.
	over *remote
	// fresh is set if the server is new and therefore cannot know the stored account.
	fresh bool
	// warned is set once the user has been warned about a clear-text connection.
	warned bool
	// warnings are the lines to show on the first page of the terminal program.
	warnings []string
}

// globalFlags are the flags that all commands share.
type globalFlags struct {
	server, ca, cert, key, name, theme string

	tls, json, plain bool
	noAnimation      bool
}

// newProgram returns a program that uses the streams and environment of the process.
func newProgram() *program {
	return &program{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ(),
		store: client.DefaultStore(), state: stateHome(), clock: time.Now, leaveAfter: gamestate.LeaveTime, giveUpAfter: giveUpAfter,
		terminal: func(stream any) bool {
			f, ok := stream.(*os.File)
			// Treat a dumb terminal like a file, since its cursor cannot be moved.
			return ok && term.IsTerminal(int(f.Fd())) && (f == os.Stdin || os.Getenv("TERM") != "dumb")
		},
		width: func() int {
			width, _, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0
			}
			return width
		},
	}
}

// run executes a command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.command()
	root.SetArgs(args)
	root.SetIn(p.in)
	out := usage.NewOutput(p.out)
	root.SetOut(out)
	root.SetErr(p.err)
	usage.Strict(root)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && out.Err() != nil {
		err = fmt.Errorf("output: %w", out.Err())
	}
	if err == nil {
		return exitOK
	}
	code := exitCode(ctx, err)
	if code != exitInterrupted {
		fmt.Fprintf(p.err, "%s: %s\n", name, p.explain(err))
	}
	if code == exitUsage {
		fmt.Fprintf(p.err, "Try: %s --help\n", cmd.CommandPath())
	}
	return code
}

// command returns the root command.
func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:   name,
		Short: "Play grid games in the terminal, and watch others play live",
		Long: `Play grid games in the terminal, and watch others play live.

Without a server:     ` + name + ` play --local
The daily game:       ` + name + ` daily
In another terminal:  ` + name + ` watch

On a terminal, without a command, it opens the lobby: live games, leaderboards
and your own games.

You can shorten the id of a game to its first 6 or more characters if it is
your own, one of the latest public ones, or in the daily standings of today or
yesterday.
A link to the game's page is accepted, too.

Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 3 not found or not
yet available, 130 interrupted.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.onScreen() {
				return p.lobby(cmd.Context())
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// Ignore unknown variables: they may be meant for a server.
			_, err := usage.CheckEnvironment(p.env, nil)
			if p.flags.theme != "" && !slices.Contains(themes(), p.flags.theme) {
				err = cmp.Or(err, usage.Errorf("--theme must be %s, not %.40q", strings.Join(themes(), " or "), p.flags.theme))
			}
			return err
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = version.String()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(usage.Flag)
	usage.Layout(root)
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&p.flags.server, "server", "",
		"server as `host:port`, several separated by commas, or dns:///name "+
			"(default $"+serverVariable+", or else "+client.DefaultTarget+")")
	flags.BoolVar(&p.flags.tls, "tls", false, "encrypt the connection")
	flags.StringVar(&p.flags.ca, "ca", "", "trust the certificate authorities in this PEM `file` (implies --tls)")
	flags.StringVar(&p.flags.cert, "cert", "", "client certificate, a PEM `file` (implies --tls)")
	flags.StringVar(&p.flags.key, "key", "", "private key of the client certificate, a PEM `file`")
	flags.StringVar(&p.flags.name, "name", "", "`name` of a new account, if this command needs one")
	flags.BoolVar(&p.flags.json, "json", false, "print JSON, one object per line")
	flags.BoolVar(&p.flags.noAnimation, "no-animation", false, "do not animate tiles")
	flags.BoolVar(&p.flags.plain, "plain", false, "no colors and no animations (like $NO_COLOR), and only ASCII characters")
	flags.StringVar(&p.flags.theme, "theme", "", "`look` of 2048: "+strings.Join(themes(), " or "))
	root.Flags().SortFlags = false
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Play and watch:", []*cobra.Command{
			p.dailyCommand(), p.playCommand(), p.joinCommand(), p.raceCommand(), p.challengeCommand(), p.beatCommand(), p.watchCommand(),
		}},
		{"Browse:", []*cobra.Command{
			p.gamesCommand(), p.topCommand(), p.standingsCommand(), p.variantsCommand(), p.showCommand(), p.verifyCommand(),
		}},
		{"For scripts:", []*cobra.Command{p.newCommand(), p.moveCommand(), p.resignCommand(), p.botCommand()}},
		{"For servers:", []*cobra.Command{p.sshHostCommand()}},
		{"Your account:", []*cobra.Command{p.loginCommand(), p.whoamiCommand(), p.sshKeyCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, cmd := range group.commands {
			cmd.GroupID = group.title
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(p.versionCommand(), usage.Manual())
	completeNoFiles(root)
	return root
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			if p.flags.json {
				return p.printJSON(map[string]string{"name": name, "version": version.Version, "commit": version.Commit})
			}
			return p.printf("%s %s\n", name, version.String())
		},
	}
}

// getenv returns an environment variable, or an empty string if it is unset.
func (p *program) getenv(key string) string {
	for i := len(p.env) - 1; i >= 0; i-- {
		if k, value, ok := strings.Cut(p.env[i], "="); ok && k == key {
			return value
		}
	}
	return ""
}

// plain reports whether colors are off.
func (p *program) plain() bool { return p.flags.plain || p.getenv("NO_COLOR") != "" }

// themes lists the values of --theme.
func themes() (names []string) {
	for _, t := range palette.Themes {
		names = append(names, t.Name)
	}
	return names
}

// ascii reports whether output must have only ASCII characters: with --plain, and on a terminal if the
// locale has another encoding than UTF-8.
func (p *program) ascii() bool {
	locale := strings.ToLower(cmp.Or(p.getenv("LC_ALL"), p.getenv("LC_CTYPE"), p.getenv("LANG")))
	other := locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
	return p.flags.plain || other && p.terminal(p.out)
}

// text formats output. Unlike the screen, JSON always has all characters.
func (p *program) text(format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	if !p.flags.json && p.ascii() {
		return style.ASCII(text)
	}
	return text
}

// printf writes data to standard output.
func (p *program) printf(format string, args ...any) error {
	if _, err := io.WriteString(p.out, p.text(format, args...)); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// notef writes a line to standard error.
func (p *program) notef(format string, args ...any) {
	_, _ = io.WriteString(p.err, p.text(format+"\n", args...))
}

// warnf is like notef. If the terminal program opens, it shows the line again, because its screen
// hides what was written before.
func (p *program) warnf(format string, args ...any) {
	p.notef(format, args...)
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}
