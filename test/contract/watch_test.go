package contract

import (
	"crypto/tls"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/proto"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// unwatched returns a copy of a game without the number of spectators.
func unwatched(g *pb.Game) *pb.Game {
	g = proto.CloneOf(g)
	g.Watchers = 0
	return g
}

// mutation is a change of a game and the event that tells it.
type mutation struct {
	kind string // name of the event's action
	do   func()
}

// lives returns two games and the mutations that they go through until they end: a game for three
// players, and one of a single player.
func lives(t *testing.T, s *testServer) map[*pb.Game][]mutation {
	t.Helper()
	players := [3]player{s.player(t), s.player(t), s.player(t)}
	table := s.table(t, players[0], callerSeat, openSeat, openSeat)
	id := table.GetId()
	jump := func() { s.jumps(t, players, id, 1) }
	solo := s.game(t, players[0], "classic")
	slide := func() { s.moves(t, players[0], s.get(t, solo.GetId()), 1) }
	undo := func() { s.undo(t, players[0], solo.GetId(), s.get(t, solo.GetId()).GetVersion()) }
	return map[*pb.Game][]mutation{
		table: {
			{"joined", func() { s.join(t, players[1], id) }},
			{"joined", func() { s.join(t, players[2], id) }},
			{"moved", jump},
			{"moved", jump},
			{"resigned", func() { s.resign(t, players[0], id) }},
			{"resigned", func() { s.resign(t, players[1], id) }},
		},
		solo: {
			{"moved", slide},
			{"moved", slide},
			{"undone", undo},
			{"moved", slide},
			{"moved", slide},
			{"resigned", func() { s.resign(t, players[0], solo.GetId()) }},
		},
	}
}

var action = (&pb.Event{}).ProtoReflect().Descriptor().Oneofs().ByName("action")

func kind(e *pb.Event) string { return string(e.ProtoReflect().WhichOneof(action).Name()) }

// Ensure that over every protocol a watcher receives the game or the missing events and then each
// mutation's event, equal to the one in the game's transcript, and that the stream of a finished game
// ends: once, in order, and whichever version the watcher has seen before.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for g, mutations := range lives(t, s) {
		id := g.GetId()
		all := map[string][]*watcher{}
		open := func(version int32) {
			for _, door := range doors {
				o := s.over(t, door)
				live := o.watch(t, s.anyone, &pb.WatchRequest{GameId: id})
				same(t, unwatched(s.get(t, id)), unwatched(live.game(t)))
				every := o.watch(t, s.player(t).ctx, &pb.WatchRequest{GameId: id, EveryEvent: true, Preview: true})
				require.Equal(t, version, every.game(t).GetVersion())
				resumed := o.watch(t, s.anyone, from(id, version-1))
				require.Equal(t, version, resumed.event(t).GetVersion())
				all[door] = append(all[door], live, every, resumed, o.watch(t, s.anyone, from(id, version)))
			}
		}
		for n, m := range mutations {
			if n%3 == 0 {
				open(int32(n + 1))
			}
			m.do()
			for door, watchers := range all {
				for _, w := range watchers {
					e := w.event(t)
					require.EqualValues(t, n+2, e.GetVersion(), door)
					require.Equal(t, m.kind, kind(e), door)
				}
			}
		}
		log := s.verified(t, id)
		last := int32(len(log))
		require.EqualValues(t, len(mutations)+1, last)
		same(t, &pb.Created{
			Variant: g.GetVariant(), Seats: g.GetSeats(), SeedCommitment: g.GetSeedCommitment(), RulesRevision: g.GetRulesRevision(),
		}, log[0].GetCreated())
		final := s.get(t, id)
		assert.Equal(t, log[last-1].GetSeed(), final.GetSeed(), "the last event reveals the seed")
		same(t, log[last-1].GetResult(), final.GetResult())
		same(t, log[last-1].GetPosition(), final.GetPosition())
		for door, watchers := range all {
			for _, w := range watchers {
				w.end(t)
				for _, e := range w.events {
					same(t, log[e.GetVersion()-1], e)
				}
			}
			o := s.over(t, door)
			over := o.watch(t, s.anyone, &pb.WatchRequest{GameId: id})
			same(t, unwatched(final), unwatched(over.game(t)))
			over.end(t)
			for version := range last + 1 {
				w := o.watch(t, s.anyone, from(id, version))
				for _, e := range log[version:] {
					same(t, e, w.event(t))
				}
				w.end(t)
			}
		}
	}
}

