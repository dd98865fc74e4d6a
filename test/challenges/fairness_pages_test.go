package challenges_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// address is an HTTP address that might reveal the owner's attempt.
type address struct {
	pattern string
	// path returns the path and query of the address, or "" if the test must skip it.
	path func(w *world) string
	// check makes the request and checks the response. If check is nil, the response must show
	// nothing.
	check func(w *world, s stage, r *reader, path string)
}

// fixed returns a function that always returns the same path.
func fixed(path string) func(*world) string { return func(*world) string { return path } }

// ofGame returns a function that formats a path with the id of the owner's attempt.
func ofGame(format string) func(*world) string {
	return func(w *world) string { return fmt.Sprintf(format, w.owner.game.GetId()) }
}

func ofChallenge(format string) func(*world) string {
	return func(w *world) string { return fmt.Sprintf(format, w.challenge.GetId()) }
}

// pageOfTomorrow returns the path of the page of tomorrow's daily game.
func pageOfTomorrow(w *world) string {
	if w.tomorrow == nil {
		return ""
	}
	return "/c/" + w.tomorrow.GetId()
}

// addresses lists all addresses that the server serves to browsers, except the contract's calls.
var addresses = []address{
	{"/g/{id}", ofGame("/g/%s"), (*world).checkPreview},
	{"/g/{id}/picture.png", ofGame("/g/%s/picture.png"), (*world).checkPicture},
	{"/g/{id}/events", ofGame("/g/%s/events"), (*world).checkEvents},
	{"/g/{id}/events", ofGame("/g/%s/events?after_version=0&every_event=1"), (*world).checkEvents},
	{"/g/{id}/events", ofGame("/g/%s/events?preview=1"), (*world).checkEvents},
	{"/c/{id}/events", ofChallenge("/c/%s/events"), (*world).checkChallengeEvents},
	{"/c/{id}", ofChallenge("/c/%s"), nil},
	{"/c/{id}", pageOfTomorrow, nil},
	{"/{$}", fixed("/"), nil},
	{"/play", fixed("/play"), nil},
	{"/play/{variant}", fixed("/play/classic"), nil},
	{"/daily", fixed("/daily"), nil},
	{"/daily/{variant}", fixed("/daily/classic"), nil},
	{"/race", fixed("/race"), nil},
	{"/top", fixed("/top"), nil},
	{"/top/{variant}", fixed("/top/classic"), nil},
	{"/p/{name}", fixed("/p/Ms-owner"), nil},
	{"/account", fixed("/account"), nil},
	{"/apple-touch-icon.png", fixed("/apple-touch-icon.png"), nil},
	{"/assets/{file}", fixed("/assets/main.js"), nil},
	{"/", fixed("/nothing"), nil},
}

// Ensure that addresses has an entry for each address that package web serves.
func TestFairness_Addresses(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../server/internal/web/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	pattern := regexp.MustCompile(`(?:mux\.Handle|mux\.HandleFunc|\bpage)\("(?:GET )?(/[^"]*)"`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range pattern.FindAllStringSubmatch(string(text), -1) {
			assert.True(t, slices.ContainsFunc(addresses, func(a address) bool { return a.pattern == found[1] }),
				"the matrix needs a row for %s", found[1])
		}
	}
}

// get requests all addresses.
func (w *world) get(s stage, r *reader) {
	for _, a := range addresses {
		path := a.path(w)
		if path == "" {
			continue
		}
		if a.check != nil {
			a.check(w, s, r, path)
			continue
		}
		w.check(fmt.Sprintf("%s for %s, %v", path, r.role, s), s, want{}, func() ([]byte, error) {
			_, body := w.ask(r, http.MethodGet, path, nil, nil)
			return append(body, drawn(body)...), nil
		})
	}
}

// checkPreview checks that the attempt's page describes the attempt if and only if everyone may see
// it.
func (w *world) checkPreview(s stage, r *reader, path string) {
	code, body := w.ask(r, http.MethodGet, path, nil, nil)
	name := fmt.Sprintf("%s for %s, %v", path, r.role, s)
	if s == expired {
		assert.Equal(w.t, http.StatusNotFound, code, name) // The attempt was removed.
	} else {
		assert.Equal(w.t, http.StatusOK, code, name)
	}
	describes := strings.Contains(string(body), "picture.png") // otherwise it describes the challenge
	assert.Equal(w.t, w.attempt(s, w.anyone).reason == "", describes, name)
	w.cells = append(w.cells, cell{name: name, answer: body})
}

