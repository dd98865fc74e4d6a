package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestErrors_Is(t *testing.T) {
	t.Parallel()
	table := map[error]error{
		client.ErrVersionConflict:    refuse(codes.Aborted, pb.ReasonVersionConflict),
		client.ErrBadToken:           refuse(codes.Unauthenticated, pb.ReasonBadToken),
		client.ErrRateLimited:        refuse(codes.ResourceExhausted, pb.ReasonRateLimited),
		client.ErrMessageTooLarge:    status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5000 vs. 4096)"),
		client.ErrServerUnavailable:  refuse(codes.Unavailable, pb.ReasonServerUnavailable),
		client.ErrStorageUnavailable: refuse(codes.Unavailable, pb.ReasonStorageUnavailable),
		client.ErrInvalid:            status.Error(codes.InvalidArgument, "no"),
		client.ErrUnreachable:        status.Error(codes.Unavailable, "no"),
		context.Canceled:             status.Error(codes.Canceled, "no"),
		context.DeadlineExceeded:     status.Error(codes.DeadlineExceeded, "no"),
	}
	// All errors that match the key match the values, too.
	implied := map[error][]error{
		client.ErrUnreachable:    {client.ErrServerUnavailable},
		context.DeadlineExceeded: {client.ErrUnreachable, client.ErrServerUnavailable},
	}
	for is, from := range table {
		got := client.FromError(fmt.Errorf("wrapped: %w", from))
		assert.ErrorIs(t, got, is)
		assert.Equal(t, status.Code(from), status.Code(got))
		for other := range table {
			related := errors.Is(other, is) || slices.Contains(implied[is], other)
			assert.Equalf(t, related, errors.Is(got, other), "%v is %v", got, other)
		}
	}
	assert.Nil(t, client.FromError(nil))
}

// Ensure that each reason in the contract has the error of the same name.
func TestErrors_EveryReason(t *testing.T) {
	t.Parallel()
	reasons, err := os.ReadFile("../proto/gridstand/v1/reasons.go")
	require.NoError(t, err)
	source, err := os.ReadFile("errors.go")
	require.NoError(t, err)
	names := regexp.MustCompile(`\tReason(\w+) += "`).FindAllStringSubmatch(string(reasons), -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		if name[1] != "OriginNotAllowed" { // Only web pages get it.
			assert.Contains(t, string(source), "\tErr"+name[1]+" = withReason(pb.Reason"+name[1]+", ")
		}
	}
}

func TestErrors_MessageTooLarge(t *testing.T) {
	t.Parallel()
	refused := client.FromError(refuse(codes.InvalidArgument, pb.ReasonMessageTooLarge))
	require.ErrorIs(t, refused, client.ErrMessageTooLarge)
	require.ErrorIs(t, refused, client.ErrInvalid)
}

func TestErrors_KeepTheMessage(t *testing.T) {
	t.Parallel()
	st, err := status.New(codes.InvalidArgument, "the request\n\x1b[31m does not\u202e fit").WithDetails(
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: "variant", Description: "must not be empty"},
			{Field: "seats[0]", Description: "must be set"},
		}},
		retryInfo(1500*time.Millisecond),
	)
	require.NoError(t, err)
	got := client.FromError(fmt.Errorf("calling: %w", st.Err()))
	assert.Equal(t, []client.Violation{
		{Field: "variant", Description: "must not be empty"},
		{Field: "seats[0]", Description: "must be set"},
	}, got.Violations)
	assert.Equal(t, 1500*time.Millisecond, got.RetryAfter)
	assert.Equal(t, "the request [31m does not fit; variant must not be empty; seats[0] must be set", got.Error())
	assert.Same(t, got, client.FromError(fmt.Errorf("again: %w", got)))

	back, ok := status.FromError(got)
	require.True(t, ok)
	assert.Len(t, back.Details(), 2)
}

func TestErrors_OtherDomain(t *testing.T) {
	t.Parallel()
	st, err := status.New(codes.NotFound, "no").WithDetails(
		&errdetails.ErrorInfo{Domain: "example.org", Reason: pb.ReasonGameNotFound})
	require.NoError(t, err)
	got := client.FromError(st.Err())
	assert.Empty(t, got.Reason)
	assert.NotErrorIs(t, got, client.ErrGameNotFound)
	assert.NotErrorIs(t, client.FromError(errors.New("plain")), client.ErrInvalid)
	assert.Equal(t, codes.Unknown, status.Code(client.FromError(errors.New("plain"))))
}

func TestCurrentVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int32{"17": 17, "0": 0, "": -1, "-3": -1, "x": -1, "2147483648": -1} {
		got, ok := client.CurrentVersion(fmt.Errorf("moving: %w", client.FromError(conflict(text))))
		assert.Equal(t, want >= 0, ok, text)
		if ok {
			assert.Equal(t, want, got)
		}
	}
	_, ok := client.CurrentVersion(errors.New("plain"))
	assert.False(t, ok)
}
