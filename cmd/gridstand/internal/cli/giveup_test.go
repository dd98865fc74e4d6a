package cli

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that commands report that they repeat a call, and give up during the wait, if the server can read
// from its store but not write to it, or refuses the call.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	full, err := grpcstatus.New(codes.Unavailable, "the store is full").WithDetails(
		&errdetails.ErrorInfo{Reason: pb.ReasonStorageUnavailable, Domain: pb.ErrorDomain},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Minute)})
	require.NoError(t, err)
	limited, err := grpcstatus.New(codes.ResourceExhausted, "too many calls").WithDetails(
		&errdetails.ErrorInfo{Reason: pb.ReasonRateLimited, Domain: pb.ErrorDomain},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Minute)})
	require.NoError(t, err)
	missing, err := grpcstatus.New(codes.NotFound, "").WithDetails(
		&errdetails.ErrorInfo{Reason: pb.ReasonChallengeNotFound, Domain: pb.ErrorDomain})
	require.NoError(t, err)
	server := hostileServer(t, func(method string) (proto.Message, error) {
		switch called := method[strings.LastIndex(method, "/")+1:]; {
		case slices.Contains([]string{"GetPlayer", "GetGame", "ListVariants"}, called):
			return evilAnswer(method, 1), nil
		case called == "GetChallenge":
			return nil, missing.Err()
		case called == "Resign":
			return nil, limited.Err()
		default:
			return nil, full.Err()
		}
	})
	for what, args := range map[string][]string{
		"create the game": {"new"}, "make the move": {"move", evilID, "up"}, "resign the game": {"resign", evilID},
		"join the game": {"join", evilID}, "create the challenge": {"challenge"}, "replace the token": {"account", "rotate"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			u := newUser(t, server, "ada")
			require.NoError(t, u.store.Save(u.server, client.Credential{PlayerID: evilOne, Name: "ada", Token: evilToken}))
			var stdout, stderr bytes.Buffer
			noted := &noted{&stderr, func() {}}
			p := u.program(&stdout, noted)
			p.timeout = func(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
				assert.Equal(t, giveUpAfter, after)
				ctx, noted.by = context.WithCancel(ctx)
				return ctx, noted.by
			}
			assert.Equal(t, exitFailed, p.run(waittest.Context(t), args), stderr.String())
			assert.Empty(t, stdout.String())
			reason, outcome := full.Message(), "; "+client.ErrUnsettled.Error()
			if args[0] == "resign" { // A refusal leaves no doubt.
				reason, outcome = limited.Message(), ""
			}
			assert.Equal(t, reason+"; retrying in 60 s\ngridstand: tried to "+what+" for 30s"+outcome+". The last error: "+reason+"\n", stderr.String())
		})
	}
}

// noted passes on what is written, and calls by first.
type noted struct {
	io.Writer
	by context.CancelFunc
}

func (n *noted) Write(line []byte) (int, error) {
	n.by()
	return n.Writer.Write(line)
}
