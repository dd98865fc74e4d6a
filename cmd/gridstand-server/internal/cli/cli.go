// Package cli is the command line of gridstand-server: it reads flags and runs
// package server.
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
	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/help"
	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/operator"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/internal/version"
	"github.com/gridstand/gridstand/server"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

const name = "gridstand-server"

// Once, since cobra keeps the functions of templates in a global map.
func init() { cobra.AddTemplateFunc("flagHelp", help.Flags) }

// Main runs the program with the process's arguments and returns its exit code.
func Main() int {
	ctx, stop := stopSignals()
	defer stop()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// stopSignals returns a context that ends with the first SIGINT or SIGTERM. A
// second one ends the process at once.
func stopSignals() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(os.Stderr, name+": stopped at once")
		os.Exit(exitInterrupted)
	}()
	return ctx, cancel
}

// run is the program without its process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd := rootCommand()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	usage.Strict(cmd)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	var wrong *usage.Error
	var config *server.ConfigError
	if errors.As(err, &wrong) || errors.As(err, &config) {
		return exitUsage
	}
	return exitFailed
}

func rootCommand() *cobra.Command {
	config := server.DefaultConfig()
	var unknown []string // variables of the environment
	root := &cobra.Command{
		Use:   name,
		Short: "Serve grid games: people play in their terminals while others watch live",
		Long: `Serves grid games over gRPC: people play in their terminals while others
watch live.

Without flags it listens on port 2048 and keeps everything in a file.
Every flag can also be set by the environment variable next to it; the flag takes
precedence. On the first SIGINT or SIGTERM the server finishes calls in progress; a
second one ends it at once.`,

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			unknown, err = usage.CheckEnvironment(name, os.Environ(), flags.Variables(cmd.Root().Flags()))
			if err != nil {
				return err
			}
			return flags.ReadEnvironment(cmd.Flags(), os.LookupEnv)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			config.Logger = config.NewLogger()
			for _, variable := range unknown {
				config.Logger.Warn("no flag has this variable", "id", "variable-unknown", "variable", variable)
			}
			return server.Run(cmd.Context(), config)
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = version.String()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(usage.Flag)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".LocalFlags.FlagUsages", ".LocalFlags | flagHelp"))
	root.Flags().SortFlags = false
	flags.Add(root.Flags(), &config)
	root.AddCommand(healthcheckCommand(), versionCommand())
	root.AddCommand(operator.Commands()...)
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), name, version.String())
			return err
		},
	}
}
