package contract

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// curl makes calls as a user would in a shell.
type curl struct {
	s      *testServer
	token  string
	called map[string]bool
}

// run runs curl and returns its output.
func (c *curl) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "curl", append([]string{"--noproxy", "*", "--silent", "--show-error", "--max-time", "60"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "curl: %s", stderr.String())
	return string(out)
}

// call makes a call of the contract and returns the response in JSON.
func (c *curl) call(t *testing.T, name, body string) map[string]any {
	t.Helper()
	args := []string{"http://" + c.s.addr.String() + "/gridstand.v1." + name, "-H", "content-type: application/json", "-d", body}
	if c.token != "" {
		args = append(args, "-H", "authorization: Bearer "+c.token)
	}
	c.called["/gridstand.v1."+name] = true
	out := c.run(t, append(args, "--fail-with-body")...)
	var answer map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &answer), out)
	for _, m := range methods() {
		if m.name == "/gridstand.v1."+name {
			require.NoError(t, protojson.Unmarshal([]byte(out), m.response.New().Interface()), out)
		}
	}
	return answer
}

// at returns the part of a response at the given path, such as "game", "id".
func at(t *testing.T, answer any, path ...string) any {
	t.Helper()
	for _, key := range path {
		if list, ok := answer.([]any); ok {
			require.NotEmpty(t, list, "%v", path)
			answer = list[0]
		}
		require.Contains(t, answer, key)
		answer = answer.(map[string]any)[key]
	}
	return answer
}

// Ensure that every unary call of the contract works with curl and one line of JSON, and that
// numbers and field names are as in the contract's JSON form.
func TestCurl(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	s, _ := startAt(t, 12) // no day ends during the test
	c := &curl{s: s, called: map[string]bool{}}

	assert.Equal(t, "gridstand", at(t, c.call(t, "GameService/GetServerInfo", `{}`), "name"))
	assert.Equal(t, "classic", at(t, c.call(t, "GameService/ListVariants", `{}`), "variants", "id"))
	created := c.call(t, "PlayerService/CreatePlayer", `{"name": "Ada"}`)
	c.token = at(t, created, "token").(string)
	me := at(t, created, "player", "id").(string)
	assert.Equal(t, me, at(t, c.call(t, "PlayerService/GetPlayer", `{"playerId": "me"}`), "player", "id"))
	c.token = at(t, c.call(t, "PlayerService/RotateToken", `{}`), "token").(string)

	key := newKey(t)
	proof, err := json.Marshal(map[string]string{"signature": key.proof(t, me).GetSignature()})
	require.NoError(t, err)
	assert.Equal(t, key.fingerprint(), at(t, c.call(t, "PlayerService/AddKey", string(proof)), "key", "fingerprint"))
	assert.Equal(t, key.fingerprint(), at(t, c.call(t, "PlayerService/ListKeys", `{}`), "keys", "fingerprint"))
	c.call(t, "PlayerService/RemoveKey", fmt.Sprintf(`{"fingerprint": %q}`, key.fingerprint()))

	game := at(t, c.call(t, "GameService/CreateGame", `{"variant": "classic", "seats": [{"caller": {}}]}`), "game")
	id, version := at(t, game, "id").(string), 1
	for fmt.Sprint(at(t, game, "position", "scores")) == "[0]" || version < 3 {
		legal := at(t, game, "position", "twenty48", "legalMoves").([]any)[0]
		moved := c.call(t, "GameService/Move", fmt.Sprintf(`{"gameId": %q, "version": %d, "direction": %q}`, id, version, legal))
		version = int(at(t, moved, "event", "version").(float64))
		game = at(t, c.call(t, "GameService/GetGame", fmt.Sprintf(`{"gameId": %q}`, id)), "game")
	}
	assert.Equal(t, id, at(t, c.call(t, "GameService/ListGames", `{"playerId": "me", "pageSize": 1}`), "games", "id"))
	assert.Equal(t, id, at(t, c.call(t, "GameService/JoinGame", fmt.Sprintf(`{"gameId": %q}`, id)), "game", "id"))
	resigned := c.call(t, "GameService/Resign", fmt.Sprintf(`{"gameId": %q}`, id))
	assert.Equal(t, "REASON_RESIGNED", at(t, resigned, "event", "result", "reason"))
	var board map[string]any
	eventually(t, "the score counts", func() bool {
		board = c.call(t, "LeaderboardService/ListScores", `{"variant": "classic", "window": "WINDOW_DAY"}`)
		return board["entries"] != nil
	})
	assert.Equal(t, me, at(t, board, "entries", "player", "id"))
	rank := c.call(t, "LeaderboardService/GetRank", `{"variant": "classic", "playerId": "me"}`)
	assert.Equal(t, 1.0, at(t, rank, "entry", "rank"))

	again := at(t, c.call(t, "GameService/CreateGame", `{"variant": "twos"}`), "game")
	legal := at(t, again, "position", "twenty48", "legalMoves").([]any)[0]
	c.call(t, "GameService/Move", fmt.Sprintf(`{"gameId": %q, "version": 1, "direction": %q}`, at(t, again, "id"), legal))
	undone := c.call(t, "GameService/Undo", fmt.Sprintf(`{"gameId": %q, "version": 2}`, at(t, again, "id")))
	assert.Contains(t, undone["event"], "undone")

	c.challenges(t, id)
	for _, m := range methods() {
		assert.Equal(t, !m.streams, c.called[m.name], "%s", m.name)
	}
	events := c.run(t, "http://"+s.addr.String()+"/g/"+id+"/events?after_version=0")
	assert.Equal(t, version+1, strings.Count(events, "\nid: ")+strings.Count(events[:1], "i"), events)
	assert.True(t, strings.HasSuffix(events, "event: end\ndata: {}\n\n"), events)
}

