package sshhost

import (
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts the sessions and refusals of a host for Prometheus.
type Metrics struct {
	registry *prometheus.Registry
	sessions prometheus.Gauge
	refusals *prometheus.CounterVec
}

// NewMetrics returns the metrics of one host.
func NewMetrics() *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	with := promauto.With(registry)
	return &Metrics{
		registry: registry,
		sessions: with.NewGauge(prometheus.GaugeOpts{Name: "gridstand_ssh_sessions", Help: "Open sessions of SSH clients."}),
		refusals: with.NewCounterVec(prometheus.CounterOpts{
			Name: "gridstand_ssh_refusals_total",
			Help: "Sessions that were refused because there were too many (sessions) or too many of one address (sessions_per_address), or the host stops (stopping), " +
				"and connections that were closed because too many had no session (places) or they had none for too long (login).",
		}, []string{"reason"}),
	}
}

// refused counts a session or connection that was refused.
func (m *Metrics) refused(why error) {
	reason := map[error]string{
		errStopping: "stopping", errFull: "sessions", errAddressFull: "sessions_per_address", errPlaces: "places", errLogin: "login",
	}[why]
	m.refusals.WithLabelValues(reason).Inc()
}

// Serve serves the metrics at /metrics until stop is called, which closes the listener.
func (m *Metrics) Serve(listener net.Listener) (stop func()) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(listener) })
	return func() { _ = server.Close(); done.Wait() }
}
