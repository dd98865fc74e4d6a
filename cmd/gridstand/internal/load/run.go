package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// atOnce is the maximum number of accounts or games to create or end concurrently.
const atOnce = 64

// run holds the state of Run.
type run struct {
	Config
	tally

	began    time.Time
	accounts string // name prefix of the accounts
	seats    int    // number of seats in the variant
	pace     *rate.Limiter
	phase    atomic.Pointer[phase]

	clients  []*client.Client // one per player connection
	links    []*link          // one per watcher connection
	players  []*player
	opening  chan struct{} // semaphore that limits the streams being opened
	watching sync.WaitGroup
}

// Run puts a server under load and measures it. If ctx is done, it stops early and reports
// what it has measured so far. It always ends its games before it returns. It returns an
// error if there was no load: a *ConfigError, an error from the server, or ctx.Err().
func Run(ctx context.Context, config Config) (*Report, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	r := &run{
		Config: config, began: time.Now(), accounts: "bench-" + client.NewSecret()[:8],
		tally: tally{move: newLatencies(), delivery: newLatencies(), errors: map[refusal]*ErrorCount{}},
		pace:  rate.NewLimiter(rate.Inf, 1), opening: make(chan struct{}, opening),
	}
	if config.Rate > 0 {
		r.pace.SetLimit(rate.Limit(config.Rate))
	}
	defer r.close()
	defer r.reportProgress()()

	report := &Report{
		Variant: r.Variant, Games: r.Games, Players: r.Players, Watchers: r.watchers(),
		Connections: r.Connections, Rate: r.Rate, Accounts: r.accounts,
	}
	if err := r.connect(ctx, report); err != nil {
		return nil, err
	}
	if r.Metrics != "" {
		before, err := sample(ctx, r.Metrics)
		if err != nil {
			return nil, err
		}
		report.Metrics = &Metrics{Before: before}
	}

	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	err := r.prepare(ctx, watching)
	if err == nil {
		report.SetupSeconds = r.now().Seconds()
		r.addSample(ctx, report.Metrics, func(m *Metrics) *Sample { return &m.Ready })
		r.load(ctx, report)
		r.addSample(context.WithoutCancel(ctx), report.Metrics, func(m *Metrics) *Sample { return &m.After })
	}
	r.takeDown(context.WithoutCancel(ctx), stop)
	if err != nil {
		return nil, err
	}
	report.Interrupted = ctx.Err() != nil
	r.count(report)
	return report, nil
}

// now returns the time since the run started.
func (r *run) now() time.Duration { return time.Since(r.began) }

// addSample takes a sample during the run. It ignores errors, because a missing sample
// should not end the run.
func (r *run) addSample(ctx context.Context, m *Metrics, which func(*Metrics) *Sample) {
	if m == nil {
		return
	}
	if s, err := sample(ctx, r.Metrics); err == nil {
		*which(m) = s
	}
}

// connect connects to the server, reads its version and variants, and checks whether its
// limits allow the load.
func (r *run) connect(ctx context.Context, report *Report) error {
	server := r.Server
	server.Token = ""
	for range r.playerConnections() {
		c, err := client.Dial(server)
		if err != nil {
			return &ConfigError{err.Error()}
		}
		r.clients = append(r.clients, c)
	}
	endpoints, err := server.Endpoints(ctx)
	if err != nil {
		return &ConfigError{err.Error()}
	}
	for i := range r.Connections - r.playerConnections() {
		r.links = append(r.links, &link{
			run: r, endpoints: slices.Concat(endpoints[i%len(endpoints):], endpoints[:i%len(endpoints)]),
			streams: r.watchersPerConnection(), connecting: make(chan struct{}, 1),
		})
	}
	first := r.clients[0]
	info, err := first.Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{})
	if err != nil {
		return err
	}
	variants, err := first.Games.ListVariants(ctx, &pb.ListVariantsRequest{})
	if err != nil {
		return err
	}
	for _, v := range variants.GetVariants() {
		if v.GetId() == r.Variant {
			r.seats = int(v.GetSeats())
		}
	}
	if r.seats == 0 {
		return wrong("there is no variant %q on this server", r.Variant)
	}
	report.Server, report.Version = first.Target(), client.CleanText(info.GetVersion(), 40)
	report.Storage = "memory"
	if info.GetStorage() == pb.Storage_STORAGE_DURABLE {
		report.Storage = "durable"
	}
	return r.fits(info.GetLimits())
}

