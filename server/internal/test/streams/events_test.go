package streams

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	delaystest "github.com/gridstand/gridstand/internal/testkit/delays"
	eventstest "github.com/gridstand/gridstand/internal/testkit/events"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a reader receives the game and each subsequent event as gRPC watchers do, then the
// end record, and nothing after that.
func TestEvents(t *testing.T) {
	t.Parallel()
	srv, _ := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), classic)
	p.move(t, 3)

	r := read(t, srv.Addr(), p.path())
	require.Equal(t, http.StatusOK, r.answer.StatusCode)
	assert.Equal(t, "text/event-stream", r.answer.Header.Get("Content-Type"))
	assert.Equal(t, "no-store, no-transform", r.answer.Header.Get("Cache-Control"))
	assert.Equal(t, "no", r.answer.Header.Get("X-Accel-Buffering"))
	assert.Equal(t, "nosniff", r.answer.Header.Get("X-Content-Type-Options"))
	assert.NotEmpty(t, r.answer.Header.Get("Date"))
	first := r.Must(t)
	assert.Equal(t, "4", first.ID)
	assert.Equal(t, p.game.GetId(), first.Update.GetGame().GetId())
	assert.NotContains(t, first.Data, " ", "the JSON is not compact")
	assert.GreaterOrEqual(t, r.Retry, 2000)
	assert.LessOrEqual(t, r.Retry, 4000)

	p.move(t, 5)
	p.Resign(t, p.game)
	all := p.transcript(t)
	require.Len(t, all, 10)
	for _, want := range all[4:] {
		got := r.Must(t)
		assert.Equal(t, strconv.Itoa(int(want.GetVersion())), got.ID)
		assert.True(t, proto.Equal(want, got.Update.GetEvent()), got.Data)
	}
	end := r.Must(t)
	assert.Equal(t, eventstest.Record{Name: "end", Data: "{}"}, end)
	assert.Empty(t, r.rest(t))

	for _, request := range []struct {
		query, header string
		after         int
	}{
		{"?after_version=0&every_event=1", "Accept: text/event-stream", 0},
		{"?after_version=0", "Last-Event-ID:", 0},
		{"", "Last-Event-ID: 0", 0},
		{"?after_version=7", "Accept: text/event-stream", 7},
		{"?after_version=2", "Last-Event-ID: 7", 7},
	} {
		resumed := read(t, srv.Addr(), p.path()+request.query, request.header)
		for _, want := range all[request.after:] {
			assert.True(t, proto.Equal(want, resumed.Must(t).Update.GetEvent()), request)
		}
		assert.Equal(t, "end", resumed.Must(t).Name, request)
	}

	again := read(t, srv.Addr(), p.path()+"?after_version=0", "Last-Event-ID: 10")
	assert.Equal(t, http.StatusNoContent, again.answer.StatusCode)
	assert.Empty(t, again.rest(t))

	finished := read(t, srv.Addr(), p.path())
	assert.Equal(t, pb.GameStatus_GAME_STATUS_FINISHED, finished.Must(t).Update.GetGame().GetStatus())
	assert.Equal(t, "end", finished.Must(t).Name)
}

