// Package metrics counts and times the operations of a server for Prometheus. GET
// /metrics lists the metrics with their descriptions.
package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// latency contains the histogram buckets for durations, in seconds: from 0.1 ms (a move if
// Redis is nearby) to 10 s (the timeout for calls).
var latency = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// Metrics contains the metrics of one server. All methods may be called concurrently and
// never block.
type Metrics struct {
	registry *prometheus.Registry
	calls    calls

	delivered, conflations prometheus.Counter
	fanOut                 prometheus.Histogram
	storageErrors          *prometheus.CounterVec
	hostCalls              *prometheus.CounterVec
	storageUp              prometheus.Gauge
	refused                prometheus.Counter
	refusals               *prometheus.CounterVec
}

// New returns the metrics of a server that was built from the given version and commit.
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
		calls:    newCalls(with),
		delivered: counter("gridstand_events_delivered_total",
			"Events that this server sent to watchers. Each event counts once for each watcher at the time. Replays of past events and snapshots for watchers who fell behind are not counted separately."),
		conflations: counter("gridstand_conflations_total",
			"Times that a watcher who had fallen behind received a snapshot instead of the missed events."),
		storageErrors: counters("gridstand_redis_errors_total",
			"Errors of the store (a file or a Redis) that reached a caller, by kind.", "kind"),
		hostCalls: counters("gridstand_ssh_host_calls_total",
			"Calls that SSH hosts made for players, by the name of their credential.", "credential"),
		refused: counter("gridstand_connections_refused_total",
			"Connections that were closed because their address had too many, opened them too fast, "+
				"had too much unread data, or went on after many refusals."),
		refusals: counters("gridstand_refusals_total",
			"Connections that were closed, and streams and calls that were refused, by reason: wrong_token, wrong_credential, or the limit that was exceeded. The log names some of their addresses.", "reason"),
		fanOut: with.NewHistogram(prometheus.HistogramOpts{
			Name: "gridstand_fan_out_lag_seconds", Help: "Time from the arrival of an event at this server to its delivery to a watcher, for a random sample of one delivery in 16.",
			Buckets: latency,
		}),
		storageUp: with.NewGauge(prometheus.GaugeOpts{
			Name: "gridstand_redis_up", Help: "Whether the store (a file or a Redis) answered the last check.",
		}),
	}
	with.NewGauge(prometheus.GaugeOpts{
		Name: "gridstand_build_info", Help: "The version of the server, in labels; the value is 1.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "go": runtime.Version()},
	}).Set(1)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Live adds gauges for the games in memory, their watchers, open connections and open streams. It must be
// called only once. Each scrape calls the functions.
func (m *Metrics) Live(games, watchers, connections, streams func() int) {
	m.gauge("gridstand_games_live", "Games in the memory of this server because they are being played or watched.", games)
	m.gauge("gridstand_watchers", "Watchers that this server serves, excluding the games' players and previews.", watchers)
	m.gauge("gridstand_connections", "Connections that are open to this server.", connections)
	m.gauge("gridstand_streams", "Open streams of every kind, including in-flight calls.", streams)
}

// File adds a gauge for a store in a file. It must be called only once.
func (m *Metrics) File(log func() int) {
	m.gauge("gridstand_file_log_bytes", "The size of the write-ahead log next to the SQLite file.", log)
}

func (m *Metrics) gauge(name, help string, value func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
}

// Handler returns a handler that serves the metrics in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Refused counts a connection, stream or call that was refused.
func (m *Metrics) Refused(reason string) { m.refusals.WithLabelValues(reason).Inc() }

// ConnectionRefused counts a connection that was closed because of its client's behavior.
func (m *Metrics) ConnectionRefused() { m.refused.Inc() }

// Delivered counts the deliveries of an event to the given number of watchers.
func (m *Metrics) Delivered(watchers int) { m.delivered.Add(float64(watchers)) }

// FanOut records how long it took to deliver an event to one watcher.
func (m *Metrics) FanOut(lag time.Duration) { m.fanOut.Observe(lag.Seconds()) }

// Conflated counts a watcher that received a snapshot instead of events.
func (m *Metrics) Conflated() { m.conflations.Inc() }

// StorageFailed counts a store error by its kind.
func (m *Metrics) StorageFailed(err error) { m.storageErrors.WithLabelValues(kind(err)).Inc() }

// HostCalled counts a call from the SSH host whose credential has the given name.
func (m *Metrics) HostCalled(name string) { m.hostCalls.WithLabelValues(name).Inc() }

// StorageUp records whether the store is available.
func (m *Metrics) StorageUp(up bool) {
	value := 0.0
	if up {
		value = 1
	}
	m.storageUp.Set(value)
}
