package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// run is one load on a server.
type run struct {
	config
	tally

	accounts string // name prefix of the accounts
	version  string
	storage  pb.Storage
	seats    int // of the variant
	pace     *rate.Limiter
	phase    atomic.Pointer[phase]

	players  []*player
	playing  []*client.Client // the players' connections
	viewing  []*client.Client // the connections of watchers by gRPC
	origins  []origin         // the servers, for watchers by SSE
	next     atomic.Int64     // counts watchers, to spread them over connections
	opening  chan struct{}    // semaphore for streams that are being opened
	watching sync.WaitGroup

	began           time.Time // start of the load, or zero
	took, setup     time.Duration
	interrupted     bool
	before, after   sample
	movesAt, seenAt int64 // moves and events when the load stopped
}

// origin is a server that is reached by HTTP.
type origin struct {
	url    string
	client *http.Client
}

const (
	// atOnce is the maximum number of accounts or games to create or end concurrently.
	atOnce = 64
	// openingAtOnce is the maximum number of streams that are opened concurrently.
	openingAtOnce = 256
)

func newRun(c config) *run {
	r := &run{config: c, accounts: "load-" + client.NewSecret()[:8], opening: make(chan struct{}, openingAtOnce)}
	r.pace = rate.NewLimiter(rate.Inf, 1)
	if c.rate > 0 {
		r.pace.SetLimit(rate.Limit(c.rate))
	}
	return r
}

// run puts the server under load until the duration has passed or loading is done. It then ends the
// games, until ending is done or the time limit has passed. It returns an error if the load could not
// start.
func (r *run) run(loading, ending context.Context) error {
	defer r.close()
	defer r.showProgress()()
	if err := r.connect(loading); err != nil {
		return err
	}
	calls, cancelCalls := context.WithCancel(ending)
	defer cancelCalls()
	watching, stopWatching := context.WithCancel(ending)
	defer stopWatching()
	began := time.Now()
	err := r.prepare(loading, calls, watching)
	if err == nil {
		r.setup = time.Since(began)
		r.before = r.sample(loading)
		r.load(loading, calls, watching, cancelCalls)
		r.after = r.sample(ending)
	}
	r.interrupted = loading.Err() != nil
	r.end(ending, stopWatching)
	return err
}

// connect opens the connections, and reads the server's version and the variant's seats.
func (r *run) connect(ctx context.Context) error {
	dial := func(n int) (all []*client.Client, err error) {
		for range (n + r.perConnection - 1) / r.perConnection {
			c, err := client.Dial(r.server)
			if err != nil {
				return all, err
			}
			all = append(all, c)
		}
		return all, nil
	}
	var err error
	if r.playing, err = dial(r.config.players); err != nil {
		return err
	}
	if r.protocol == overGRPC {
		r.viewing, err = dial(r.config.players * r.games * r.watchers)
	} else {
		err = r.findOrigins()
	}
	if err != nil {
		return err
	}
	info, err := r.playing[0].Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{})
	if err != nil {
		return err
	}
	r.version, r.storage = client.CleanText(info.GetVersion(), 80), info.GetStorage()
	variants, err := r.playing[0].Games.ListVariants(ctx, &pb.ListVariantsRequest{})
	if err != nil {
		return err
	}
	for _, v := range variants.GetVariants() {
		if v.GetId() == r.variant {
			r.seats = int(v.GetSeats())
			return nil
		}
	}
	return fmt.Errorf("there is no variant %q on this server", r.variant)
}

// findOrigins lists the servers' origins. Each stream of Server-Sent Events has its own connection, as
// in browsers, which use HTTP/1.1 if the server does not offer more.
func (r *run) findOrigins() error {
	target, err := client.NormalTarget(r.server.Target)
	if err != nil {
		return err
	}
	scheme, trust := "http://", &tls.Config{}
	if r.server.TLS || r.server.CAFile != "" {
		scheme = "https://"
	}
	if r.server.CAFile != "" {
		trusted, err := os.ReadFile(r.server.CAFile)
		if err != nil {
			return err
		}
		trust.RootCAs = x509.NewCertPool()
		trust.RootCAs.AppendCertsFromPEM(trusted) // The connections for calls have refused a file without certificates.
	}
	for address := range strings.SplitSeq(strings.TrimPrefix(target, "dns:///"), ",") {
		r.origins = append(r.origins, origin{scheme + address, &http.Client{Transport: &http.Transport{TLSClientConfig: trust}}})
	}
	return nil
}

func (r *run) close() {
	for _, all := range [][]*client.Client{r.playing, r.viewing} {
		for _, c := range all {
			_ = c.Close()
		}
	}
	for _, o := range r.origins {
		o.client.CloseIdleConnections()
	}
}

// prepare creates the accounts and games, and starts the watchers.
func (r *run) prepare(ctx, calls, watching context.Context) error {
	for i := range r.config.players {
		c := r.playing[i/r.perConnection]
		r.players = append(r.players, &player{run: r, number: i, client: c, places: make([]place, r.games)})
	}
	err := r.each(ctx, "accounts", len(r.players), func(i int) error { return r.players[i].register(calls) })
	if err != nil {
		return err
	}
	return r.each(ctx, "games", len(r.players)*r.games, func(i int) error {
		place := &r.players[i%len(r.players)].places[i/len(r.players)]
		if place.game == nil {
			if err := r.players[i%len(r.players)].create(calls, place); err != nil {
				return err
			}
			r.watch(watching, place.game)
		}
		place.game.attaching.Wait()
		return place.game.unwatched
	})
}

// each calls do n times, with limited concurrency. It repeats calls that the server asks to repeat
// later, until ctx is done.
func (r *run) each(ctx context.Context, name string, n int, do func(int) error) error {
	done := r.begin(name, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			defer done.Add(1)
			for ctx.Err() == nil {
				err := do(i)
				if err == nil || !errors.Is(err, client.ErrRateLimited) && !errors.Is(err, client.ErrUnsettled) {
					return err
				}
				pause(ctx, err)
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// load runs the players.
func (r *run) load(ctx, calls, watching context.Context, cancelCalls func()) {
	stop, cancel := context.WithTimeout(ctx, r.duration)
	defer cancel()
	r.began = time.Now()
	r.begin("load", 0)
	var playing sync.WaitGroup
	for _, p := range r.players {
		playing.Go(func() { p.play(stop, calls, watching) })
	}
	<-stop.Done()
	r.took, r.movesAt, r.seenAt = time.Since(r.began), r.moves.Load(), r.events.Load()
	late := time.AfterFunc(r.endWithin, cancelCalls)
	defer late.Stop()
	playing.Wait()
}

// end ends the games and waits until the watchers have seen that. It gives up after the time limit.
func (r *run) end(ctx context.Context, stopWatching func()) {
	ctx, cancel := context.WithTimeout(ctx, r.endWithin)
	defer cancel()
	done := r.begin("ended games", len(r.players)*r.games)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, p := range r.players {
		for i := range p.places {
			group.Go(func() error {
				p.end(ctx, &p.places[i])
				done.Add(1)
				return nil
			})
		}
	}
	_ = group.Wait()
	late := context.AfterFunc(ctx, stopWatching)
	defer late()
	r.watching.Wait()
}

// phase is a phase of a run, and its progress.
type phase struct {
	name string
	of   int
	done atomic.Int64
}

// begin starts a phase with a number of steps, and returns the counter of completed ones.
func (r *run) begin(name string, of int) *atomic.Int64 {
	p := &phase{name: name, of: of}
	r.phase.Store(p)
	return &p.done
}
