package challenge

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// follow returns a contest that gets its messages from the test itself.
func follow(t *testing.T, env *ui.Env) *gamestate.Contest {
	t.Helper()
	tasks := ui.NewTasks(t.Context())
	t.Cleanup(tasks.Stop)
	c := gamestate.NewContest(env, tasks, tuitest.ChallengeID, "")
	c.Watch()
	return c
}

func snapshot(c *gamestate.Contest, race *pb.Challenge, now time.Time) tea.Cmd {
	return c.Update(tuitest.Snapshot(race, now, tuitest.RaceStandings()...), nil)
}

// Ensure that stages and times follow the server's clock even if the client's clock
// differs, and that a delayed message does not change them.
func TestContest_Time(t *testing.T) {
	t.Parallel()
	env := tuitest.Env(&tuitest.Server{})
	c := follow(t, env)
	assert.Equal(t, pb.ChallengeStatus_CHALLENGE_STATUS_UNSPECIFIED, c.Stage())
	race := tuitest.WaitingRace()
	snapshot(c, race, tuitest.Noon)
	assert.Equal(t, pb.ChallengeStatus_CHALLENGE_STATUS_WAITING, c.Stage())
	_, ok := c.Left()
	assert.False(t, ok)

	// The server's clock is an hour ahead.
	now := tuitest.Noon.Add(time.Hour)
	race.OpenTime, race.CloseTime = timestamppb.New(now.Add(3*time.Second)), timestamppb.New(now.Add(63*time.Second))
	snapshot(c, race, now)
	for _, step := range []struct {
		passed    time.Duration
		stage     pb.ChallengeStatus
		countdown int
		left      time.Duration
	}{
		{0, pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED, 3, 63 * time.Second},
		{time.Millisecond, pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED, 3, 63*time.Second - time.Millisecond},
		{time.Second, pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED, 2, 62 * time.Second},
		{2999 * time.Millisecond, pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED, 1, 60*time.Second + time.Millisecond},
		{3 * time.Second, pb.ChallengeStatus_CHALLENGE_STATUS_OPEN, 0, time.Minute},
		{63 * time.Second, pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED, 0, 0},
	} {
		env.Now = tuitest.Noon.Add(step.passed)
		assert.Equal(t, step.stage, c.Stage(), step.passed)
		assert.Equal(t, step.countdown, c.Countdown(), step.passed)
		left, ok := c.Left()
		assert.True(t, ok)
		assert.Equal(t, step.left, left, step.passed)
	}
	assert.True(t, c.Expired())

	env.Now = tuitest.Noon.Add(2 * time.Second)
	snapshot(c, race, now.Add(1500*time.Millisecond)) // sent half a second ago
	assert.Equal(t, now.Add(2*time.Second), c.Now())
	snapshot(c, race, now.Add(-time.Minute)) // the server's clock was set back
	assert.Equal(t, now.Add(-time.Minute), c.Now())
}

// Ensure that the lines of the standings fit, also far down, and that the score of an attempt without a move,
// which has no tile, is in the column of scores.
func TestContest_Rows(t *testing.T) {
	t.Parallel()
	c := follow(t, tuitest.Env(&tuitest.Server{}))
	line := tuitest.RaceStandings()[0]
	for _, line.Rank = range []int32{0, 9, 1204, 12041} {
		assert.Equal(t, 40, lipgloss.Width(c.Rows([]*pb.Standing{line}, 40, 1)), line.Rank)
	}
	lines := tuitest.RaceStandings()
	lines[2].Score, lines[2].LargestTile = 0, 0
	assert.Equal(t, []string{
		"   # PLAYER               SCORE  TILE ",
		"   1 bob                 15,312  1024 ",
		"   2 ada (you)           12,340  1024 ",
		"   3 greedy (bot)             0       ",
	}, strings.Split(ansi.Strip(c.Rows(lines, 38, 4)), "\n"))
	assert.Empty(t, c.Rows(nil, 38, 4), "no headings without lines")
	assert.Contains(t, c.Rows(lines, 38, 1), "ada (you)", "without the headings, the user's own line")
}

// Ensure that the time left is that of the user's attempt, except in a race, whose close
// time can change.
func TestContest_Deadline(t *testing.T) {
	t.Parallel()
	c := follow(t, tuitest.Env(&tuitest.Server{}))
	race := tuitest.Race()
	snapshot(c, race, tuitest.Noon)
	c.Attempt = &pb.Attempt{Deadline: timestamppb.New(tuitest.Noon.Add(time.Minute))}
	left, _ := c.Left()
	assert.Equal(t, 140*time.Second, left)
	race.Kind = pb.ChallengeKind_CHALLENGE_KIND_LINK
	left, _ = c.Left()
	assert.Equal(t, time.Minute, left)
	assert.Contains(t, c.TimeLeft(), "1:00")
	race.Limit, c.Attempt = nil, nil
	race.CloseTime = timestamppb.New(tuitest.Noon.Add(59 * time.Hour))
	assert.Contains(t, c.TimeLeft(), "2 d 11 h left")
	c.Attempt = &pb.Attempt{Deadline: timestamppb.New(tuitest.Noon)}
	assert.Empty(t, c.TimeLeft(), "the attempt's time is over")
	c.Attempt, race.OpenTime = nil, timestamppb.New(tuitest.Noon.Add(time.Hour))
	assert.Empty(t, c.TimeLeft(), "it is not open yet")
}

