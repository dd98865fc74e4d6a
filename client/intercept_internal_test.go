package client

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that only reads are repeated, after the pause that the server asks for, but not if that is longer than the
// call may take, and that a call whose status gRPC has lost is reported as UNAVAILABLE.
func TestWire_Unary(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testUnary)
}

func testUnary(t *testing.T) {
	proxy := status.Error(codes.Unavailable, "unexpected HTTP status code received from server: 502 (Bad Gateway)\ndata: \"<html>\"")
	full := func(retryIn time.Duration) error {
		s, err := status.New(codes.Unavailable, "the store is full").
			WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(retryIn)})
		require.NoError(t, err)
		return s.Err()
	}
	for name, tt := range map[string]struct {
		method  string
		results []error // of the calls
		want    *Error
		takes   time.Duration // at least
	}{
		"a read, then answered": {method: pb.GameService_GetGame_FullMethodName, results: []error{io.EOF, nil}},
		"a read, then refused": {
			method: pb.GameService_GetGame_FullMethodName, results: []error{io.EOF, proxy, proxy, proxy},
			want: &Error{Code: codes.Unavailable, Message: "unexpected HTTP status code received from server: 502 (Bad Gateway)"},
		},
		"a read, to be repeated later": {
			method: pb.GameService_GetGame_FullMethodName, results: []error{full(time.Minute)},
			want: &Error{Code: codes.Unavailable, Message: "the store is full"},
		},
		"a read, later": {pb.GameService_GetGame_FullMethodName, []error{full(time.Second), nil}, nil, time.Second},
		"a write": {
			method: pb.GameService_Move_FullMethodName, results: []error{io.EOF},
			want: &Error{Code: codes.Unavailable, Message: "the server is unavailable"},
		},
	} {
		calls, began := 0, time.Now()
		invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			calls++
			return tt.results[calls-1]
		}
		err := (&wire{readTries: maxReadTries}).unary(t.Context(), tt.method, nil, nil, nil, invoke)
		assert.Len(t, tt.results, calls, name)
		assert.LessOrEqual(t, tt.takes, time.Since(began), name)
		if tt.want == nil {
			assert.NoError(t, err, name)
			continue
		}
		assert.EqualError(t, err, tt.want.Message, name)
		assert.Equal(t, tt.want.Code, status.Code(err), name)
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
		err := errorStream{&lossyStream{results: tt.results}}.RecvMsg(nil)
		if tt.want == codes.OK {
			assert.Equal(t, io.EOF, err, name)
		} else {
			assert.Equal(t, tt.want, status.Code(err), name)
		}
	}
}
