// Package cli implements the command line of gridstand-server. It reads the flags and
// runs package server.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/flags"
	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/operator"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/internal/version"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

const name = "gridstand-server"

// Main runs the program with the process's arguments and returns its exit code. A second signal ends
// the process immediately.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// run runs the program with the given arguments and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd, err := usage.Execute(ctx, rootCommand(), args, stdout, stderr)
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintf(stderr, "%s: interrupted\n", name)
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	var wrong *usage.Error
	var config *server.ConfigError
	if errors.As(err, &wrong) || errors.As(err, &config) {
		fmt.Fprintf(stderr, "Try: %s --help\n", strings.TrimSuffix(cmd.CommandPath(), " help"))
		return exitUsage
	}
	return exitFailed
}

func rootCommand() *cobra.Command {
	config := server.DefaultConfig()
	var unknown []string // unknown environment variables
	root := &cobra.Command{
		Use: name, SuggestFor: []string{"serve", "server", "start", "run"},
		Short: "Serve grid games: people play while others watch live",
		Long: `Serves grid games to terminals, browsers and programs: people play while
others watch live.

Without flags it listens on port 2048 and keeps everything in a file. Every flag
can also be set by an environment variable, such as --tls-cert by
GRIDSTAND_TLS_CERT; the flag takes precedence. "help limits" lists the flags
that limit clients. On the first SIGINT or SIGTERM the server finishes calls in
progress; a second one ends it immediately.`,

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			unknown, err = usage.CheckEnvironment(os.Environ(), cmd.Root().Flags())
			if err != nil {
				return err
			}
			return usage.ReadEnvironment(cmd.Flags(), os.Getenv)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			config.Logger = config.NewLogger()
			for _, variable := range unknown {
				config.Logger.Warn("unknown environment variable", "id", "variable-unknown", "variable", variable,
					"remedy", "correct its name, or remove it")
			}
			return server.Run(cmd.Context(), config)
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Annotations = map[string]string{"version": "--version"} // what replaces a former command
	root.Version = version.String()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(usage.Flag)
	usage.Layout(root)
	root.Flags().SortFlags = false
	flags.Add(root.Flags(), &config)
	root.AddCommand(healthcheckCommand(), limitsTopic())
	root.AddCommand(operator.Commands()...)
	return root
}

// limitsTopic returns the help topic for the flags that limit clients.
func limitsTopic() *cobra.Command {
	l := limits.Default()
	cmd := &cobra.Command{
		Use: "limits", Short: "List the flags that limit what clients can do",
		Long: `Lists the flags of the server that limit what clients can do. A refused client
is told which limit it exceeds, and when to retry. Clients behind a proxy count
separately only if --proxies lists the proxy. IPv6 addresses count by their /56
network.

These limits have no flag. One address, on each server:
  Connections    The oldest that has sent no request and no handshake of HTTP/2
                 is closed if another needs its place. A connection with a
                 refused call is closed after 100 refusals a second, with a
                 burst of 1,000.
  Reads          A new connection with up to 4 kB for its TLS handshake, a call
                 and a mistake count as one, a watch of a challenge as two, a
                 signature as 50. They use at most half of the processors, each
                 for one call that reads or for 16 that change something, and
                 wait for up to a second.
  Bots           think on at most half of the places, which are one fewer than
                 there are processors.
  Lists          A tenth of the first page of public challenges, if there are
                 others among the latest 2,000.

Each account:
  Reactions      One a second on each server.
  Access         8 SSH keys and 8 sessions in browsers.

Each connection, call or stream:
  Requests       Messages of 4 kB and headers of 16 kB. In HTTP, headers
                 arrive within 5 seconds and bodies within 10.
  Streams        2,048 streams and calls on a connection.
  Slow readers   At most 64 kB of events wait for a watcher by gRPC. A client
                 by HTTP that reads nothing for a minute is dropped.

Each server:
  Challenges     500 reads of the store a second for those that are watched.
  History        Half of the processors apply the histories of games.
  SSH keys       One signature for a new key is verified at a time.
`,
	}
	cmd.Flags().SortFlags = false
	flags.Limits(cmd.Flags(), &l)
	cmd.SetUsageTemplate("Flags:\n{{.LocalFlags.FlagUsagesWrapped 76}}") // in 80 columns, a column of 21 is beside the names
	return cmd
}
