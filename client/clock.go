package client

import (
	"time"

	"google.golang.org/grpc/metadata"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// maxDrift is how far Now may be from the time in the server's newest answer. Within it, Now runs
// evenly: answers take different times to arrive.
const maxDrift = 500 * time.Millisecond

// heard is the server's time in an answer, and the time at which the answer arrived.
type heard struct{ sent, arrived time.Time }

// Now returns the current time by the server's clock, as of its newest answer. Changes of this
// machine's clock do not affect it. Before the first answer, it returns this machine's time.
func (c *Client) Now() time.Time { return c.wire.now() }

func (w *wire) now() time.Time {
	if last := w.heard.Load(); last != nil {
		return last.sent.Add(time.Since(last.arrived))
	}
	return time.Now()
}

// hear reads the server's time from the header of an answer.
func (w *wire) hear(header metadata.MD) {
	for _, text := range header.Get(pb.TimeHeader) {
		sent, err := time.Parse(time.RFC3339Nano, text)
		if err == nil && (w.heard.Load() == nil || sent.Sub(w.now()).Abs() > maxDrift) {
			w.heard.Store(&heard{sent, time.Now()})
		}
	}
}
