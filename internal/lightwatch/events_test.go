package lightwatch_test

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/gridstand/gridstand/internal/lightwatch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// record formats an update as a record of the stream, as servers do.
func record(t *testing.T, update *pb.WatchResponse) string {
	t.Helper()
	data, err := protojson.Marshal(update)
	require.NoError(t, err)
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, data))
	return fmt.Sprintf("id: %d\ndata: %s\n\n", max(update.GetGame().GetVersion(), update.GetEvent().GetVersion()), &compact)
}

// detailValue returns the only detail of a status, encoded as in Connect.
func detailValue(t *testing.T, s *status.Status) string {
	t.Helper()
	return base64.RawStdEncoding.EncodeToString(s.Proto().GetDetails()[0].GetValue())
}

// watchEvents serves a response and reads its events until the end of the test.
func watchEvents(t *testing.T, options lightwatch.Options, answer http.HandlerFunc) *told {
	t.Helper()
	s := httptest.NewUnstartedServer(answer)
	if options.TLS != nil {
		pair, _ := certificate(t)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		s.StartTLS()
		options.TLS = &tls.Config{InsecureSkipVerify: true}
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	r, after := newTold(), int32(7)
	request := &pb.WatchRequest{GameId: "game", AfterVersion: &after, EveryEvent: true, Preview: true}
	e, err := lightwatch.WatchEvents(t.Context(), s.Listener.Addr().String(), options, request, r)
	require.NoError(t, err)
	t.Cleanup(e.Close)
	return r
}

// Ensure that a reader gets the same updates as a gRPC client.
func TestWatchEvents(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]lightwatch.Options{
		"plain": {UserAgent: "reader"}, "narrow": {Window: 4096}, "TLS": {TLS: &tls.Config{}, Authority: "localhost:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := watchEvents(t, options, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "/g/game/events", r.URL.Path)
				assert.Equal(t, "7", r.URL.Query().Get("after_version"))
				assert.Equal(t, "1", r.URL.Query().Get("every_event"))
				assert.Equal(t, "1", r.URL.Query().Get("preview"))
				assert.Equal(t, options.UserAgent, r.UserAgent())
				w.Header().Set("Connection", "close")
				w.Header().Set("Transfer-Encoding", "identity")
				long := event(10, 3000, false)
				long.GetEvent().GetPosition().Scores = make([]int32, 5000)
				for _, part := range []string{
					"retry: 2000\n\n", record(t, game(8, pb.GameStatus_GAME_STATUS_ACTIVE)), "data: {\"audience\":3}\n\n",
					record(t, event(9, 1500, false)), record(t, long), record(t, event(11, 4000, true)),
					record(t, game(12, pb.GameStatus_GAME_STATUS_FINISHED)), "event: end\ndata: {}\n\n",
				} {
					_, _ = w.Write([]byte(part))
					w.(http.Flusher).Flush()
				}
			})
			r.hears(t, "opened", "game game at 8, over false", "other", "event 9 of game at 1500, over false",
				"event 10 of game at 3000, over false", "event 11 of game at 4000, over true", "game game at 12, over true")
			require.NoError(t, r.ends(t))
		})
	}
}

// Ensure that a reader reports why a stream ended or could not be opened.
func TestWatchEvents_Errors(t *testing.T) {
	t.Parallel()
	detail, err := status.New(codes.ResourceExhausted, "slow down").WithDetails(&errdetails.ErrorInfo{Reason: pb.ReasonRateLimited})
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		status int
		body   string
		want   *status.Status
	}{
		"nothing new": {http.StatusNoContent, "", nil},
		"refused": {
			http.StatusTooManyRequests,
			`{"code":"resource_exhausted","message":"slow down","details":[{"type":"google.rpc.ErrorInfo","value":"` +
				detailValue(t, detail) + `"}]}`, detail,
		},
		"of a proxy": {http.StatusBadGateway, "<html>", status.New(codes.Unavailable, "unexpected HTTP status code received from server: 502")},
		"cut":        {http.StatusOK, "id: 1\nda", status.New(codes.Unavailable, "error reading from server: EOF")},
		"nonsense":   {http.StatusOK, "id: x\n", status.New(codes.Internal, "a message that cannot be decoded")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := watchEvents(t, lightwatch.Options{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Connection", "close")
				w.Header().Set("Transfer-Encoding", "identity")
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			})
			got := status.Convert(r.ends(t))
			assert.Equal(t, tt.want.Code(), got.Code())
			assert.Equal(t, tt.want.Message(), got.Message())
			assert.Len(t, got.Details(), len(tt.want.Details()))
		})
	}
	_, err = lightwatch.WatchEvents(t.Context(), "127.0.0.1:1", lightwatch.Options{}, &pb.WatchRequest{}, newTold())
	assert.Equal(t, codes.Unavailable, status.Code(err))
}