// Ensure that over every protocol the streams of games and challenges end in a way that makes clients
// reconnect when their server stops.
func TestWatch_Stop(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.player(t)
	g := s.game(t, p, "classic")
	watching := map[string]*watcher{}
	for _, door := range doors {
		watching[door] = s.over(t, door).watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()})
		watching[door].game(t)
	}
	tiles := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"})
	snapshots := s.watchRaces(t, tiles.GetId(), "")
	for _, stream := range snapshots {
		until(t, stream, inStatus(challengeOpen))
	}
	go s.stop()
	for door, w := range watching {
		errs := []error{w.refused(t), nil}
		for errs[1] == nil {
			_, errs[1] = snapshots[door].Recv()
		}
		for _, err := range errs {
			if door == sse {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the server announced the end of the stream")
			} else {
				wantReason(t, err, pb.ReasonServerUnavailable)
			}
		}
	}
}

// Ensure that the audience of a game that waits is its players who are present, and that of a game in
// progress is its spectators without previews, and that all streams report when it changes.
func TestWatch_Audience(t *testing.T) {
	t.Parallel()
	s := serve(t)
	host, guest := s.player(t), s.player(t)
	g := s.table(t, host, callerSeat, openSeat, openSeat)
	request := &pb.WatchRequest{GameId: g.GetId()}
	own, connect := s.watch(t, host.ctx, request), s.over(t, protocols[1])
	own.audience(t, 1)
	preview := s.over(t, sse).watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId(), Preview: true})
	stranger := connect.watch(t, s.anyone, from(g.GetId(), 0))
	stranger.event(t)
	s.watch(t, guest.ctx, request).game(t)
	s.join(t, guest, g.GetId())
	for _, w := range []*watcher{own, preview, stranger} {
		w.audience(t, 2)
	}
	s.join(t, s.player(t), g.GetId())
	preview.audience(t, 1)
	stranger.leave()
	own.audience(t, 0)
	assert.Zero(t, s.get(t, g.GetId()).GetWatchers())
}

// Ensure that two servers with one store show the same games, that a call's effect is visible on the
// other one immediately, and that it accepts tokens and repeats that it has never seen.
func TestWatch_OtherServer(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	p := a.player(t)
	elsewhere := player{p.Player, p.token, b.with(p.token)}
	g := a.game(t, p, "classic")
	id := g.GetId()
	watching := map[string]*watcher{}
	for _, door := range doors {
		watching[door] = b.over(t, door).watch(t, b.anyone, from(id, 0))
		watching[door].event(t)
	}
	for i := range 6 {
		s, other, who := a, b, p
		if i%2 == 1 {
			s, other, who = b, a, elsewhere
		}
		e := s.moves(t, who, s.get(t, id), 1)[0]
		assert.Equal(t, e.GetVersion(), other.get(t, id).GetVersion())
		assert.Equal(t, e.GetVersion(), other.watch(t, other.anyone, &pb.WatchRequest{GameId: id}).game(t).GetVersion())
		for _, w := range watching {
			same(t, e, w.event(t))
		}
	}
	same(t, a.undo(t, p, id, 7, 2), b.undo(t, elsewhere, id, 7, 2))
	resigned := a.resign(t, p, id)
	same(t, resigned, b.resign(t, elsewhere, id))
	for _, w := range watching {
		assert.NotNil(t, w.event(t).GetUndone())
		same(t, resigned, w.event(t))
		w.end(t)
	}
}

// Ensure that a stream of Server-Sent Events has the headers and records that browsers and proxies
// need, and that a browser that reconnects resumes after its last event.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := start(t, server.Memory)
	p := s.account(t, &pb.CreatePlayerRequest{Name: "Ann"})
	g := s.game(t, p, "classic")
	path := "/g/" + g.GetId() + "/events"
	s.moves(t, p, g, 3)
	r := s.events(t, s.anyone, path)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff",
	} {
		assert.Equal(t, want, r.answer.Header.Get(name), name)
	}
	first := r.must(t)
	assert.Equal(t, "4", first.ID)
	assert.NotContains(t, first.Data, " ", "the JSON is not compact")
	assert.True(t, r.retry >= 2000 && r.retry <= 4000, "retry after %d", r.retry)
	old, err := read(t, s.tcp(t), "GET "+path+" HTTP/1.0")
	require.NoError(t, err)
	assert.Equal(t, "HTTP/1.0", old.answer.Proto)
	assert.Equal(t, "4", old.must(t).ID)
	s.resign(t, p, g.GetId())
	for _, r := range []*events{r, old} {
		assert.Equal(t, "5", r.must(t).ID)
		assert.Equal(t, sseRecord{Name: "end", Data: "{}"}, r.must(t))
		rest, err := io.ReadAll(r.body)
		require.NoError(t, err)
		assert.Empty(t, rest)
	}
	for _, request := range []struct {
		query, header string
		after         int
	}{
		{"?after_version=0&every_event=1", "Accept: text/event-stream", 0},
		{"?after_version=0", "Last-Event-ID:", 0},
		{"", "Last-Event-ID: 0", 0},
		{"?after_version=2", "Last-Event-ID: 4", 4},
	} {
		resumed := s.events(t, s.anyone, path+request.query, request.header)
		assert.Equal(t, strconv.Itoa(request.after+1), resumed.must(t).ID, request)
	}
	again := s.events(t, s.anyone, path+"?after_version=0", "Last-Event-ID: 5")
	assert.Equal(t, http.StatusNoContent, again.answer.StatusCode)
	assert.Contains(t, again.answer.Header.Get("Cache-Control"), "no-store", "a cache would end every other stream")
	head, err := read(t, s.tcp(t), "HEAD "+path+" HTTP/1.1", "Connection: close")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, head.answer.StatusCode)
}

