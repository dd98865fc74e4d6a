package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/load"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
)

func (p *program) benchCommand() *cobra.Command {
	c := load.Config{Variant: "6x6", Games: 100, Watchers: 4, Duration: 30 * time.Second}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how much load a server handles",
		Long: `Put a server under load and measure it: play random games, watch them, and
report the latency of moves and of deliveries to watchers, and whether each
watcher saw every version exactly once. If not, the exit code is 1.

The games are private and unranked and end with the load; Ctrl-C ends it early.
The accounts that it creates remain until they expire (see --keep-accounts of
the server). If a limit of the server refuses something, the report names the
flag that raises the limit. To measure the server's memory too, start it with
--metrics and pass that address here:

  ` + name + ` bench --games 500 --metrics http://localhost:9090/metrics
  ` + name + ` bench --games 1 --watchers 0 --crowd 20000 --rate 5
  ` + name + ` bench --games 1 --watchers 0 --crowd 999 --connections 1000 --rate 5
  ` + name + ` bench --games 1 --watchers 0 --crowd 1000 --sse --rate 5
  ` + name + ` bench --games 1000 --players 200 --rate 2000 --json`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.bench(cmd.Context(), c)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&c.Games, "games", c.Games, "concurrent games; one that ends is followed by another")
	flags.IntVar(&c.Players, "players", 0, "accounts that share the games, each making one move at a time (default: one for each game)")
	flags.IntVar(&c.Watchers, "watchers", c.Watchers, "watchers of each game")
	flags.IntVar(&c.Crowd, "crowd", 0, "additional watchers of one of the games")
	flags.Float64Var(&c.Rate, "rate", 0, "total moves per second of all players; 0 for as many as possible")
	flags.DurationVar(&c.Duration, "duration", c.Duration, "duration of the load")
	flags.StringVar(&c.Variant, "variant", c.Variant, "variant to play; random games of 6x6 are long")
	flags.IntVar(&c.Connections, "connections", 0, "connections, divided between players and watchers (default: one for every 250 of them)")
	flags.BoolVar(&c.EveryEvent, "every-event", false, "do not let slow watchers skip events")
	flags.BoolVar(&c.Events, "sse", false, "watch as browsers do: with Server-Sent Events, and one connection for each watcher")
	flags.BoolVar(&c.Public, "public", false, "list the games publicly")
	flags.StringVar(&c.Metrics, "metrics", "", "`URL` of the server's metrics, to report its memory before, during and after the load")
	completeFlag(cmd, "variant", p.completeVariants)
	return cmd
}

// bench runs a load test and prints its report.
func (p *program) bench(ctx context.Context, c load.Config) error {
	c.Server = p.clientConfig()
	c.Progress = func(now load.Progress) {
		what := now.Phase
		if now.EventsPerSecond > 0 || now.MovesPerSecond > 0 {
			what = fmt.Sprintf("seconds, %s moves/s, %s events/s", whole(now.MovesPerSecond), whole(now.EventsPerSecond))
		}
		p.progress(now.Done, now.Of, what)
	}
	r, err := load.Run(ctx, c)
	p.progress(0, 0, "")
	var config *load.ConfigError
	switch {
	case errors.As(err, &config):
		return usage.Wrap(err)
	case err != nil:
		return err
	}
	if p.flags.json {
		err = p.printJSON(r)
	} else {
		err = p.printReport(r)
	}
	return cmp.Or(err, r.Err(), ctx.Err())
}

// printReport prints a report as tables and a conclusion.
func (p *program) printReport(r *load.Report) error {
	err := p.printf("%s, version %s, storage %s\n%s: %s, %s, %s, %s, %.1f s after %.1f s of preparation\n\n",
		r.Server, r.Version, r.Storage, r.Variant, describe.Plural(r.Games, "game"), describe.Plural(r.Players, "player"),
		describe.Plural(r.Watchers, "watcher"), describe.Plural(r.Connections, "connection"), r.Seconds, r.SetupSeconds)
	if err != nil {
		return err
	}
	err = p.printTable([]column{
		{title: ""},
		{title: "COUNT", right: true},
		{title: "PER SECOND", right: true},
		{title: "P50 MS", right: true},
		{title: "P90 MS", right: true},
		{title: "P99 MS", right: true},
		{title: "MAX MS", right: true},
	}, [][]string{
		latencyRow("moves", r.Moves, r.MovesPerSecond, r.Move),
		latencyRow("deliveries", r.Events, r.EventsPerSecond, r.Delivery),
	})
	if err != nil {
		return err
	}
	if err := p.printMetrics(r.Metrics); err != nil {
		return err
	}
	if err := p.printErrors(r.Errors); err != nil {
		return err
	}
	return p.printf("\n%s", conclusion(r))
}

