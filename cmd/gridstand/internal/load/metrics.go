package load

import (
	"context"
	"fmt"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics contains the server's own measurements at three points in a run.
type Metrics struct {
	// Before is measured before the first call.
	Before Sample `json:"before"`
	// Ready is measured before the load, with all players and watchers connected.
	Ready Sample `json:"ready"`
	// After is measured after the load, with all players and watchers still connected.
	After Sample `json:"after"`
}

// Sample contains a server's metrics at one point in time. A field is nil if the server
// does not export that metric.
type Sample struct {
	// ResidentBytes is the resident memory of the process.
	ResidentBytes *float64 `json:"residentBytes"`
	// HeapBytes is the memory allocated on the Go heap.
	HeapBytes *float64 `json:"heapBytes"`
	// Goroutines is the number of goroutines.
	Goroutines *float64 `json:"goroutines"`
	// CPUSeconds is the CPU time that the process has used so far.
	CPUSeconds *float64 `json:"cpuSeconds"`
	// Games and Watchers are the numbers of live games and of watchers on this server.
	Games    *float64 `json:"games"`
	Watchers *float64 `json:"watchers"`
}

const metricsTimeout = 10 * time.Second

// sample reads a server's metrics.
func sample(ctx context.Context, url string) (Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, metricsTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Sample{}, wrong("metrics: %v", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Sample{}, fmt.Errorf("metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return Sample{}, fmt.Errorf("metrics: %s answers %s", url, response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return Sample{}, fmt.Errorf("metrics: %s: %w", url, err)
	}
	return Sample{
		ResidentBytes: value(families["process_resident_memory_bytes"]),
		HeapBytes:     value(families["go_memstats_heap_alloc_bytes"]),
		Goroutines:    value(families["go_goroutines"]),
		CPUSeconds:    value(families["process_cpu_seconds_total"]),
		Games:         value(families["gridstand_games_live"]),
		Watchers:      value(families["gridstand_watchers"]),
	}, nil
}

// value returns the value of a metric that has no labels, or nil if the server does not
// export it.
func value(family *dto.MetricFamily) *float64 {
	if len(family.GetMetric()) == 0 {
		return nil
	}
	m := family.GetMetric()[0]
	v := m.GetGauge().GetValue()
	if m.GetCounter() != nil {
		v = m.GetCounter().GetValue()
	}
	return &v
}
