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
	path func(env *env) string
	// check makes the request and checks the response. If check is nil, the response must show
	// nothing.
	check func(env *env, s stage, r *reader, path string)
}

// fixed returns a function that always returns the same path.
func fixed(path string) func(*env) string { return func(*env) string { return path } }

// ofGame returns a function that formats a path with the id of the owner's attempt.
func ofGame(format string) func(*env) string {
	return func(env *env) string { return fmt.Sprintf(format, env.owner.game.GetId()) }
}

func ofChallenge(format string) func(*env) string {
	return func(env *env) string { return fmt.Sprintf(format, env.challenge.GetId()) }
}

// pageOfTomorrow returns the path of the page of tomorrow's daily game.
func pageOfTomorrow(env *env) string {
	if env.tomorrow == nil {
		return ""
	}
	return "/c/" + env.tomorrow.GetId()
}

// addresses lists all addresses that the server serves to browsers, except the contract's calls.
var addresses = []address{
	{"/g/{id}", ofGame("/g/%s"), (*env).checkPreview},
	{"/g/{id}/picture.png", ofGame("/g/%s/picture.png"), (*env).checkPicture},
	{"/g/{id}/events", ofGame("/g/%s/events"), (*env).checkEvents},
	{"/g/{id}/events", ofGame("/g/%s/events?after_version=0&every_event=1"), (*env).checkEvents},
	{"/g/{id}/events", ofGame("/g/%s/events?preview=1"), (*env).checkEvents},
	{"/c/{id}/events", ofChallenge("/c/%s/events"), (*env).checkChallengeEvents},
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
func (env *env) get(s stage, r *reader) {
	for _, a := range addresses {
		path := a.path(env)
		if path == "" {
			continue
		}
		if a.check != nil {
			a.check(env, s, r, path)
			continue
		}
		env.check(fmt.Sprintf("%s for %s, %v", path, r.role, s), s, want{}, func() ([]byte, error) {
			_, body := env.ask(r, http.MethodGet, path, nil, nil)
			return append(body, drawn(body)...), nil
		})
	}
}

// checkPreview checks that the attempt's page describes the attempt if and only if everyone may see
// it.
func (env *env) checkPreview(s stage, r *reader, path string) {
	code, body := env.ask(r, http.MethodGet, path, nil, nil)
	name := fmt.Sprintf("%s for %s, %v", path, r.role, s)
	if s == expired {
		assert.Equal(env.t, http.StatusNotFound, code, name) // The attempt was removed.
	} else {
		assert.Equal(env.t, http.StatusOK, code, name)
	}
	describes := strings.Contains(string(body), "picture.png") // otherwise it describes the challenge
	assert.Equal(env.t, env.attempt(s, env.anyone).reason == "", describes, name)
	env.cells = append(env.cells, cell{name: name, answer: body})
}

// checkPicture checks that there is a picture of the attempt if and only if everyone may see it,
// and that it shows the attempt's board.
func (env *env) checkPicture(s stage, r *reader, path string) {
	if s == expired {
		return // A server caches its picture of a finished game for a day, measured by its own clock.
	}
	rule := env.attempt(s, env.anyone)
	rule.seed = no
	env.check(fmt.Sprintf("%s for %s, %v", path, r.role, s), s, rule, func() ([]byte, error) {
		code, body := env.ask(r, http.MethodGet, path, nil, nil)
		board := drawn(body)
		assert.Equal(env.t, code == http.StatusOK, board != nil, "a response with status %d", code)
		return append(body, board...), toStatus(code, body)
	})
}

// checkEvents reads the attempt as Server-Sent Events.
func (env *env) checkEvents(s stage, r *reader, path string) {
	env.check(fmt.Sprintf("%s for %s, %v", path, r.role, s), s, env.attempt(s, r), func() ([]byte, error) {
		code, body := env.ask(r, http.MethodGet, path, nil, func(line string) bool {
			data, ok := strings.CutPrefix(line, "data: ")
			var update pb.WatchResponse
			return ok && protojson.Unmarshal([]byte(data), &update) == nil && env.complete(&update)
		})
		return body, toStatus(code, body)
	})
}

// checkChallengeEvents reads the challenge as Server-Sent Events.
func (env *env) checkChallengeEvents(s stage, r *reader, path string) {
	rule := theSeed(env, s, r)
	if s == expired {
		rule = refused(pb.ReasonChallengeNotFound)
	}
	env.check(fmt.Sprintf("%s for %s, %v", path, r.role, s), s, rule, func() ([]byte, error) {
		code, body := env.ask(r, http.MethodGet, path, nil, func(line string) bool {
			data, ok := strings.CutPrefix(line, "data: ")
			var update pb.WatchChallengeResponse
			return ok && protojson.Unmarshal([]byte(data), &update) == nil && env.complete(&update)
		})
		return body, toStatus(code, body)
	})
}

// admin requests the pages for operators.
func (env *env) admin(s stage) {
	for _, path := range []string{
		"/metrics", "/healthz", "/readyz", "/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/heap?debug=1",
		"/debug/pprof/allocs?debug=1", "/debug/pprof/cmdline",
	} {
		for _, server := range env.servers {
			response, err := env.anyone.web.Get("http://" + server.MetricsAddr().String() + path)
			require.NoError(env.t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(env.t, err)
			require.NoError(env.t, response.Body.Close())
			env.cells = append(env.cells, cell{name: fmt.Sprintf("%s, %v", path, s), answer: body, before: s < running})
		}
	}
}

// operate performs the operator's operations that name the challenge or its players. Their results
// must show nothing.
func (env *env) operate(s stage) {
	ctx := env.t.Context()
	record := func(operation string, err error, results ...any) {
		env.cells = append(env.cells, cell{
			name: fmt.Sprintf("Operator.%s, %v", operation, s), answer: fmt.Append(nil, append(results, err)...), before: s < running,
		})
	}
	groups, err := env.operator.Identical(ctx, env.challenge.GetId())
	assert.True(env.t, err == nil || s == expired, "%v", err)
	record("Identical", err, groups)
	credentials, err := env.operator.Credentials(ctx)
	require.NoError(env.t, err)
	record("Credentials", err, credentials)
	name, id, err := env.operator.Hide(ctx, env.readers[4].player.ID) // this player is already hidden
	record("Hide", err, name, id)
	if s >= over { // Earlier, it would freeze the attempt.
		err = env.operator.Quarantine(ctx, env.owner.game.GetId())
		require.Error(env.t, err)
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
