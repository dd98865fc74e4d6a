package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// showProgress prints the progress to standard error until the returned function is called.
func (r *run) showProgress() (stop func()) {
	done := make(chan struct{})
	var showing sync.WaitGroup
	showing.Go(func() {
		ticker := time.NewTicker(2 * time.Second)
		defer ticker.Stop()
		then, moves, events := time.Now(), int64(0), int64(0)
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			m, e, seconds := r.moves.Load(), r.events.Load(), time.Since(then).Seconds()
			switch p := r.phase.Load(); {
			case p == nil:
			case p.of == 0:
				fmt.Fprintf(os.Stderr, "%s: %s moves/s, %s events/s\n", p.name, whole(float64(m-moves)/seconds), whole(float64(e-events)/seconds))
			default:
				fmt.Fprintf(os.Stderr, "%s: %d of %d\n", p.name, p.done.Load(), p.of)
			}
			then, moves, events = time.Now(), m, e
		}
	})
	return func() {
		close(done)
		showing.Wait()
	}
}

// printReport prints what was measured.
func (r *run) printReport(out io.Writer) {
	fmt.Fprintf(out, "%s, version %s: %d players, %d games of %s, %d watchers (%s); %.1f s after %.1f s of setup\n",
		cmp.Or(r.server.Target, client.DefaultTarget), r.version, len(r.players), len(r.players)*r.games, r.variant,
		len(r.players)*r.games*r.watchers, r.protocol, r.took.Seconds(), r.setup.Seconds())
	fmt.Fprintln(out, storage(r.storage))
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tcount\tper second\tp50 ms\tp90 ms\tp99 ms\tmax ms\t")
	r.printRow(table, "moves", r.movesAt, &r.move)
	r.printRow(table, "events to watchers", r.seenAt, &r.delivery)
	_ = table.Flush()
	fmt.Fprintln(out)
	if r.metrics != "" {
		r.printServer(out)
	}
	r.printConclusion(out)
	r.printErrors(out)
	r.printLeft(out)
}

func (r *run) printRow(table io.Writer, name string, n int64, l *latencies) {
	fmt.Fprintf(table, "%s\t%s\t%s", name, humanize.Comma(n), whole(float64(n)/r.took.Seconds()))
	for _, d := range []time.Duration{l.percentile(0.5), l.percentile(0.9), l.percentile(0.99), time.Duration(l.longest.Load())} {
		fmt.Fprintf(table, "\t%.2f", d.Seconds()*1000)
	}
	fmt.Fprintln(table, "\t")
}

// storage says what a server's store promises. The API does not tell a Redis that syncs every move
// from one that does not.
func storage(s pb.Storage) string {
	if s == pb.Storage_STORAGE_DURABLE {
		return "Store: outlives the server. A move is on disk before its answer, unless the store is a Redis without appendfsync always."
	}
	return "Store: memory. Everything is lost when the server ends."
}

// sample is the processor time and memory of the server at one time.
type sample struct{ cpuSeconds, residentBytes float64 }

// sample reads the server's metrics. What it cannot read is 0.
func (r *run) sample(ctx context.Context) (s sample) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.metrics, nil)
	if err != nil || r.metrics == "" {
		return s
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.fail("metrics", err)
		return s
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(response.Body)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "process_cpu_seconds_total":
			s.cpuSeconds, _ = strconv.ParseFloat(value, 64)
		case "process_resident_memory_bytes":
			s.residentBytes, _ = strconv.ParseFloat(value, 64)
		}
	}
	return s
}

func (r *run) printServer(out io.Writer) {
	used := r.after.cpuSeconds - r.before.cpuSeconds
	fmt.Fprintf(out, "Server: %.2f cores, %s µs of processor time per move with its events; %s before the load, %s after it.\n",
		used/r.took.Seconds(), whole(used/float64(max(r.movesAt, 1))*1e6),
		humanize.IBytes(uint64(r.before.residentBytes)), humanize.IBytes(uint64(r.after.residentBytes)))
}

func (r *run) printConclusion(out io.Writer) {
	line := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	if err := r.fault(); err != nil && len(r.left) == 0 {
		line("FAULTS: %v.", err)
	} else if r.watchers > 0 {
		line("No gaps, repeats or losses.")
	}
	if n := r.skipped.Load(); n > 0 {
		line("%s events skipped: slow watchers got a snapshot of the game instead.", humanize.Comma(n))
	}
	if n := r.reconnects.Load(); n > 0 {
		line("%s reconnections.", humanize.Comma(n))
	}
	// A small shortfall can be due to timers.
	if got := float64(r.movesAt) / r.took.Seconds(); r.rate > 0 && !r.interrupted && got < 0.98*r.rate {
		line("%s moves/s were requested: the server, or this program on the same machine, did not keep up.", whole(r.rate))
	}
	if r.interrupted {
		line("The load was interrupted.")
	}
}

// fault returns an error if a watcher missed an event, or if games are still open.
func (r *run) fault() error {
	watchers, events := r.unseen()
	var broken, left error
	if gaps, repeats := r.gaps.Load(), r.repeats.Load(); gaps+repeats+watchers > 0 {
		broken = fmt.Errorf("%d gaps, %d repeats; %d watchers did not see the end of their game and missed %d events", gaps, repeats, watchers, events)
	}
	if n := len(r.left); n > 0 {
		left = fmt.Errorf("%d games are still open", n)
	}
	return errors.Join(broken, left)
}

func (r *run) printErrors(out io.Writer) {
	type row struct {
		refusal
		*refused
	}
	var rows []row
	for key, e := range r.errors {
		rows = append(rows, row{key, e})
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.call+a.text, b.call+b.text))
	})
	for _, e := range rows {
		fmt.Fprintf(out, "%s × %s: %s\n", humanize.Comma(e.count), e.call, client.CleanText(e.text, 200))
	}
}

// printLeft prints what remains on the server.
func (r *run) printLeft(out io.Writer) {
	if len(r.players) == 0 {
		return
	}
	fmt.Fprintf(out, "%s games created, %s resigned at the end, %s still open. The accounts %s-0 to %s-%d remain.\n",
		humanize.Comma(r.created.Load()), humanize.Comma(r.resigned.Load()), humanize.Comma(int64(len(r.left))),
		r.accounts, r.accounts, len(r.players)-1)
	for _, game := range r.left {
		fmt.Fprintln(out, "still open:", game)
	}
}

func whole(v float64) string { return humanize.Comma(int64(v + 0.5)) }