// Ensure that a request that cannot be served gets an error response in Connect's format.
func TestEvents_Errors(t *testing.T) {
	t.Parallel()
	srv, _ := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), classic)
	for _, tt := range []struct {
		path, header string
		status       int
		body         string
	}{
		{"/g/nothing/events", "", http.StatusNotFound, `"GAME_NOT_FOUND"`},
		{"/g/" + p.game.GetId()[:6] + "/events", "", http.StatusNotFound, `a complete id has 26 characters`},
		{p.path() + "?after_version=2", "", http.StatusConflict, `"VERSION_CONFLICT"`},
		{p.path() + "?after_version=-1", "", http.StatusBadRequest, `"after_version must be a version`},
		{p.path() + "?after_version=x", "", http.StatusBadRequest, `"after_version must be a version`},
		{p.path() + "?after_version=99999999999", "", http.StatusBadRequest, `"after_version must be a version`},
		{p.path() + "?after_version=1", "Last-Event-ID: x", http.StatusBadRequest, `"Last-Event-ID must be a version`},
		{p.path(), "Last-Event-ID: -1", http.StatusBadRequest, `"Last-Event-ID must be a version`},
		{p.path(), "Last-Event-ID: 2", http.StatusConflict, `"VERSION_CONFLICT"`},
		{p.path() + "?every_event=x", "", http.StatusBadRequest, `"every_event"`},
		{p.path() + "?after_version=", "", http.StatusBadRequest, `"after_version must be a version: 0 or a positive number"`},
		{p.path() + "?after_version", "Last-Event-ID: 1", http.StatusBadRequest, `"after_version must be a version: 0 or a positive number"`},
		{p.path() + "?after_version=0&after_version=1", "", http.StatusBadRequest, `"after_version must not be set twice"`},
		{p.path() + "?every_event=", "", http.StatusBadRequest, `"every_event must be 1 or 0"`},
		{p.path() + "?preview=1&preview=1", "", http.StatusBadRequest, `"preview must not be set twice"`},
		{"/c/nothing/events?etag=", "", http.StatusBadRequest, `"etag must be the ID of an event"`},
		{"/c/nothing/events?etag=a&etag=b", "", http.StatusBadRequest, `"etag must not be set twice"`},
		{p.path() + "?after=1", "", http.StatusBadRequest, `"after is not a parameter of this stream, which has after_version, every_event, preview"`},
		{p.path() + "?preview=1&%0a=1", "", http.StatusBadRequest, `is not a parameter`},
		{p.path() + "?preview=%x", "", http.StatusBadRequest, `must consist of parameters`},
		{"/c/nothing/events?after_version=1", "", http.StatusBadRequest, `which has etag"`},
		{p.path(), "Origin: https://other.example\r\nAuthorization: Bearer x", http.StatusForbidden, `"ORIGIN_NOT_ALLOWED"`},
		{p.path(), "Authorization: " + p.Token, http.StatusUnauthorized, `must be \"Bearer\"`},
		{p.path(), "Authorization: Bearer wrong", http.StatusUnauthorized, `"BAD_TOKEN"`},
	} {
		headers := []string{"Connection: close"}
		if tt.header != "" {
			headers = append(headers, tt.header)
		}
		r := read(t, srv.Addr(), tt.path, headers...)
		assert.Equal(t, tt.status, r.answer.StatusCode, tt.path)
		assert.Equal(t, "application/json", r.answer.Header.Get("Content-Type"), tt.path)
		assert.Contains(t, r.rest(t), tt.body, tt.path)
	}
}

// Ensure that an HTTP/1.0 client and a HEAD request get a suitable response.
func TestEvents_OldClients(t *testing.T) {
	t.Parallel()
	srv, _ := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), classic)
	old := readOn(t, dial(t, srv.Addr()), "GET "+p.path()+" HTTP/1.0")
	assert.Equal(t, "HTTP/1.0", old.answer.Proto)
	assert.Equal(t, "1", old.Must(t).ID)
	p.move(t, 1)
	assert.Equal(t, "2", old.Must(t).ID)

	head := readOn(t, dial(t, srv.Addr()), "HEAD "+p.path()+" HTTP/1.1", "Connection: close")
	assert.Equal(t, http.StatusOK, head.answer.StatusCode)
	assert.Equal(t, "text/event-stream", head.answer.Header.Get("Content-Type"))
	assert.Empty(t, head.rest(t))
}

// Ensure that the audience includes spectators but neither the game's own player nor previews,
// and that a reader that closes its connection leaves the audience within seconds, even if the
// game has no events.
func TestEvents_Audience_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	srv, _ := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), &pb.CreateGameRequest{Variant: "classic", Private: true})
	delays := delaystest.Measure(t)
	own := read(t, srv.Addr(), p.path(), "Authorization: Bearer "+p.Token)
	own.Must(t)
	preview := read(t, srv.Addr(), p.path()+"?preview=1")
	preview.Must(t)
	one := read(t, srv.Addr(), p.path()+"?preview=0")
	own.audience(t, 1)
	two := read(t, srv.Addr(), p.path())
	two.Must(t)
	own.audience(t, 2)
	one.audience(t, 2)

	began := time.Now()
	require.NoError(t, two.conn.Close())
	own.audience(t, 1)
	assert.Less(t, time.Since(began), 10*time.Second+delays.Allowance())
	require.NoError(t, one.conn.Close())
	own.audience(t, 0)
	p.move(t, 1)
	assert.Equal(t, "2", own.Must(t).ID)
	assert.Equal(t, "2", preview.Must(t).ID)
}

// Ensure that a stopping server soon ends its streams, without sending the record that announces
// the end of the game.
func TestEvents_Stop(t *testing.T) {
	t.Parallel()
	srv, stop := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), classic)
	var all []*reader
	for range 20 {
		r := read(t, srv.Addr(), p.path())
		r.Must(t)
		all = append(all, r)
	}
	began := time.Now()
	stop()
	assert.Less(t, time.Since(began), patience)
	for _, r := range all {
		assert.NotContains(t, r.rest(t), "event: end")
	}
}
