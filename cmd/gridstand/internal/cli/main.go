// Package cli implements the command line of gridstand. Each command is a thin layer on
// top of package client, which calls the server, and a screen of a package in tui, or a
// table.
package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

const name = "gridstand"

// Main runs the program with the process's arguments and returns its exit code. The first
// signal ends the command, so that it can restore the terminal; a second signal ends the
// process.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	return newProgram().run(ctx, os.Args[1:])
}