// checkPicture checks that there is a picture of the attempt if and only if everyone may see it,
// and that it shows the attempt's board.
func (w *world) checkPicture(s stage, r *reader, path string) {
	if s == expired {
		return // A server caches its picture of a finished game for a day, measured by its own clock.
	}
	rule := w.attempt(s, w.anyone)
	rule.seed = no
	w.check(fmt.Sprintf("%s for %s, %v", path, r.role, s), s, rule, func() ([]byte, error) {
		code, body := w.ask(r, http.MethodGet, path, nil, nil)
		board := drawn(body)
		assert.Equal(w.t, code == http.StatusOK, board != nil, "a response with status %d", code)
		return append(body, board...), toStatus(code, body)
	})
}

// checkEvents reads the attempt as Server-Sent Events.
func (w *world) checkEvents(s stage, r *reader, path string) {
	w.check(fmt.Sprintf("%s for %s, %v", path, r.role, s), s, w.attempt(s, r), func() ([]byte, error) {
		code, body := w.ask(r, http.MethodGet, path, nil, func(line string) bool {
			data, ok := strings.CutPrefix(line, "data: ")
			var update pb.WatchResponse
			return ok && protojson.Unmarshal([]byte(data), &update) == nil && w.complete(&update)
		})
		return body, toStatus(code, body)
	})
}

// checkChallengeEvents reads the challenge as Server-Sent Events.
func (w *world) checkChallengeEvents(s stage, r *reader, path string) {
	rule := theSeed(w, s, r)
	if s == expired {
		rule = refused(pb.ReasonChallengeNotFound)
	}
	w.check(fmt.Sprintf("%s for %s, %v", path, r.role, s), s, rule, func() ([]byte, error) {
		code, body := w.ask(r, http.MethodGet, path, nil, func(line string) bool {
			data, ok := strings.CutPrefix(line, "data: ")
			var update pb.WatchChallengeResponse
			return ok && protojson.Unmarshal([]byte(data), &update) == nil && w.complete(&update)
		})
		return body, toStatus(code, body)
	})
}

// admin requests the pages for operators.
func (w *world) admin(s stage) {
	for _, path := range []string{
		"/metrics", "/healthz", "/readyz", "/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/heap?debug=1",
		"/debug/pprof/allocs?debug=1", "/debug/pprof/cmdline",
	} {
		for _, server := range w.servers {
			response, err := w.anyone.web.Get("http://" + server.MetricsAddr().String() + path)
			require.NoError(w.t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(w.t, err)
			require.NoError(w.t, response.Body.Close())
			w.cells = append(w.cells, cell{name: fmt.Sprintf("%s, %v", path, s), answer: body, before: s < running})
		}
	}
}

// operate performs the operator's operations that name the challenge or its players. Their results
// must show nothing.
func (w *world) operate(s stage) {
	ctx := w.t.Context()
	record := func(operation string, err error, results ...any) {
		w.cells = append(w.cells, cell{
			name: fmt.Sprintf("Operator.%s, %v", operation, s), answer: fmt.Append(nil, append(results, err)...), before: s < running,
		})
	}
	groups, err := w.operator.Identical(ctx, w.challenge.GetId())
	assert.True(w.t, err == nil || s == expired, "%v", err)
	record("Identical", err, groups)
	credentials, err := w.operator.Credentials(ctx)
	require.NoError(w.t, err)
	record("Credentials", err, credentials)
	name, id, err := w.operator.Hide(ctx, w.readers[4].player.ID) // this player is already hidden
	record("Hide", err, name, id)
	if s >= over { // Earlier, it would freeze the attempt.
		err = w.operator.Quarantine(ctx, w.owner.game.GetId())
		require.Error(w.t, err)
		record("Quarantine", err)
	}
}

// newLines returns a function that returns the lines of a body, one by one.
func newLines(body io.Reader) func() (string, error) {
	reader := bufio.NewReader(body)
	return func() (string, error) {
		line, err := reader.ReadString('\n')
		return strings.TrimSuffix(line, "\n"), err
	}
}
