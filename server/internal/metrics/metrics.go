// Package metrics counts and times what a server does, for Prometheus. GET /metrics
// lists the names and what each means.
package metrics

import (
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/game/replay"
)

// latency is the buckets for durations from a tenth of a millisecond, a move with
// Redis close by, to ten seconds, the timeout of calls.
var latency = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// Metrics are those of one server. All methods may be called concurrently, and
// none of them blocks.
type Metrics struct {
	registry *prometheus.Registry
	grpc     *grpcprom.ServerMetrics

	created, finished, moves *prometheus.CounterVec
	recorded                 *prometheus.CounterVec
	delivered                prometheus.Counter
	conflicts, conflations   prometheus.Counter
	fanOut                   prometheus.Histogram
	storageErrors            *prometheus.CounterVec
	hostCalls                *prometheus.CounterVec
	storageUp                prometheus.Gauge
	refused                  prometheus.Counter
	refusals                 *prometheus.CounterVec
}

// New makes the metrics of a server of the given version and commit.
func New(version, commit string) *Metrics {
	registry := prometheus.NewRegistry()
	with := promauto.With(registry)
	counter := func(name, help string) prometheus.Counter {
		return with.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return with.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry: registry,
		grpc:     grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram(grpcprom.WithHistogramBuckets(latency))),
		created: counters("gridstand_games_created_total",
			"Games that were created on this server.", "variant"),
		finished: counters("gridstand_games_finished_total",
			"Games that ended on this server, by reason.", "variant", "reason"),
		moves: counters("gridstand_moves_total",
			"Moves that this server appended. How long they took is grpc_server_handling_seconds of Move.", "variant"),
		recorded: counters("gridstand_results_recorded_total",
			"Finished games that this server recorded on the leaderboard and in the lists, ranked or not, including repeats.", "variant"),
		delivered: counter("gridstand_events_delivered_total",
			"Events that this server sent to watchers: each event counts once for each watcher at the time. Watchers who replay the past, or fall behind and get a snapshot, are not counted separately."),
		conflicts: counter("gridstand_append_conflicts_total",
			"Appends that failed because another server appended first."),
		conflations: counter("gridstand_conflations_total",
			"Times that a watcher who had fallen behind got a snapshot instead of the events it covers."),
		storageErrors: counters("gridstand_redis_errors_total",
			"Errors of the store (a file or a Redis) that reached a caller, by kind.", "kind"),
		hostCalls: counters("gridstand_ssh_host_calls_total",
			"Calls that SSH hosts made for players, by the name of their credential.", "credential"),
		refused: counter("gridstand_connections_refused_total",
			"Connections that were closed because their address had or opened too many, or left too much data unread."),
		refusals: counters("gridstand_refusals_total",
			"Connections that were closed, and streams and calls that were refused, by reason: wrong_token, wrong_credential, or the limit that was exceeded. The log names some of their addresses.", "reason"),
		fanOut: with.NewHistogram(prometheus.HistogramOpts{
			Name: "gridstand_fan_out_lag_seconds", Help: "Time from the arrival of an event at this server to its sending to a watcher, for one delivery in 16 drawn at random.",
			Buckets: latency,
		}),
		storageUp: with.NewGauge(prometheus.GaugeOpts{
			Name: "gridstand_redis_up", Help: "Whether the store (a file or a Redis) answered the last check.",
		}),
	}
	with.NewGauge(prometheus.GaugeOpts{
		Name: "gridstand_build_info", Help: "What is running; the value is 1.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "go": runtime.Version()},
	}).Set(1)
	registry.MustRegister(m.grpc, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Live adds gauges for the games in memory and their watchers, which call the given
// functions whenever they are read. It is called once.
func (m *Metrics) Live(games, watchers func() int) {
	m.gauge("gridstand_games_live", "Games in the memory of this server because they are being played or watched.", games)
	m.gauge("gridstand_watchers", "Watchers that this server serves, without players of the games and previews.", watchers)
}

// Connections adds a gauge for the open connections, likewise. It is called once.
func (m *Metrics) Connections(open func() int) {
	m.gauge("gridstand_connections", "Connections that are open to this server.", open)
}

// Streams adds gauges for the open streams, and for those that still wait for their
// request, likewise. It is called once.
func (m *Metrics) Streams(count func() (open, waiting int)) {
	m.gauge("gridstand_streams", "Open streams of every kind, including in-flight calls.", func() int {
		open, _ := count()
		return open
	})
	m.gauge("gridstand_streams_incomplete", "Open streams whose request has not arrived yet.", func() int {
		_, waiting := count()
		return waiting
	})
}

func (m *Metrics) gauge(name, help string, value func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
}

// Handler answers with the metrics in Prometheus's text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(prometheus.GathererFunc(m.gather), promhttp.HandlerOpts{})
}