// Ensure that a request for events that cannot be served gets an error in Connect's format.
func TestEvents_Errors(t *testing.T) {
	t.Parallel()
	s := start(t, server.Memory)
	p := s.player(t)
	id := s.game(t, p, "classic").GetId()
	path := "/g/" + id + "/events"
	for _, tt := range []struct {
		path, header string
		status       int
		body         string
	}{
		{"/g/" + id[:6] + "/events", "", http.StatusNotFound, `a complete id has 26 characters from a–z and 2–7`},
		{"/g/" + strings.ToUpper(id) + "/events", "", http.StatusNotFound, `a complete id has 26 characters from a–z and 2–7`},
		{path + "?after_version=2", "", http.StatusConflict, `"VERSION_CONFLICT"`},
		{path + "?after_version=-1", "", http.StatusBadRequest, `"after_version must be a version`},
		{path + "?after_version=99999999999", "", http.StatusBadRequest, `"after_version must be a version`},
		{path + "?after_version=", "", http.StatusBadRequest, `"after_version must be a version`},
		{path + "?after_version=0&after_version=1", "", http.StatusBadRequest, `"after_version must not be set twice"`},
		{path + "?after_version=1", "Last-Event-ID: x", http.StatusBadRequest, `"Last-Event-ID must be a version`},
		{path, "Last-Event-ID: 2", http.StatusConflict, `"VERSION_CONFLICT"`},
		{path + "?every_event=x", "", http.StatusBadRequest, `"every_event"`},
		{path + "?preview=x&every_event=x&after_version=x", "", http.StatusBadRequest, `"after_version must be a version`},
		{path + "?after=1", "", http.StatusBadRequest, `must not contain \"after\"; the parameters of this stream are after_version, every_event, preview`},
		{path + "?preview=%x", "", http.StatusBadRequest, `must consist of parameters`},
		{"/c/nothing/events", "", http.StatusNotFound, `"CHALLENGE_NOT_FOUND"`},
		{"/c/nothing/events?etag=", "", http.StatusBadRequest, `"etag must be the ID of an event"`},
		{"/c/nothing/events?after_version=1", "", http.StatusBadRequest, `are etag`},
		{path, "Origin: https://other.example\r\nAuthorization: Bearer x", http.StatusForbidden, `"ORIGIN_NOT_ALLOWED"`},
		{path, "Authorization: " + p.token, http.StatusUnauthorized, `must be \"Bearer\"`},
	} {
		headers := []string{"Connection: close"}
		if tt.header != "" {
			headers = append(headers, tt.header)
		}
		r := s.events(t, s.anyone, tt.path, headers...)
		require.Equal(t, tt.status, r.answer.StatusCode, tt.path)
		assert.Equal(t, "application/json", r.answer.Header.Get("Content-Type"), tt.path)
		if tt.status == http.StatusNotFound { // the one that caches may keep
			assert.Contains(t, r.answer.Header.Get("Cache-Control"), "no-store", tt.path)
		}
		body, err := io.ReadAll(r.body)
		require.NoError(t, err)
		assert.Contains(t, string(body), tt.body, tt.path)
	}
}

// Ensure that a reader with TLS receives records.
func TestEvents_TLS(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.TLSCert, c.TLSKey = tlstest.NewAuthority(t).Issue(t)
	srv, _ := servertest.Start(t, c)
	conn := servertest.Dial(t, srv.Addr(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})))
	s := (&testServer{anyone: waittest.Context(t), named: &atomic.Int32{}}).on(conn)
	p := s.player(t)
	g := s.game(t, p, "classic")
	browser, err := tls.Dial("tcp", srv.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	require.NoError(t, err)
	r, err := read(t, browser, "GET /g/"+g.GetId()+"/events HTTP/1.1")
	require.NoError(t, err)
	r.must(t)
	for range 10 { // one after another, so that the reader is up to date most of the time
		same(t, s.moves(t, p, s.get(t, g.GetId()), 1)[0], r.must(t).Update.GetEvent())
	}
}
