package client

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Ensure that a call whose status gRPC has lost is made once more, and reported as UNAVAILABLE if
// its status is lost again.
func TestWire_StatusLost(t *testing.T) {
	t.Parallel()
	lost := fmt.Errorf("max retries exhausted: failed after 4 attempts: %w", io.EOF)
	proxy := status.Error(codes.Unavailable, "unexpected HTTP status code received from server: 502 (Bad Gateway)")
	for name, tt := range map[string]struct {
		results []error // of the calls
		want    *Error
	}{
		"then answered":   {results: []error{lost, nil}},
		"then refused":    {results: []error{lost, proxy}, want: &Error{Code: codes.Unavailable, Message: "HTTP status 502", Cause: CauseNoBackend}},
		"then lost again": {results: []error{lost, lost}, want: &Error{Code: codes.Unavailable, Message: "the server is unavailable"}},
	} {
		calls := 0
		invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			calls++
			return tt.results[calls-1]
		}
		err := new(wire).unary(t.Context(), "", nil, nil, nil, invoke)
		assert.Len(t, tt.results, calls, name)
		if tt.want == nil {
			assert.NoError(t, err, name)
			continue
		}
		assert.EqualError(t, err, tt.want.Message, name)
		assert.Equal(t, tt.want.Code, status.Code(err), name)
		assert.Equal(t, tt.want.Cause, CauseOf(err), name)
	}
}

// lossyStream is a stream on which the results of RecvMsg are given.
type lossyStream struct {
	grpc.ClientStream
	results []error
}

func (s *lossyStream) RecvMsg(any) error {
	err := s.results[0]
	if len(s.results) > 1 {
		s.results = s.results[1:]
	}
	return err
}

// Ensure that a stream whose status gRPC has lost at first is not reported as ended.
func TestWire_StreamStatusLost(t *testing.T) {
	t.Parallel()
	broken := status.Error(codes.Unavailable, "error reading from server: EOF")
	for name, tt := range map[string]struct {
		results []error
		want    codes.Code
	}{
		"broken off": {[]error{io.EOF, broken}, codes.Unavailable},
		"ended":      {[]error{io.EOF}, codes.OK},
	} {
		err := errorStream{&lossyStream{results: tt.results}, new(wire)}.RecvMsg(nil)
		if tt.want == codes.OK {
			assert.Equal(t, io.EOF, err, name)
		} else {
			assert.Equal(t, tt.want, status.Code(err), name)
		}
	}
}