// Ensure that boards are requested when the race opens and again while they are hidden, and
// that the page's own game is not requested.
func TestContest_Boards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		race := tuitest.Race()
		hidden, other := race.GetEntrants()[1].GetGameId(), race.GetEntrants()[2].GetGameId()
		race.OpenTime = timestamppb.New(tuitest.Noon.Add(20 * time.Millisecond))
		start := time.Now()
		server := &hiding{&tuitest.Server{}, make(chan string, 100), map[string]int{hidden: 2}}
		env := tuitest.Env(server)
		env.Clock = func() time.Time { return tuitest.Noon.Add(time.Since(start)) }
		tasks := ui.NewTasks(t.Context())
		d := tuitest.Drive(t, env, emptyPage{tasks})
		c := gamestate.NewContest(env, tasks, race.GetId(), tuitest.GameID)
		c.Watch()
		for _, c1 := range []*pb.Challenge{tuitest.WaitingRace(), race} {
			d.Send(tuitest.Result(c.Update, tuitest.Snapshot(c1, env.Clock()), nil))
			d.Settle()
			assert.Empty(t, server.watched, "requested before the race opened")
		}
		d.Until("both boards, one of them requested three times", func() bool { return len(server.watched) == 4 })
		got := map[string]int{}
		for range 4 {
			got[<-server.watched]++
		}
		assert.Equal(t, map[string]int{hidden: 3, other: 1}, got)
	})
}

// hiding is a server that refuses the first few requests to watch the games in hidden.
type hiding struct {
	*tuitest.Server
	watched chan string
	hidden  map[string]int
}

func (s *hiding) Watch(ctx context.Context, o client.WatchOptions) ui.Stream[client.Update] {
	s.watched <- o.GameID
	if s.hidden[o.GameID] > 0 {
		s.hidden[o.GameID]--
		return refused{}
	}
	return s.Server.Watch(ctx, o)
}

type refused struct{}

func (refused) Next() (client.Update, error) { return client.Update{}, client.ErrChallengeNotOpen }

// Ensure that an entrant who races again gets the next race of all entrants, and another player a
// race of their own with the same settings.
func TestContest_Again(t *testing.T) {
	t.Parallel()
	for me, want := range map[string]*pb.CreateChallengeRequest{
		tuitest.Env(&tuitest.Server{}).Me: {PreviousChallengeId: tuitest.Race().GetId()},
		"someone":                         {Variant: tuitest.Race().GetVariant(), Limit: durationpb.New(3 * time.Minute)},
	} {
		env := tuitest.Env(&tuitest.Server{})
		env.Me = me
		c := follow(t, env)
		snapshot(c, tuitest.Race(), tuitest.Noon)
		want.Kind = pb.ChallengeKind_CHALLENGE_KIND_RACE
		again := c.Again()
		assert.Equal(t, []string{"greedy"}, again.Bots)
		assert.True(t, proto.Equal(want, again.Request), "%v", again.Request)
	}
}

// emptyPage is a page that shows nothing.
type emptyPage struct{ *ui.Tasks }

func (p emptyPage) Init() tea.Cmd               { return nil }
func (p emptyPage) Key(tea.KeyPressMsg) tea.Cmd { return nil }
func (p emptyPage) View(int, int) ui.View       { return ui.View{} }
func (p emptyPage) Keys() ui.KeyTable           { return nil }

// Ensure that the command for a daily game names a variant other than classic.
func TestContest_Command(t *testing.T) {
	t.Parallel()
	for variant, want := range map[string]string{"classic": "gridstand daily", "vt100": "gridstand daily vt100"} {
		c := follow(t, tuitest.Env(&tuitest.Server{}))
		daily := tuitest.DailyGame()
		daily.Variant = variant
		snapshot(c, daily, tuitest.Noon)
		assert.Equal(t, want, c.Invitation().Command)
	}

	env := tuitest.Env(&tuitest.Server{})
	env.Invite = func(words ...string) string { return strings.Join(words, " ") + " elsewhere" }
	c := follow(t, env)
	snapshot(c, tuitest.Race(), tuitest.Noon)
	assert.Equal(t, "join "+c.ID+" elsewhere", c.Invitation().Command, "another person may use another server by default")
}
