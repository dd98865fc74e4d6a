package playertest

import (
	"context"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Retry makes a call, and repeats it while again returns true for its error, until ctx is done or
// waittest.Patience has passed. It returns the last error.
func Retry(ctx context.Context, call func(context.Context) error, again func(error) bool) error {
	ctx, cancel := context.WithTimeout(ctx, waittest.Patience)
	defer cancel()
	for {
		err := call(ctx)
		if !again(err) || Pause(ctx) != nil {
			return err
		}
	}
}

// Pause waits before a retry. It waits for less time than servers ask for, because their hints are
// meant for real clients.
func Pause(ctx context.Context) error {
	select {
	case <-time.After(5 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// StorageUnavailable reports whether a server refused a call because its store did not answer in
// time, as may happen on a busy machine. The contract tells clients to retry such a call.
func StorageUnavailable(err error) bool {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetReason() == pb.ReasonStorageUnavailable {
			return true
		}
	}
	return false
}
