package contract

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	watchtest "github.com/gridstand/gridstand/internal/testkit/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// sse stands for streams as Server-Sent Events. Calls use gRPC.
const sse = "Server-Sent Events"

// doors lists all ways to read a stream.
var doors = append(protocols[:len(protocols):len(protocols)], sse)

// read sends a request on a connection. Headers have the form "Name: value".
func read(t testing.TB, conn net.Conn, line string, headers ...string) (*events, error) {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err := fmt.Fprintf(conn, "%s\r\nHost: test\r\n%s\r\n", line, strings.Join(append(headers, ""), "\r\n"))
	require.NoError(t, err)
	method, _, _ := strings.Cut(line, " ")
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return &events{body: bufio.NewReader(answer.Body), conn: conn, answer: answer}, nil
}

// tcp opens a connection to the server.
func (s *testServer) tcp(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr.String())
	require.NoError(t, err)
	return conn
}

// events sends a request for events with the token of ctx.
func (s *testServer) events(t testing.TB, ctx context.Context, path string, headers ...string) *events {
	t.Helper()
	sent, _ := metadata.FromOutgoingContext(ctx)
	for _, value := range sent["authorization"] {
		headers = append(headers, "Authorization: "+value)
	}
	e, err := read(t, s.tcp(t), "GET "+path+" HTTP/1.1", headers...)
	require.NoError(t, err)
	context.AfterFunc(ctx, func() { _ = e.conn.Close() })
	return e
}

// record returns the next record. The error of a response, in Connect's format, becomes a status. The
// error is io.EOF if the server announced that the stream has ended.
func (e *events) record() (sseRecord, error) {
	switch e.answer.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent:
		return sseRecord{}, io.EOF
	default:
		return sseRecord{}, failure(e.body)
	}
	record, err := e.next()
	switch {
	case errors.Is(err, io.EOF):
		return record, io.ErrUnexpectedEOF
	case err == nil && record.Name == "end":
		return record, io.EOF
	}
	return record, err
}

// failure converts an error in Connect's format.
func failure(body io.Reader) error {
	var told struct {
		Code, Message string
		Details       []struct{ Type, Value string }
	}
	if err := json.NewDecoder(body).Decode(&told); err != nil {
		return err
	}
	s := &statuspb.Status{Message: told.Message}
	var code codes.Code
	if err := code.UnmarshalJSON(fmt.Appendf(nil, "%q", strings.ToUpper(told.Code))); err != nil {
		return err
	}
	s.Code = int32(code)
	for _, detail := range told.Details {
		value, err := base64.RawStdEncoding.DecodeString(detail.Value)
		if err != nil {
			return err
		}
		s.Details = append(s.Details, &anypb.Any{TypeUrl: "type.googleapis.com/" + detail.Type, Value: value})
	}
	return status.ErrorProto(s)
}

// Recv returns the next update of a game.
func (e *events) Recv() (*pb.WatchResponse, error) {
	record, err := e.record()
	if err == nil && record.ID == "" && record.Update.GetEvent() != nil {
		err = errors.New("an event without an ID")
	}
	return record.Update, err
}

// snapshots reads the stream of a challenge.
type snapshots struct{ *events }

// Recv returns the next snapshot of a challenge.
func (s snapshots) Recv() (*pb.WatchChallengeResponse, error) {
	record, err := s.record()
	if err == nil && record.ID != record.Snapshot.GetEtag() {
		err = fmt.Errorf("the ID %q is not the etag", record.ID)
	}
	return record.Snapshot, err
}

// watcher reads the stream of a game and checks every message.
type watcher struct {
	stream interface {
		Recv() (*pb.WatchResponse, error)
	}
	// leave ends the stream.
	leave   context.CancelFunc
	history *watchtest.History
	events  []*pb.Event // received so far
	// audiences lists the audiences received so far, in order.
	audiences []int32
}

func (s *testServer) watch(t testing.TB, ctx context.Context, request *pb.WatchRequest) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(cancel)
	w := &watcher{leave: cancel, history: watchtest.Begin(request)}
	if s.protocol == sse {
		query := url.Values{}
		if request.AfterVersion != nil {
			query.Set("after_version", fmt.Sprint(request.GetAfterVersion()))
		}
		for name, set := range map[string]bool{"every_event": request.GetEveryEvent(), "preview": request.GetPreview()} {
			if set {
				query.Set(name, "1")
			}
		}
		w.stream = s.events(t, ctx, "/g/"+request.GetGameId()+"/events?"+query.Encode())
		return w
	}
	stream, err := s.Watch(ctx, request)
	require.NoError(t, err)
	w.stream = stream
	return w
}

// from returns a request for the events after the given version.
func from(id string, version int32) *pb.WatchRequest {
	return &pb.WatchRequest{GameId: id, AfterVersion: &version}
}

// next returns the next game or event, or nil at the end.
func (w *watcher) next(t testing.TB) *pb.WatchResponse {
	t.Helper()
	for {
		update, err := w.receive(t)
		if errors.Is(err, io.EOF) {
			_, wrong := w.history.End(err)
			require.NoError(t, wrong)
			return nil
		}
		require.NoError(t, err)
		if _, ok := update.GetUpdate().(*pb.WatchResponse_Audience); !ok {
			return update
		}
	}
}

// receive returns the next update, or the error at the end of the stream.
func (w *watcher) receive(t testing.TB) (*pb.WatchResponse, error) {
	t.Helper()
	update, err := w.stream.Recv()
	if err != nil {
		return nil, err
	}
	require.NoError(t, w.history.Take(update))
	if u, ok := update.GetUpdate().(*pb.WatchResponse_Audience); ok {
		w.audiences = append(w.audiences, u.Audience)
	}
	require.Zero(t, w.history.Covered(), "a game replaced events although the reader is fast")
	return update, nil
}

// game returns the next update, which must be a game.
func (w *watcher) game(t testing.TB) *pb.Game {
	t.Helper()
	g := w.next(t).GetGame()
	require.NotNil(t, g)
	return g
}

// event returns the next update, which must be an event.
func (w *watcher) event(t testing.TB) *pb.Event {
	t.Helper()
	e := w.next(t).GetEvent()
	require.NotNil(t, e)
	w.events = append(w.events, e)
	return e
}

// audience reads until the number of spectators is n.
func (w *watcher) audience(t testing.TB, n int32) {
	t.Helper()
	for len(w.audiences) == 0 || w.audiences[len(w.audiences)-1] != n {
		_, err := w.receive(t)
		require.NoError(t, err, "waiting for %d spectators, received %v", n, w.audiences)
	}
}

// end requires that the stream ends with OK.
func (w *watcher) end(t testing.TB) {
	t.Helper()
	require.Nil(t, w.next(t))
}

// refused returns the error that ended the stream.
func (w *watcher) refused(t testing.TB) error {
	t.Helper()
	for {
		_, err := w.receive(t)
		if err != nil {
			require.NotErrorIs(t, err, io.EOF)
			return err
		}
	}
}
