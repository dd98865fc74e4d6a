//go:build slow

package bench

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/ratio"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// median returns the median duration of the given number of calls.
func median(calls int, call func() time.Duration) time.Duration {
	spans := make([]time.Duration, calls)
	for i := range spans {
		spans[i] = call()
	}
	slices.Sort(spans)
	return spans[len(spans)/2]
}

// micros and millis return a side of a comparison that measures the median duration of calls, in
// microseconds and in milliseconds respectively.
func micros(calls int, call func() time.Duration) ratio.Side {
	return func() float64 { return float64(median(calls, call)) / float64(time.Microsecond) }
}

func millis(calls int, call func() time.Duration) ratio.Side {
	return func() float64 { return float64(median(calls, call)) / float64(time.Millisecond) }
}

// watchUntil opens a stream, reads the given number of messages, and returns the time that this
// took. It closes the stream before it returns.
func watchUntil(b *testing.B, games pb.GameServiceClient, request *pb.WatchRequest, messages int) time.Duration {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	began := time.Now()
	stream, err := games.Watch(ctx, request)
	require.NoError(b, err)
	for seen := 0; seen < messages; {
		update, err := stream.Recv()
		require.NoError(b, err)
		if _, audience := update.GetUpdate().(*pb.WatchResponse_Audience); !audience {
			seen++
		}
	}
	took := time.Since(began)
	cancel()
	for err == nil {
		_, err = stream.Recv()
	}
	return took
}

// BenchmarkJoinLongGame compares the time until a watcher gets the first message of a long game
// in memory with that of a bare stream that makes one request to Redis.
func BenchmarkJoinLongGame(b *testing.B) {
	store := startRedis(b)
	events := newLibrary(b, store).play(b, long)
	state := events[len(events)-1].State
	ours := pb.NewGameServiceClient(dial(b, serve(b, store.URL())))
	// This watcher keeps the game in memory.
	present, err := ours.Watch(b.Context(), &pb.WatchRequest{GameId: state.ID})
	require.NoError(b, err)
	_, err = present.Recv()
	require.NoError(b, err)

	client := redistest.NewClient(b, store.Addr())
	first := &pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: translate.Game(state, 1)}}
	bare := pb.NewGameServiceClient(dial(b, serveBare(b, &bareGames{
		watch: func(_ *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
			if err := client.Ping(stream.Context()).Err(); err != nil {
				return err
			}
			if err := stream.Send(first); err != nil {
				return err
			}
			<-stream.Context().Done()
			return stream.Context().Err()
		},
	})))
	request := &pb.WatchRequest{GameId: state.ID}
	const calls = 2000
	ratio.Compare(b, "µs", ratio.AtMost(1.3),
		micros(calls, func() time.Duration { return watchUntil(b, ours, request, 1) }),
		micros(calls, func() time.Duration { return watchUntil(b, bare, request, 1) }))
}

// BenchmarkWholeLongGame compares sending all events of a long game with sending the same
// number of messages on a bare stream that reads the game's log.
func BenchmarkWholeLongGame(b *testing.B) {
	store := startRedis(b)
	events := newLibrary(b, store).play(b, long)
	id := events[0].State.ID
	ours := pb.NewGameServiceClient(dial(b, serve(b, store.URL())))

	client := redistest.NewClient(b, store.Addr())
	var messages []*pb.WatchResponse
	for _, e := range events {
		messages = append(messages, &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: translate.Event(e)}})
	}
	bare := pb.NewGameServiceClient(dial(b, serveBare(b, &bareGames{
		watch: func(_ *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
			if err := client.XRange(stream.Context(), logKey(id), "-", "+").Err(); err != nil {
				return err
			}
			for _, m := range messages {
				if err := stream.Send(m); err != nil {
					return err
				}
			}
			<-stream.Context().Done()
			return stream.Context().Err()
		},
	})))
	request := &pb.WatchRequest{GameId: id, AfterVersion: proto.Int32(0)}
	const calls = 15
	ratio.Compare(b, "ms", ratio.AtMost(1.5),
		millis(calls, func() time.Duration { return watchUntil(b, ours, request, len(events)) }),
		millis(calls, func() time.Duration { return watchUntil(b, bare, request, len(events)) }))
}

func logKey(gameID string) string { return "game:{" + gameID + "}:log" }