func latencyRow(name string, n int64, perSecond float64, l load.Latency) []string {
	row := []string{name, humanize.Comma(n), whole(perSecond)}
	for _, ms := range []float64{l.P50, l.P90, l.P99, l.Max} {
		text := notKnown
		if l.Count > 0 {
			text = strconv.FormatFloat(ms, 'f', 2, 64)
		}
		row = append(row, text)
	}
	return row
}

// notKnown is shown in place of a value that was not measured.
const notKnown = "n/a"

// printMetrics writes the server's metrics.
func (p *program) printMetrics(m *load.Metrics) error {
	if m == nil {
		return p.printf("\nSERVER  %s (set --metrics to its address)\n", notKnown)
	}
	row := func(name string, of func(load.Sample) *float64, format func(float64) string) []string {
		cells := []string{name}
		for _, s := range []load.Sample{m.Before, m.Ready, m.After} {
			text := notKnown
			if v := of(s); v != nil {
				text = format(*v)
			}
			cells = append(cells, text)
		}
		return cells
	}
	bytes := func(v float64) string { return humanize.IBytes(uint64(max(0, v))) }
	if err := p.printf("\n"); err != nil {
		return err
	}
	return p.printTable([]column{
		{title: "SERVER"},
		{title: "BEFORE", right: true},
		{title: "READY", right: true},
		{title: "AFTER", right: true},
	}, [][]string{
		row("resident memory", func(s load.Sample) *float64 { return s.ResidentBytes }, bytes),
		row("heap", func(s load.Sample) *float64 { return s.HeapBytes }, bytes),
		row("goroutines", func(s load.Sample) *float64 { return s.Goroutines }, whole),
		row("CPU seconds", func(s load.Sample) *float64 { return s.CPUSeconds }, func(v float64) string { return fmt.Sprintf("%.1f", v) }),
		row("games", func(s load.Sample) *float64 { return s.Games }, whole),
		row("watchers", func(s load.Sample) *float64 { return s.Watchers }, whole),
	})
}

// printErrors prints a table of the errors. Each row ends with advice or, if there is no
// advice, with the server's message.
func (p *program) printErrors(all []load.ErrorCount) error {
	if len(all) == 0 {
		return nil
	}
	var rows [][]string
	for _, e := range all {
		rows = append(rows, []string{
			e.Call, cmp.Or(clean(e.Reason, 40), e.Code), humanize.Comma(e.Count), clean(cmp.Or(e.Advice, e.Message), maxReason),
		})
	}
	if err := p.printf("\n"); err != nil {
		return err
	}
	return p.printTable([]column{
		{title: "REFUSED"}, {title: "WHY"}, {title: "TIMES", right: true}, {title: ""},
	}, rows)
}

// maxReason is the maximum length of the advice or message in a row of errors.
const maxReason = 200

// conclusion returns the summary to print below the tables.
func conclusion(r *load.Report) string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	switch {
	case r.Broken():
		line("FAULTS: %s, %s, %s lost, %s not watched to the end.",
			describe.Plural(r.Gaps, "gap"), describe.Plural(r.Repeats, "repeat"), describe.Plural(r.Lost, "event"), describe.Plural(r.Unfinished, "game"))
	case r.Watchers > 0:
		line("No gaps, repeats or losses: %s.", describe.Plural(r.Watchers, "watcher"))
	}
	if r.Skipped > 0 {
		line("%s skipped: slow watchers received a snapshot of the game instead (never with --every-event).", describe.Plural(r.Skipped, "event"))
	}
	if r.Reconnects > 0 {
		line("%s reconnected.", describe.Plural(r.Reconnects, "stream"))
	}
	// Ignore a small shortfall, which can be due to timer inaccuracy.
	if r.Rate > 0 && !r.Interrupted && r.MovesPerSecond < 0.98*r.Rate {
		line("%s moves/s were requested: the server, or this program on the same machine, did not keep up.", whole(r.Rate))
	}
	if r.Interrupted {
		line("The run was interrupted.")
	}
	line("%s played; resigned at the end: %s.", describe.Plural(r.Played, "game"), humanize.Comma(r.Resigned))
	if r.Left > 0 {
		line("%s could not be resigned and are still open.", describe.Plural(r.Left, "game"))
	}
	line("%s named %s-… remain on the server.", describe.Plural(r.Players, "account"), r.Accounts)
	return text.String()
}

func whole(v float64) string { return humanize.Commaf(float64(int64(v + 0.5))) }