// gather leaves out the counts of messages: Stream does not count those of
// streams, and a unary call has one of each.
func (m *Metrics) gather() ([]*dto.MetricFamily, error) {
	all, err := m.registry.Gather()
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool {
		return strings.HasPrefix(f.GetName(), "grpc_server_msg_")
	}), err
}

// Unary counts and times calls. It must be the outermost interceptor.
func (m *Metrics) Unary() grpc.UnaryServerInterceptor { return m.grpc.UnaryServerInterceptor() }

// Stream counts and times streams. It must be the outermost interceptor. The
// handler gets the original stream, not the library's wrapper, which reads the clock
// twice and a map of labels for every message and made the delivery of an event 12
// to 32 % more expensive. Delivered counts the events.
func (m *Metrics) Stream() grpc.StreamServerInterceptor {
	count := m.grpc.StreamServerInterceptor()
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		return count(server, stream, info, func(server any, _ grpc.ServerStream) error {
			return handler(server, stream)
		})
	}
}

// Serving makes every method of s appear in the metrics before its first call.
func (m *Metrics) Serving(s *grpc.Server) { m.grpc.InitializeMetrics(s) }

// Appended counts an entry that this server appended.
func (m *Metrics) Appended(event *replay.Event) {
	state := event.State
	variant := state.Variant.ID
	switch event.Entry.Action.(type) {
	case replay.Created:
		m.created.WithLabelValues(variant).Inc()
	case replay.Moved:
		m.moves.WithLabelValues(variant).Inc()
	}
	if state.Status == replay.Finished {
		m.finished.WithLabelValues(variant, label(state.Result.Reason)).Inc()
	}
}

// Refused counts a connection, stream or call that was refused.
func (m *Metrics) Refused(reason string) { m.refusals.WithLabelValues(reason).Inc() }

// ConnectionRefused counts a connection that was closed for what its client does.
func (m *Metrics) ConnectionRefused() { m.refused.Inc() }

// Delivered counts an event that is sent to that many watchers.
func (m *Metrics) Delivered(watchers int) { m.delivered.Add(float64(watchers)) }

// Conflicted counts an append that failed because another server appended first.
func (m *Metrics) Conflicted() { m.conflicts.Inc() }

// Recorded counts a final state that was recorded.
func (m *Metrics) Recorded(final *replay.State) { m.recorded.WithLabelValues(final.Variant.ID).Inc() }

// FanOut observes how long the delivery of an event to one watcher took.
func (m *Metrics) FanOut(lag time.Duration) { m.fanOut.Observe(lag.Seconds()) }

// Conflated counts a watcher who got a snapshot instead of events.
func (m *Metrics) Conflated() { m.conflations.Inc() }

// StorageFailed counts an error of the store by its kind.
func (m *Metrics) StorageFailed(err error) { m.storageErrors.WithLabelValues(kind(err)).Inc() }

// HostCalled counts a call of the SSH host whose credential has the name.
func (m *Metrics) HostCalled(name string) { m.hostCalls.WithLabelValues(name).Inc() }

// StorageUp sets whether the store answers.
func (m *Metrics) StorageUp(up bool) {
	value := 0.0
	if up {
		value = 1
	}
	m.storageUp.Set(value)
}
