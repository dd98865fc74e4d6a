// Command load plays random games on a server, watches them, and measures both:
//
//	go run ./tools/load --players 500 --watchers 4
//	go run ./tools/load --players 1 --watchers 5000 --protocol sse --rate 5
//	go run ./tools/load --players 500 --games 100 --duration 1m --metrics http://localhost:9090/metrics
//
// It prints moves per second, the latency of moves and of their delivery to watchers, and whether
// each watcher saw every version exactly once. The exit status is 1 if not.
//
// Its accounts are bots, so their games are not ranked, and private unless --public is set. It ends its games
// before it exits. Interrupt it (Ctrl-C) to end them early, and a second time to leave them open; it
// then lists them. The accounts remain until the server deletes them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gridstand/gridstand/client"
)

// config describes a load and the server to apply it to.
type config struct {
	server        client.Config
	variant       string
	players       int
	games         int // of each player
	watchers      int // of each game
	protocol      string
	perConnection int
	rate          float64 // moves per second of all players, or 0 for as many as possible
	duration      time.Duration
	endWithin     time.Duration
	public        bool
	metrics       string // URL, or "" for none
}

// The protocols that watchers use.
const (
	overGRPC = "grpc"
	overSSE  = "sse"
)

func parse(args []string) (c config, err error) {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.StringVar(&c.server.Target, "server", client.DefaultTarget, "address of the server, or several separated by commas")
	flags.BoolVar(&c.server.TLS, "tls", false, "encrypt the connections")
	flags.StringVar(&c.server.CAFile, "ca", "", "PEM `file` of the authorities to trust; implies --tls")
	flags.StringVar(&c.variant, "variant", "6x6", "variant to play; random games of 6x6 are long")
	flags.IntVar(&c.players, "players", 100, "players, each making one move at a time")
	flags.IntVar(&c.games, "games", 1, "games of each player; one that ends is followed by another")
	flags.IntVar(&c.watchers, "watchers", 0, "watchers of each game")
	flags.StringVar(&c.protocol, "protocol", overGRPC, "how to watch: grpc, or sse, like browsers, with a connection for each watcher")
	flags.IntVar(&c.perConnection, "per-connection", 100, "players, or watchers by gRPC, that share a connection")
	flags.Float64Var(&c.rate, "rate", 0, "moves per second of all players; 0 for as many as possible")
	flags.DurationVar(&c.duration, "duration", 30*time.Second, "duration of the load")
	flags.DurationVar(&c.endWithin, "end-within", 2*time.Minute, "time limit for ending the games")
	flags.BoolVar(&c.public, "public", false, "list the games publicly")
	flags.StringVar(&c.metrics, "metrics", "", "`URL` of the server's metrics, to report its processor time and memory")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", flags.Arg(0))
	case c.players < 1 || c.games < 1 || c.perConnection < 1:
		err = errors.New("--players, --games and --per-connection must be 1 or more")
	case c.watchers < 0 || c.rate < 0:
		err = errors.New("--watchers and --rate must not be negative")
	case c.protocol != overGRPC && c.protocol != overSSE:
		err = fmt.Errorf("--protocol must be %s or %s", overGRPC, overSSE)
	}
	return c, err
}

func main() {
	c, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(2)
	}
	loading, stopLoad := context.WithCancel(context.Background())
	ending, stopEnding := context.WithCancel(context.Background())
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupts
		fmt.Fprintln(os.Stderr, "load: ending the games; interrupt again to leave them open")
		stopLoad()
		<-interrupts
		stopEnding()
	}()
	r := newRun(c)
	err = r.run(loading, ending)
	if r.began.IsZero() {
		r.printLeft(os.Stdout)
	} else {
		r.printReport(os.Stdout)
		err = errors.Join(err, r.fault())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}
