package web

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/front"
)

// Ensure that a link preview describes the players, the variant, the score, and whether
// the game is live.
func TestGameMeta(t *testing.T) {
	t.Parallel()
	player := &pb.Seat{Occupant: &pb.Seat_Player{Player: &pb.Player{Name: "ada"}}}
	twenty48 := &pb.Game{
		Id: "abc", Version: 33, Variant: "classic", Watchers: 5, Status: pb.GameStatus_GAME_STATUS_ACTIVE,
		Seats: []*pb.Seat{player},
		Position: &pb.Position{
			MoveCount: 1025, Scores: []int32{12_345},
			Board: &pb.Position_Twenty48{Twenty48: &pb.Twenty48Board{Tiles: []int32{2, 1024}}},
		},
	}
	got := describeGame(twenty48)
	assert.Equal(t, "ada, 2048 classic", got.Title)
	assert.Equal(t, "Live: 12,345 points, tile 1024, 1,025 moves", got.Description)
	assert.Regexp(t, `^/g/abc/picture\.png\?v=[0-9a-f]{12}$`, got.Image)
	twenty48.Status, twenty48.Result = pb.GameStatus_GAME_STATUS_FINISHED, &pb.Result{Reason: pb.Result_REASON_NO_MOVES}
	assert.Equal(t, "No moves left: 12,345 points, tile 1024, 1,025 moves", describeGame(twenty48).Description)
	assert.NotEqual(t, got.Image, describeGame(twenty48).Image, "sites cache pictures by URL")

	tribolo := &pb.Game{
		Id: "def", Version: 2, Variant: "tribolo", Status: pb.GameStatus_GAME_STATUS_WAITING,
		Seats:    []*pb.Seat{player, {Occupant: &pb.Seat_Bot{Bot: "greedy"}}, {}},
		Position: &pb.Position{Scores: []int32{12, 13, 14}, Board: &pb.Position_Tribolo{Tribolo: &pb.TriboloBoard{}}},
	}
	got = describeGame(tribolo)
	assert.Equal(t, "ada, greedy, open, Tribolo", got.Title)
	assert.Equal(t, "Waiting for players: ada 12, greedy 13, open 14, 0 moves", got.Description)
	tribolo.Status, tribolo.Result = pb.GameStatus_GAME_STATUS_FINISHED, &pb.Result{Reason: pb.Result_REASON_NO_MOVES, Winners: []int32{1}}
	assert.Equal(t, "red wins: ada 12, greedy 13, open 14, 0 moves", describeGame(tribolo).Description)
}

// Ensure that the link preview of a challenge describes it and names the entrants of a
// race, but shows no board.
func TestChallengeMeta(t *testing.T) {
	t.Parallel()
	daily := &pb.Challenge{Id: "abc", Kind: pb.ChallengeKind_CHALLENGE_KIND_DAILY, Variant: "classic", Date: "2026-11-21", Status: pb.ChallengeStatus_CHALLENGE_STATUS_OPEN}
	got := describeChallenge(daily)
	assert.Equal(t, "Daily game of 2026-11-21, 2048 classic", got.Title)
	assert.Equal(t, "The same tiles for everyone. One attempt, until midnight UTC. How far can you get?", got.Description)
	assert.Regexp(t, `^/c/abc/picture\.png\?v=[0-9a-f]{12}$`, got.Image)
	daily.Status = pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED
	assert.Contains(t, describeChallenge(daily).Description, "Closed: see the ranking")
	assert.NotEqual(t, got.Image, describeChallenge(daily).Image, "sites cache pictures by URL")
	ada := &pb.Player{Id: "1", Name: "ada"}
	race := &pb.Challenge{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "vt100", Limit: durationpb.New(3 * time.Minute), Status: pb.ChallengeStatus_CHALLENGE_STATUS_WAITING,
		Creator: ada, Entrants: []*pb.Entrant{{Who: &pb.Entrant_Player{Player: ada}}, {Who: &pb.Entrant_Bot{Bot: "greedy"}}},
	}
	got = describeChallenge(race)
	assert.Equal(t, "ada races, 2048 vt100, 3 min: 2 of 8 are here", got.Title)
	assert.Equal(t, "The same tiles for everyone at the same time: ada, greedy.", got.Description)
	race.Status = pb.ChallengeStatus_CHALLENGE_STATUS_OPEN
	assert.Equal(t, "ada races, 2048 vt100, 3 min: live now", describeChallenge(race).Title)
	link := &pb.Challenge{Kind: pb.ChallengeKind_CHALLENGE_KIND_LINK, Variant: "3x3", Creator: ada}
	assert.Equal(t, "Challenge by ada, 2048 3x3", describeChallenge(link).Title)
	rematch := &pb.Challenge{Kind: pb.ChallengeKind_CHALLENGE_KIND_REMATCH, Variant: "3x3", Target: &pb.Target{Player: ada, Score: 1234}}
	assert.Equal(t, "Beat ada's 1,234 points, 2048 3x3", describeChallenge(rematch).Title)
}

// Ensure that the link preview of a player shows their latest public game, if there is one.
func TestPlayerMeta(t *testing.T) {
	t.Parallel()
	ada := &pb.Player{Id: "1", Name: "ada"}
	got := describePlayer(ada, nil)
	assert.Equal(t, "The games of ada, live and finished.", got.Description)
	assert.Contains(t, got.Image, "/p/ada/picture.png?v=")
	played := describePlayer(ada, []*pb.Game{{
		Variant: "3x3", Status: pb.GameStatus_GAME_STATUS_ACTIVE, Seats: []*pb.Seat{{Occupant: &pb.Seat_Player{Player: ada}}},
		Position: &pb.Position{Scores: []int32{1234}, MoveCount: 99, Board: &pb.Position_Twenty48{Twenty48: &pb.Twenty48Board{Tiles: []int32{128}}}},
	}})
	assert.Equal(t, "Live: 1,234 points, tile 128, 99 moves in 2048 3x3. All games, live and finished.", played.Description)
	assert.NotEqual(t, got.Image, played.Image)
}

// Ensure that X-Forwarded-Proto is accepted only from a trusted proxy.
func TestEntry_Scheme(t *testing.T) {
	t.Parallel()
	proxies, err := front.ParseProxies("10.0.0.1")
	require.NoError(t, err)
	c := Config{Proxies: proxies}
	var seen string
	handler := c.entry(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get("X-Forwarded-Proto")
	}))
	for ip, want := range map[string]string{"10.0.0.1": "https", "10.0.0.2": ""} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Forwarded-Proto", "https")
		ctx := peer.NewContext(r.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}})
		handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
		assert.Equal(t, want, seen, ip)
	}
}
