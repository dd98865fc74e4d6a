package faulttest

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/server/app"
)

// serverVariable makes this binary a server on the Redis that its value names,
// so that tests have a server process to kill.
const serverVariable = "GRIDSTAND_FAULTTEST_SERVER"

func TestMain(m *testing.M) {
	if redis := os.Getenv(serverVariable); redis != "" {
		if err := serveProcess(redis); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// The tests wait for deadlines, due times and processes for longer than
	// they compute, whatever the number of processors. -parallel overrides it.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// serveProcess serves on a free port, which it prints, until its standard input
// ends: it does not outlive the test that started it.
func serveProcess(redis string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	config := app.DefaultConfig()
	config.Listen, config.Redis, config.LogLevel = "127.0.0.1:0", redis, slog.LevelWarn
	config.MaxMovesPerSecond = 0
	server, err := app.Start(ctx, config)
	if err != nil {
		return err
	}
	fmt.Println(server.Addr())
	return server.Wait()
}