// challenges makes the challenge calls. over is the id of a finished game.
func (c *curl) challenges(t *testing.T, over string) {
	today := c.call(t, "ChallengeService/GetChallenge", `{"daily": {}}`)
	assert.Equal(t, "CHALLENGE_KIND_DAILY", at(t, today, "challenge", "kind"))
	assert.Equal(t, "CHALLENGE_STATUS_SCHEDULED", at(t, today, "next", "status"))
	attempt := at(t, c.call(t, "GameService/CreateGame", fmt.Sprintf(`{"challengeId": %q}`, at(t, today, "challenge", "id"))), "game")
	assert.Equal(t, at(t, today, "challenge", "id"), at(t, attempt, "challengeId"))
	assert.Equal(t, at(t, attempt, "id"), at(t, c.call(t, "ChallengeService/GetChallenge", `{"daily": {}}`), "attempt", "gameId"))

	rematch := c.call(t, "ChallengeService/CreateChallenge", fmt.Sprintf(`{"kind": "CHALLENGE_KIND_REMATCH", "gameId": %q}`, over))
	assert.Equal(t, over, at(t, rematch, "challenge", "target", "gameId"))
	race := at(t, c.call(t, "ChallengeService/CreateChallenge", `{"kind": "CHALLENGE_KIND_RACE", "variant": "classic", "limit": "180s"}`), "challenge", "id")
	assert.Equal(t, race, at(t, c.call(t, "ChallengeService/ListChallenges", `{"kind": "CHALLENGE_KIND_RACE"}`), "challenges", "id"))
	c.call(t, "ChallengeService/LeaveChallenge", fmt.Sprintf(`{"challengeId": %q}`, race))
	c.call(t, "ChallengeService/JoinChallenge", fmt.Sprintf(`{"challengeId": %q}`, race))
	c.call(t, "ChallengeService/JoinChallenge", fmt.Sprintf(`{"challengeId": %q, "bot": "greedy"}`, race))
	started := c.call(t, "ChallengeService/StartChallenge", fmt.Sprintf(`{"challengeId": %q}`, race))
	assert.Equal(t, "CHALLENGE_STATUS_SCHEDULED", at(t, started, "challenge", "status"))
	assert.Equal(t, 2.0, at(t, c.call(t, "ChallengeService/ListStandings", fmt.Sprintf(`{"challengeId": %q}`, race)), "total"))
}

// Ensure that curl shows the details of an error and when to retry.
func TestCurl_Errors(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	s := start(t, server.Memory, func(c *server.Config) { c.Limits.NewPlayersPerMinute = 1 })
	c := &curl{s: s, called: map[string]bool{}}
	url := "http://" + s.addr.String() + "/gridstand.v1."
	c.call(t, "PlayerService/CreatePlayer", `{"name": "Ada"}`)
	for call, wants := range map[string][]string{
		`PlayerService/CreatePlayer {"name": "Bob"}`: {
			"HTTP/1.1 429", "Retry-After: ", `"code":"resource_exhausted"`, `"type":"google.rpc.ErrorInfo"`,
			`"reason":"` + pb.ReasonRateLimited + `"`, `"limit_name":"new_players_per_minute"`, `"retryDelay"`,
		},
		`GameService/ListGames {"pageSize": -1}`: {
			"HTTP/1.1 400", `"code":"invalid_argument"`, `"type":"google.rpc.BadRequest"`, `"field":"page_size"`,
		},
		`GameService/GetGame {"gameId": "x"}`:                {"HTTP/1.1 404", `"code":"not_found"`, `"reason":"GAME_NOT_FOUND"`},
		`ChallengeService/GetChallenge {"challengeId": "x"}`: {"HTTP/1.1 404", `"reason":"CHALLENGE_NOT_FOUND"`},
		`GameService/CreateGame {"variant": "twos"}`:         {"HTTP/1.1 401", `"code":"unauthenticated"`, `"reason":"BAD_TOKEN"`},
		`GameService/GetGame {"gameId": 1}`:                  {"HTTP/1.1 400", `"code":"invalid_argument"`, `"field":"game_id"`},
		`GameService/GetGame {"gameId": "x`:                  {"HTTP/1.1 400", `"code":"invalid_argument"`},
		`GameService/GetGame gameId=x`:                       {"HTTP/1.1 400", `"code":"invalid_argument"`},
	} {
		name, body, _ := strings.Cut(call, " ")
		out := c.run(t, "--include", url+name, "-H", "content-type: application/json", "-d", body)
		for _, want := range wants {
			assert.Contains(t, strings.ReplaceAll(out, `": "`, `":"`), want, call)
		}
	}
	out := c.run(t, "--include", url+"GameService/ListGames", "-d", "{}")
	assert.Contains(t, out, "HTTP/1.1 415")
	assert.Contains(t, out, "must be application/json")
}
