//go:build slow

package fault

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gauges reads the metrics of a server process.
type gauges struct{ addr string }

func (g gauges) fetch(t *testing.T, path string) string {
	t.Helper()
	body, err := g.get(t.Context(), path)
	for errors.Is(err, io.EOF) { // The machine stalled for longer than the server waits for a request.
		body, err = g.get(t.Context(), path)
	}
	require.NoError(t, err)
	return body
}

func (g gauges) get(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.addr+path, http.NoBody)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return string(body), err
}

// residentMemory is the gauge of a process's memory in bytes.
const residentMemory = "process_resident_memory_bytes"

// peakMemory reads the process's memory every tenth of a second until peak is called, which
// returns the maximum.
func (g gauges) peakMemory(t *testing.T) (peak func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	result := make(chan int, 1)
	go func() {
		most := 0
		defer func() { result <- most }()
		for {
			if text, err := g.get(ctx, "/metrics"); err == nil { // Under load, a sample may fail.
				most = max(most, int(values(text)[residentMemory]))
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() int {
		now := g.read(t, residentMemory)
		cancel()
		return max(now, <-result)
	}
}

// values returns all metrics in a text, by name and labels.
func values(text string) map[string]float64 {
	all := map[string]float64{}
	for line := range strings.Lines(text) {
		at := strings.LastIndexByte(line, ' ')
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64); err == nil && at > 0 {
			all[line[:at]] = value
		}
	}
	return all
}

// read returns the value of a gauge.
func (g gauges) read(t *testing.T, name string) int {
	t.Helper()
	return int(g.exactly(t, name))
}

func (g gauges) exactly(t *testing.T, name string) float64 {
	t.Helper()
	value, ok := values(g.fetch(t, "/metrics"))[name]
	require.True(t, ok, "no gauge "+name)
	return value
}

// refusals returns the number of connections, streams and calls that the server has refused, by the
// limit that they exceeded.
func (g gauges) refusals(t *testing.T) map[string]int {
	t.Helper()
	all := map[string]int{}
	for name, value := range values(g.fetch(t, "/metrics")) {
		if reason, ok := strings.CutPrefix(name, `gridstand_refusals_total{reason="`); ok {
			all[strings.TrimSuffix(reason, `"}`)] = int(value)
		}
	}
	return all
}

// since returns the refusals that are not in an earlier result of refusals.
func since(before, now map[string]int) map[string]int {
	more := map[string]int{}
	for reason, n := range now {
		if n > before[reason] {
			more[reason] = n - before[reason]
		}
	}
	return more
}

// collect makes the process run a garbage collection.
func (g gauges) collect(t *testing.T) {
	t.Helper()
	g.fetch(t, "/debug/pprof/heap?gc=1")
}
