package front

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	codec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/limits"
)

// Free are the calls that do not count as reads, unless they end before they count toward a limit of
// their player, see Paid.
var Free = map[string]bool{
	pb.GameService_Move_FullMethodName: true, pb.GameService_Undo_FullMethodName: true, pb.GameService_Resign_FullMethodName: true,
}

// call is a stream or an HTTP request whose headers have arrived. It is also its handler's
// context.
type call struct {
	context.Context
	conn   *conn
	budget *Budget
	// begin records that the handler of a gRPC call ends the call, unless it returns false because the call
	// has ended already. It is nil for HTTP.
	begin func() bool
	// late ends a gRPC call whose request does not arrive; it is nil for HTTP.
	late *time.Timer
	// paid is set unless the call counts as a read when it ends.
	paid bool
	// leave ends what EnterCall began, or is nil.
	leave func()
}

// encoded records that the response has been encoded.
func (s *call) encoded() {
	if s.leave != nil {
		s.leave()
		s.leave = nil
	}
}

type callKey struct{}

// Value implements context.Context.
func (s *call) Value(key any) any {
	switch key {
	case callKey{}:
		return s
	case budgetKey{}:
		return s.budget
	}
	return s.Context.Value(key)
}

func callOf(ctx context.Context) *call {
	s, _ := ctx.Value(callKey{}).(*call)
	return s
}

// admit counts a call until end is called. The error has the status to send if a limit refuses it or the
// server is stopping.
func (f *Front) admit(ctx context.Context, c *conn, method string, forwarded []string) (*call, error) {
	if f.stopping.Load() || c.closed.Load() { // gRPC may have buffered the headers before the connection was closed.
		return nil, f.Stopping
	}
	budget := c.budget
	if c.proxy {
		budget = f.Budgets.Of(f.Proxies.Of(c.RemoteAddr(), forwarded))
	}
	l := f.Limits
	var refused *limits.ExceededError
	switch {
	case exceeds(budget.calls.Add(1), l[limits.StreamsPerAddress]):
		refused = l.Exceeded(limits.StreamsPerAddress, "calls and streams from one address at once", retryAfter)
	case exceeds(budget.unread.Load(), l[limits.HeldBytesPerAddress]):
		refused = l.Exceeded(limits.HeldBytesPerAddress, "unread bytes of one address", retryAfter)
	case !Free[method] && !budget.take(1):
		refused = f.exceeded()
	}
	if refused != nil {
		budget.calls.Add(-1)
		c.refused()
		return nil, f.refusal(refused, budget.address)
	}
	return &call{Context: ctx, conn: c, budget: budget, paid: !Free[method]}, nil
}

// Paid records that the call with the context ctx counts toward a limit of its player.
func Paid(ctx context.Context) {
	if s := callOf(ctx); s != nil {
		s.paid = true
	}
}

// end reverses admit.
func (s *call) end() {
	if s.late != nil {
		s.late.Stop() // It would keep the call's metadata in memory.
	}
	s.encoded()
	s.budget.calls.Add(-1)
	if !s.paid && !s.conn.front.storeAway.Load() && !s.budget.take(1) {
		s.conn.refused()
	}
}

// Options returns the gRPC server options that enforce the limits, together with the interceptors that
// Unary and Stream return.
func (f *Front) Options() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.InTapHandle(f.tap), grpc.ForceServerCodecV2(passing{encoding.GetCodecV2(codec.Name)})}
}

// tap admits a stream whose headers have arrived. gRPC calls it before it starts a goroutine for the
// stream.
func (f *Front) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	c := connOf(ctx)
	c.allow(bytesPerCall)
	arriving, cancel := context.WithCancel(ctx)
	s, err := f.admit(arriving, c, info.FullMethodName, info.Header[forwardedFor])
	if err != nil {
		cancel()
		return ctx, err
	}
	s.late = time.AfterFunc(requestTimeout, cancel)
	s.begin = context.AfterFunc(ctx, s.end) // unless a handler begins before
	return s, nil
}

// errReset is the error of a call that its client has left before a handler began.
var errReset = status.Error(codes.Canceled, "the call was canceled")

// Unary returns the interceptor next, but encodes gRPC's responses, which count until the client has read them,
// and notices refusals.
func (f *Front) Unary(next grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		s := callOf(ctx)
		if s.begin != nil {
			if !s.begin() {
				return nil, errReset
			}
			s.late.Stop()
			defer s.end()
		}
		f.running.Add(1)
		reply, err := next(ctx, request, info, handler)
		f.running.Add(-1)
		s.notice(err)
		if err != nil || s.begin == nil {
			return reply, err
		}
		return s.encode(reply.(proto.Message))
	}
}

// Stream is like Unary, for streams. Each request to another service than the contract's counts as reads.
func (f *Front) Stream(next grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		s := callOf(stream.Context())
		if s == nil {
			return next(server, stream, info, handler)
		}
		if s.begin != nil {
			if !s.begin() {
				return errReset
			}
			defer s.end()
			stream = &paced{stream, s, !strings.HasPrefix(info.FullMethod, "/gridstand.")}
		}
		err := next(server, stream, info, handler)
		s.notice(err)
		return err
	}
}

// notice charges for an error that no correct client gets often, and closes the connection after too
// many refusals.
func (s *call) notice(err error) {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.Unimplemented, codes.Unauthenticated:
		if !s.budget.take(1) {
			s.conn.refused()
		}
	case codes.ResourceExhausted:
		s.conn.refused()
	}
}

// requestTimeout is how long a request of a gRPC call may take to arrive. A client that sends it byte by
// byte would otherwise hold much memory.
const requestTimeout = 10 * time.Second

// streamReads is the number of reads that a request on a stream of another service than the contract's,
// such as reflection, counts as.
const streamReads = 5

// paced is a gRPC stream whose requests must arrive in time.
type paced struct {
	grpc.ServerStream
	call    *call
	charged bool // whether each request counts as reads
}

// RecvMsg implements grpc.ServerStream.
func (p *paced) RecvMsg(m any) error {
	p.call.late.Reset(requestTimeout)
	err := p.ServerStream.RecvMsg(m)
	p.call.late.Stop()
	if err != nil || !p.charged || p.call.budget.take(streamReads) {
		return err
	}
	f := p.call.conn.front
	return f.refusal(f.exceeded(), p.call.budget.address)
}
