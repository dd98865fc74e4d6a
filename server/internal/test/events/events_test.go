package events

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a reader gets the game and each event after it as gRPC's watchers do, and
// then the end, after which the game has no more.
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
	first := r.must(t)
	assert.Equal(t, "4", first.id)
	assert.Equal(t, p.game.GetId(), first.update.GetGame().GetId())
	assert.NotContains(t, first.data, " ", "the JSON is compact")
	assert.GreaterOrEqual(t, r.retry, 2000)
	assert.LessOrEqual(t, r.retry, 4000)

	p.move(t, 5)
	p.resign(t)
	all := p.transcript(t)
	require.Len(t, all, 10)
	for _, want := range all[4:] {
		got := r.must(t)
		assert.Equal(t, strconv.Itoa(int(want.GetVersion())), got.id)
		assert.True(t, proto.Equal(want, got.update.GetEvent()), got.data)
	}
	end := r.must(t)
	assert.Equal(t, record{name: "end", data: "{}"}, end)
	assert.Empty(t, r.rest(t))

	whole := read(t, srv.Addr(), p.path()+"?after=0&every_event=1")
	for _, want := range all {
		assert.True(t, proto.Equal(want, whole.must(t).update.GetEvent()))
	}
	assert.Equal(t, "end", whole.must(t).name)

	again := read(t, srv.Addr(), p.path()+"?after=0", "Last-Event-ID: 10")
	assert.Equal(t, http.StatusNoContent, again.answer.StatusCode)
	assert.Empty(t, again.rest(t))

	finished := read(t, srv.Addr(), p.path())
	assert.Equal(t, pb.GameStatus_GAME_STATUS_FINISHED, finished.must(t).update.GetGame().GetStatus())
	assert.Equal(t, "end", finished.must(t).name)
}

// Ensure that a request that cannot be served gets an answer in the form of Connect.
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
		{p.path() + "?after=2", "", http.StatusConflict, `"VERSION_CONFLICT"`},
		{p.path() + "?after=-1", "", http.StatusBadRequest, `"after_version"`},
		{p.path() + "?after=x", "", http.StatusBadRequest, `"after_version"`},
		{p.path() + "?after=99999999999", "", http.StatusBadRequest, `"after_version"`},
		{p.path() + "?after=1", "Last-Event-ID: x", http.StatusBadRequest, `"after_version"`},
		{p.path() + "?every_event=x", "", http.StatusBadRequest, `"every_event"`},
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

// Ensure that a client of HTTP/1.0, and one that asks for headers, get what they can read.
func TestEvents_OldClients(t *testing.T) {
	t.Parallel()
	srv, _ := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), classic)
	old := readOn(t, dial(t, srv.Addr()), "GET "+p.path()+" HTTP/1.0")
	assert.Equal(t, "HTTP/1.0", old.answer.Proto)
	assert.Equal(t, "1", old.must(t).id)
	p.move(t, 1)
	assert.Equal(t, "2", old.must(t).id)

	head := readOn(t, dial(t, srv.Addr()), "HEAD "+p.path()+" HTTP/1.1", "Connection: close")
	assert.Equal(t, http.StatusOK, head.answer.StatusCode)
	assert.Equal(t, "text/event-stream", head.answer.Header.Get("Content-Type"))
	assert.Empty(t, head.rest(t))
}

// Ensure that the audience has those who only watch, and that one who closes the
// connection leaves it in seconds, also if the game has no events.
func TestEvents_Audience(t *testing.T) {
	t.Parallel()
	srv, _ := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), &pb.CreateGameRequest{Variant: "classic", Private: true})
	own := read(t, srv.Addr(), p.path(), "Authorization: Bearer "+p.token)
	own.must(t)
	preview := read(t, srv.Addr(), p.path()+"?preview=1")
	preview.must(t)
	one := read(t, srv.Addr(), p.path()+"?preview=0")
	own.audience(t, 1)
	two := read(t, srv.Addr(), p.path())
	two.must(t)
	own.audience(t, 2)
	one.audience(t, 2)

	began := time.Now()
	require.NoError(t, two.conn.Close())
	own.audience(t, 1)
	assert.Less(t, time.Since(began), 10*time.Second)
	require.NoError(t, one.conn.Close())
	own.audience(t, 0)
	p.move(t, 1)
	assert.Equal(t, "2", own.must(t).id)
	assert.Equal(t, "2", preview.must(t).id)
}

// Ensure that a server that stops ends its streams soon, without the record that says
// that the game is over.
func TestEvents_Stop(t *testing.T) {
	t.Parallel()
	srv, stop := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), classic)
	var all []*reader
	for range 20 {
		r := read(t, srv.Addr(), p.path())
		r.must(t)
		all = append(all, r)
	}
	began := time.Now()
	stop()
	assert.Less(t, time.Since(began), 10*time.Second)
	for _, r := range all {
		assert.NotContains(t, r.rest(t), "end")
	}
}