func (r *run) close() {
	for _, l := range r.links {
		l.close()
	}
	for _, c := range r.clients {
		_ = c.Close()
	}
}

// prepare creates accounts and games, and starts the watchers.
func (r *run) prepare(ctx, watching context.Context) error {
	for i := range r.Players {
		r.players = append(r.players, &player{run: r, number: i, client: r.clients[i*len(r.clients)/r.Players]})
	}
	err := r.each(ctx, "accounts", r.Players, func(ctx context.Context, i int) error { return r.players[i].register(ctx) })
	if err != nil {
		return err
	}
	var tables []*table
	for i := range r.Games {
		p := r.players[i%r.Players]
		tables = append(tables, newTable())
		p.tables = append(p.tables, tables[i])
	}
	err = r.each(ctx, "games", r.Games, func(ctx context.Context, i int) error {
		return r.players[i%r.Players].begin(ctx, tables[i])
	})
	if err != nil {
		return err
	}
	return r.startWatchers(ctx, watching, tables)
}

// each calls do n times, with limited concurrency, and retries calls that are
// rate-limited.
func (r *run) each(ctx context.Context, name string, n int, do func(context.Context, int) error) error {
	done := r.counted(name, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			for {
				err := do(ctx, i)
				if errors.Is(err, client.ErrRateLimited) && pause(ctx, err) {
					continue
				}
				done.Add(1)
				return err
			}
		})
	}
	return group.Wait()
}

// startWatchers starts the watchers and returns once each of them sees its game.
func (r *run) startWatchers(ctx, watching context.Context, tables []*table) error {
	n := r.watchers()
	attached := make(chan error, n)
	for i := range n {
		t := tables[0] // the table that the crowd watches
		if i < n-r.Crowd {
			t = tables[i%len(tables)]
		}
		w := &watcher{run: r, table: t, link: r.links[i*len(r.links)/n]}
		var once sync.Once
		r.watching.Go(func() { w.watch(watching, func(err error) { once.Do(func() { attached <- err }) }) })
	}
	done := r.counted("watchers", n)
	for range n {
		select {
		case err := <-attached:
			if err != nil {
				return err
			}
			done.Add(1)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// load runs the players for Duration or until ctx is done.
func (r *run) load(ctx context.Context, report *Report) {
	stop, cancel := context.WithTimeout(ctx, r.Duration)
	defer cancel()
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	began := time.Now()
	since := func() time.Duration { return time.Since(began) }
	r.phase.Store(&phase{
		name: "load", of: int(r.Duration.Seconds()), load: true,
		done: func() int { return int(min(since(), r.Duration).Seconds()) },
	})
	var players sync.WaitGroup
	for _, p := range r.players {
		players.Go(func() { p.play(stop, calls) })
	}
	<-stop.Done()
	report.Seconds = since().Seconds()
	report.MovesPerSecond = float64(r.moves.Load()) / report.Seconds
	report.EventsPerSecond = float64(r.events.Load()) / report.Seconds
	late := time.AfterFunc(r.EndTimeout, cancel)
	defer late.Stop()
	players.Wait()
}

// takeDown ends the games and waits until the watchers have seen them end.
func (r *run) takeDown(ctx context.Context, stop func()) {
	ending, cancel := context.WithTimeout(ctx, r.EndTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(atOnce)
	done := r.counted("ending games", r.Games)
	for _, p := range r.players {
		for _, t := range p.tables {
			group.Go(func() error {
				p.resign(ending, t)
				t.close()
				done.Add(1)
				return nil
			})
		}
	}
	_ = group.Wait()
	late := time.AfterFunc(r.EndTimeout, stop)
	defer late.Stop()
	r.watching.Wait()
}

// count copies the counters into the report.
func (r *run) count(report *Report) {
	report.Moves, report.Events, report.Played = r.moves.Load(), r.events.Load(), r.games.Load()
	report.Gaps, report.Repeats = r.gaps.Load(), r.repeats.Load()
	report.Skipped, report.Reconnects = r.skipped.Load(), r.reconnects.Load()
	report.Resigned, report.Left = r.resigned.Load(), r.left.Load()
	report.Move, report.Delivery = r.move.sum(), r.delivery.sum()
	report.Errors, report.Unfinished = r.errorCounts(), len(r.shorts)
	for _, s := range r.shorts {
		if s.seen > 0 {
			report.Lost += int64(max(0, s.game.known.GetVersion()-s.seen))
		}
	}
}
