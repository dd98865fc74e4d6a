package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/internal/version"
)

// command returns the root of all commands.
func (p *program) command() *cobra.Command {
	play := []*cobra.Command{p.playCommand(), p.challengeCommand(), p.raceCommand(), p.dailyCommand(), p.joinCommand()}
	look := []*cobra.Command{
		p.watchCommand(), p.gamesCommand(), p.showCommand(), p.topCommand(), p.verifyCommand(), p.variantsCommand(), p.accountCommand(),
	}
	scripts := []*cobra.Command{p.newCommand(), p.moveCommand(), p.resignCommand(), p.botCommand(), p.sshHostCommand(), p.versionCommand()}
	root := p.root(`Play grid games in the terminal, and watch others play live.

Without a server: `+name+` play --local (add --share to let others connect)
Without a command: the lobby, with live games, rankings and your own games

`+listed(play)+`
`+listed(look)+`
<command> --help explains a command, and help scripts lists more of them: for
scripts, bots and hosts. A challenge is named by its link or its full id; a game
also by the first 6 or more characters of its id if it is yours or recent.

Flags of every command:`, removed, slices.Concat(play, look, scripts))
	root.Version = version.String()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(scriptsTopic(scripts))
	return root
}

// root returns the root of some commands. Its annotations map words that were commands once as removed does.
func (p *program) root(long string, annotations map[string]string, commands []*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:   name,
		Short: "Play grid games in the terminal, and watch others play live",
		Long:  long,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !p.onScreen() {
				if p.getenv("TERM") == "dumb" && p.terminal(p.in) {
					p.notef("The lobby needs a terminal that can move its cursor, which TERM=dumb cannot.\n")
				}
				return cmd.Help()
			}
			return p.onServer(func(ctx context.Context, c *client.Client, _ []string) error {
				return p.showRestored(ctx, c, ui.Route{})
			})(cmd, nil)
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// Ignore unknown variables: they may be meant for a server.
			_, err := usage.CheckEnvironment(p.env, cmd.Root().Flags())
			return cmp.Or(err, usage.NoEmpty(cmd.Flags()))
		},
		SilenceErrors: true,
		SilenceUsage:  true,
		Annotations:   annotations,
	}
	root.SetFlagErrorFunc(usage.Flag)
	usage.Layout(root)
	usage.Short(root)
	p.addGlobalFlags(root)
	root.AddCommand(commands...)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	return root
}

// removed maps words that were commands once to the commands that replace them.
var removed = func() map[string]string {
	all := map[string]string{
		"login":  "account new NAME (with an account: " + name + " account import)",
		"whoami": "account", "ssh-key": "account keys",
	}
	maps.Copy(all, removedOverSSH)
	return all
}()

// listed returns a line for each command, in the order of commands.
func listed(commands []*cobra.Command) string {
	var lines strings.Builder
	for _, cmd := range commands {
		fmt.Fprintf(&lines, "  %-30s %s\n", cmd.Use, cmd.Short)
	}
	return lines.String()
}

// scriptsTopic returns the help topic about the commands that people rarely type.
func scriptsTopic(commands []*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: "scripts", Short: "List the commands for scripts, bots and hosts",
		Long: `Commands for scripts, bots and hosts:

` + listed(commands) + `  completion <shell>             Print completions: bash, fish, powershell, zsh

Without a terminal, the other commands print text: challenge and race the id and
the link, join the seat or attempt that it takes, and watch the moves. With
--json they print one object per line.

--server accepts several servers, separated by commas, and dns:///name.

Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 3 not found or not
yet available, 130 interrupted.`,
	}
	cmd.SetHelpTemplate("{{.Long}}\n")
	return cmd
}

// addGlobalFlags adds the flags that all commands share. Over SSH, the host has chosen the server.
func (p *program) addGlobalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.SortFlags = false
	if p.over == nil {
		flags.StringVar(&p.flags.server, "server", "",
			"`host:port` (default $"+serverVariable+" or "+client.DefaultTarget+")")
		flags.BoolVar(&p.flags.tls, "tls", false, "encrypt the connection")
		flags.StringVar(&p.flags.ca, "ca", "", "trust the authorities in this PEM `file` (implies --tls)")
	}
	flags.BoolVar(&p.flags.json, "json", false, "print JSON, one object per line")
	flags.BoolVar(&p.flags.noAnimation, "no-animation", false, "do not animate tiles")
	flags.BoolVar(&p.flags.plain, "plain", false, "only ASCII characters, no colors, no animations")
	root.Flags().SortFlags = false
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
