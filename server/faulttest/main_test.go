package faulttest

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

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

// botPace lets a game of bots alone last for some seconds.
const botPace = 15 * time.Millisecond

// quick is the configuration of every server: with clocks and bots that nobody
// has to wait for.
func quick(redis string) app.Config {
	config := app.DefaultConfig()
	config.Listen, config.Redis = "127.0.0.1:0", "redis://"+redis
	config.MaxMovesPerSecond, config.MinTurnLimit, config.BotPace = 0, time.Millisecond, botPace
	return config
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
	config := quick(redis)
	config.LogLevel = slog.LevelWarn
	server, err := app.Start(ctx, config)
	if err != nil {
		return err
	}
	fmt.Println(server.Addr())
	return server.Wait()
}
