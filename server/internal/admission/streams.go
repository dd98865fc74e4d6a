package admission

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// Options returns the gRPC server options that enforce the limits on streams.
func (c *Control) Options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.InTapHandle(c.admit), grpc.ChainStreamInterceptor(c.stream), grpc.ForceServerCodecV2(newCodec()),
	}
}

// admit counts a stream whose headers have arrived. gRPC calls it before creating the
// stream. If admit returns an error, gRPC responds with that error instead.
func (c *Control) admit(ctx context.Context, info *tap.Info) (context.Context, error) {
	conn := connOf(ctx)
	if conn == nil {
		return ctx, nil
	}
	conn.calls--
	s := &call{conn: conn, from: conn.from, headers: sizeOf(info.Header), opened: c.sweeps.Load()}
	s.Context, s.cancel = context.WithCancel(ctx)
	open := s.enter(info.Header["x-forwarded-for"])
	conn.mu.Lock()
	exceeded, closed := c.exceeded(s, open), conn.closed
	if exceeded == nil && !closed {
		s.keepsBusy(true)
		s.list()
		conn.mu.Unlock()
		return s, nil
	}
	s.state = gone
	conn.mu.Unlock()
	s.cancel()
	s.release()
	if closed { // gRPC had already buffered the stream's headers when the connection was closed.
		return ctx, c.Stopping
	}
	conn.slow(refusedPenalty)
	return ctx, s.refuse(exceeded)
}

// exceeded returns the limit that the call exceeds, or nil. The caller holds the connection's
// mu.
func (c *Control) exceeded(s *call, open int64) *int {
	l := c.Limits
	switch {
	case exceeds(open, l.StreamsPerAddress):
		return &l.StreamsPerAddress
	case !s.conn.proxy && exceeds(s.conn.late+1, l.IncompletePerConnection):
		return &l.IncompletePerConnection
	case exceeds(s.from.late.Load()+1, l.IncompletePerAddress),
		l.IncompletePerAddress > 0 && s.from.waiting.Load() >= maxWaiting:
		return &l.IncompletePerAddress
	case exceeds(s.from.held.Load(), l.HeldBytesPerAddress):
		return &l.HeldBytesPerAddress
	}
	return nil
}

// sizeOf returns the approximate size of headers in bytes.
func sizeOf(header metadata.MD) (n int64) {
	for key, values := range header {
		for _, value := range values {
			n += int64(len(key) + len(value))
		}
	}
	return n
}

// sweep ends streams whose request is overdue, and late streams that exceed the limit.
func (c *Control) sweep() {
	now := c.sweeps.Add(1)
	for _, conn := range c.all() {
		if conn.waits.Load() > 0 {
			conn.sweep(now)
		}
	}
}

func (c *conn) sweep(now int64) {
	l := c.control.Limits
	var over, overdue []*call
	c.mu.Lock()
	for _, s := range c.waiting.all {
		began := s.began.Load()
		switch {
		case began == 0:
			// No handler has started. If the stream has ended, gRPC has handled it itself,
			// as it does for calls of unknown methods.
			if s.Context.Err() != nil {
				over = append(over, s)
			}
		case now-s.opened > requestTimeout:
			overdue = append(overdue, s)
		case !s.late && now-began >= lateAfter:
			s.late = true
			c.late++
			if exceeds(s.from.late.Add(1), l.IncompletePerAddress) || !c.proxy && exceeds(c.late, l.IncompletePerConnection) {
				overdue = append(overdue, s)
			}
		}
	}
	c.mu.Unlock()
	for _, s := range over {
		s.end()
	}
	for _, s := range overdue {
		s.overdue.Store(true)
		if s.cancel != nil {
			s.cancel()
		} else {
			s.stopReading()
		}
	}
}

// Registrar returns a registrar that registers services with r and counts their unary
// calls until the response is sent.
func (c *Control) Registrar(r grpc.ServiceRegistrar) grpc.ServiceRegistrar { return registrar{c, r} }

type registrar struct {
	control *Control
	next    grpc.ServiceRegistrar
}

// RegisterService implements grpc.ServiceRegistrar.
func (r registrar) RegisterService(desc *grpc.ServiceDesc, service any) {
	d := *desc
	d.Methods = make([]grpc.MethodDesc, len(desc.Methods))
	for i, m := range desc.Methods {
		d.Methods[i] = grpc.MethodDesc{MethodName: m.MethodName, Handler: r.control.unary(m.Handler)}
	}
	r.next.RegisterService(&d, service)
}

func (c *Control) unary(handle grpc.MethodHandler) grpc.MethodHandler {
	return func(service any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		s := callOf(ctx)
		if s == nil {
			return handle(service, ctx, decode, interceptor)
		}
		defer s.end()
		s.begin()
		running := false
		reply, err := handle(service, ctx, func(request any) error {
			err := decode(request)
			if err == nil {
				s.arrived()
				s.keepsBusy(true)
				running = true
				c.running.Add(1)
			}
			return err
		}, interceptor)
		if running {
			c.running.Add(-1)
		}
		if s.Context.Err() != nil || s.tooOften(err) {
			s.conn.slow(callPenalty)
		}
		if err != nil {
			return nil, err
		}
		return s.answer(reply)
	}
}

// tooOften reports whether err refuses the call because of a limit, or is one mistake too many
// by the call's address.
func (s *call) tooOften(err error) bool {
	return status.Code(err) == codes.ResourceExhausted || isMistake(err) && !s.conn.control.failures.Take(s.from.key)
}

// stream is an interceptor that counts a stream until its handler returns.
func (c *Control) stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	s := callOf(stream.Context())
	if s == nil {
		return handler(service, stream)
	}
	defer s.end()
	s.begin()
	with := arriving{stream, s}
	if strings.HasPrefix(info.FullMethod, "/gridstand.") {
		// rpc limits the unread bytes of these streams.
		err := handler(service, &with)
		if s.tooOften(err) {
			s.conn.slow(callPenalty)
		}
		return err
	}
	count, limit := &s.from.reflections, &c.Limits.ReflectionsPerAddress
	stream = &paced{counting{with}}
	if info.FullMethod == grpc_health_v1.Health_Watch_FullMethodName {
		count, limit = &s.from.healthWatches, &c.Limits.HealthWatchesPerAddress
		stream = &counting{with}
	}
	defer count.Add(-1)
	if exceeds(count.Add(1), *limit) {
		s.conn.slow(refusedPenalty)
		return s.refuse(limit)
	}
	return handler(service, stream)
}

// arriving is a stream that records when its request has arrived.
type arriving struct {
	grpc.ServerStream
	call *call
}

func (a *arriving) RecvMsg(m any) error {
	err := a.ServerStream.RecvMsg(m)
	if err == nil {
		a.call.arrived()
	}
	return err
}

// Unwrap returns the wrapped stream.
func (a *arriving) Unwrap() grpc.ServerStream { return a.ServerStream }

// counting is a stream whose responses count toward the limit on unread bytes until the
// client has read them.
type counting struct{ arriving }

func (c *counting) SendMsg(m any) error {
	reply, err := c.call.answer(m)
	if err != nil {
		return err
	}
	return c.ServerStream.SendMsg(reply)
}

// paced is a stream that limits the rate of requests from the client's address.
type paced struct{ counting }

func (p *paced) RecvMsg(m any) error {
	if err := p.counting.RecvMsg(m); err != nil {
		return err
	}
	c := p.call.conn.control
	if c.reflections.Take(p.call.from.key) {
		return nil
	}
	return c.refuse(&c.Limits.ReflectionsPerAddressPerSecond, p.call.from.key, c.reflections.Wait())
}
