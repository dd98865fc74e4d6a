package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/server/internal/metrics"
)

// Ensure that refusals are logged at a bounded rate per reason.
func TestRefusals_Rate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := &refusals{metrics: metrics.New("", ""), logger: slog.New(slog.NewTextHandler(&log, nil))}
		const seconds, perSecond = 60, 1000
		for n := range seconds * perSecond {
			r.refused("wrong_token", fmt.Sprint("192.0.2.", n%256))
			time.Sleep(time.Second / perSecond) //nolint:forbidigo // The bubble's clock is fake.
		}
		r.refused("reads_per_address", "192.0.2.1")
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		assert.Len(t, lines, seconds/int(logEvery.Seconds())+1)
		for _, line := range lines {
			assert.Contains(t, line, "id=client-refused")
			assert.Contains(t, line, "address=192.0.2.")
		}
	})
}
