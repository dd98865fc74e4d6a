package challenges_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/describe"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// clock is the clock of an in-memory store. A test can move it forward or stop it for a while.
type clock struct {
	ahead   atomic.Int64
	stopped atomic.Pointer[time.Time]
}

func (c *clock) now() time.Time {
	if at := c.stopped.Load(); at != nil {
		return *at
	}
	return time.Now().Add(time.Duration(c.ahead.Load()))
}

func (c *clock) stop() {
	at := c.now()
	c.stopped.Store(&at)
}

func (c *clock) resume() {
	c.ahead.Store(int64(time.Until(*c.stopped.Load())))
	c.stopped.Store(nil)
}

func (c *clock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

// noon moves the clock to noon of the next day, so that the day does not end during the test.
func (c *clock) noon() {
	day := c.now().UTC().Truncate(24 * time.Hour)
	c.forward(day.Add(36 * time.Hour).Sub(c.now()))
}

// reason returns the reason and the metadata of an error.
func reason(err error) (string, map[string]string) {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason(), info.GetMetadata()
		}
	}
	return fmt.Sprint(err), nil
}

// Ensure that the daily game stays hidden until it closes and then shows everyone its seed,
// verifiable transcripts, and the same standings. Ten accounts play it. Some resign and some do not
// finish, including two that make no moves.
func TestDaily_OneDay(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	ctx, now := t.Context(), &clock{}
	now.noon()
	config := servertest.Config(t).Unlimited()
	config.StoreNow = now.now
	server, _ := servertest.Start(t, config)
	conn := servertest.Dial(t, server.Addr())
	challenges := pb.NewChallengeServiceClient(conn)
	today, err := challenges.GetChallenge(ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}})
	require.NoError(t, err)
	daily := today.GetChallenge()
	require.Equal(t, pb.ChallengeStatus_CHALLENGE_STATUS_OPEN, daily.GetStatus())

	players, games := make([]*playertest.Player, 10), make([]*pb.Game, 10)
	var first *pb.Twenty48Board
	for i := range players {
		players[i] = playertest.New(ctx, t, conn, fmt.Sprintf("Player %d", i))
		games[i] = players[i].Create(t, &pb.CreateGameRequest{ChallengeId: daily.GetId()})
		board := games[i].GetPosition().GetTwenty48()
		first = cmp.Or(first, board)
		assert.Equal(t, first.GetTiles(), board.GetTiles(), "the same first tiles")
		// Everyone who makes more moves gets more points: the order of attempts that time out in the same
		// millisecond with equal points is undefined.
		for n := 0; n < 5*(i/2) || i > 1 && games[i].GetPosition().GetScores()[0] == games[i-2].GetPosition().GetScores()[0]; n++ {
			players[i].Move(t, games[i])
		}
		if i%2 == 0 {
			players[i].Resign(t, games[i])
			assert.Empty(t, games[i].GetSeed())
		}
	}
	_, err = players[1].Games.GetGame(players[1].Ctx, &pb.GetGameRequest{GameId: games[0].GetId()})
	why, metadata := reason(err)
	assert.Equal(t, pb.ReasonChallengeOpen, why)
	assert.Equal(t, daily.GetCloseTime().AsTime().Format("2006-01-02T15:04:05.000Z"), metadata["close_time"])

	now.forward(12 * time.Hour)
	_, err = players[1].Games.Move(players[1].Ctx, playertest.Slide(games[1]))
	why, _ = reason(err)
	assert.Equal(t, pb.ReasonGameOver, why, "a move after the close")
	for i, g := range games {
		updates, err := players[i].Games.Watch(players[i].Ctx, &pb.WatchRequest{GameId: g.GetId()})
		require.NoError(t, err)
		for err == nil { // the stream ends with the game, soon after the close
			_, err = updates.Recv()
		}
		assert.Error(t, err)
		read, err := players[0].Games.GetGame(ctx, &pb.GetGameRequest{GameId: g.GetId()})
		require.NoError(t, err, "anyone may read it now")
		want := pb.Result_REASON_RESIGNED
		if i%2 == 1 {
			want = pb.Result_REASON_TIMED_OUT
		}
		assert.Equal(t, want, read.GetGame().GetResult().GetReason())
		assert.Equal(t, g.GetPosition().GetScores(), read.GetGame().GetResult().GetScores())
		games[i] = read.GetGame()
	}

	closed, err := challenges.GetChallenge(ctx, &pb.GetChallengeRequest{ChallengeId: daily.GetId()})
	require.NoError(t, err)
	assert.Equal(t, pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED, closed.GetChallenge().GetStatus())
	reader, err := client.Dial(client.Config{Target: server.Addr().String()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	ranks := map[string]int32{}
	for _, g := range games {
		assert.Equal(t, closed.GetChallenge().GetSeed(), g.GetSeed())
		report, err := verify.Game(ctx, reader, g.GetId())
		require.NoError(t, err)
		assert.Equal(t, g.GetResult().GetScores()[0], report.Scores[0])
		ranks[g.GetId()] = report.Challenge.Rank
	}

	want := slices.SortedFunc(slices.Values(games), func(a, b *pb.Game) int {
		return cmp.Or(cmp.Compare(b.GetResult().GetScores()[0], a.GetResult().GetScores()[0]),
			a.GetUpdateTime().AsTime().Compare(b.GetUpdateTime().AsTime()))
	})
	listed, err := challenges.ListStandings(ctx, &pb.ListStandingsRequest{ChallengeId: daily.GetId()})
	require.NoError(t, err)
	require.Len(t, listed.GetStandings(), len(games))
	assert.EqualValues(t, len(games), listed.GetTotal())
	for i, line := range listed.GetStandings() {
		assert.EqualValues(t, i+1, line.GetRank())
		assert.Equal(t, line.GetRank(), ranks[line.GetGameId()])
		assert.Equal(t, want[i].GetId(), line.GetGameId())
		assert.Equal(t, want[i].GetResult().GetScores()[0], line.GetScore())
	}
	for i, line := range listed.GetStandings() {
		player := players[slices.IndexFunc(players, func(p *playertest.Player) bool { return p.ID == line.GetPlayer().GetId() })]
		own, err := challenges.GetChallenge(player.Ctx, &pb.GetChallengeRequest{ChallengeId: daily.GetId()})
		require.NoError(t, err)
		shared := describe.Share(describe.Result{
			Challenge: own.GetChallenge(), Score: own.GetAttempt().GetScore(), Tiles: want[i].GetPosition().GetTwenty48().GetTiles(),
			Rank: line.GetRank(), Total: listed.GetTotal(), DayStreak: own.GetAttempt().GetDayStreak(), Link: "https://play.example/daily",
		})
		assert.Contains(t, shared, fmt.Sprintf("Gridstand daily %s: %d points, %s\n", daily.GetDate(), line.GetScore(), describe.Place(line.GetRank(), 10)))
		assert.True(t, strings.HasSuffix(shared, "\nhttps://play.example/daily"))
	}
	board, err := pb.NewLeaderboardServiceClient(conn).ListScores(ctx, &pb.ListScoresRequest{Variant: daily.GetVariant()})
	require.NoError(t, err)
	assert.Empty(t, board.GetEntries(), "attempts do not count for the leaderboard")
}
