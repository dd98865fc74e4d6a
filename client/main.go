// Command gridstand plays grid games in the terminal, and watches others play,
// live. Each command is a thin layer over client/session (the server), and
// client/tui (the screens) or a table.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

const name = "gridstand"

func main() {
	// The first signal ends what is under way, so that the terminal is left as
	// it was; the next one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	code := newProgram().run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
