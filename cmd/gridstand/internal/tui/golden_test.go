package tui

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

var rewrite = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is the time in these tests.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// gameID is the id of the game in these tests.
const gameID = "kx3fq2abcdefghijklmnopqrst"

// golden compares text with a file in testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with: go test ./cmd/gridstand/internal/tui -update")
	assert.Equal(t, string(want), text, "differs from %s; if that is right: go test ./cmd/gridstand/internal/tui -update", path)
}

// someBoard is a board of that size in the middle of a game.
func someBoard(rows, columns int) *pb.Twenty48Board {
	faces := []int32{2, 0, 0, 4, 16, 0, 2, 8, 32, 64, 4, 16, 1024, 256, 128, 8, 2, 0, 512, 4}
	b := &pb.Twenty48Board{
		Rows: int32(rows), Columns: int32(columns),
		LegalMoves: []pb.Direction{
			pb.Direction_DIRECTION_UP, pb.Direction_DIRECTION_DOWN,
			pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_RIGHT,
		},
	}
	for i := range rows * columns {
		b.Tiles = append(b.Tiles, faces[i%len(faces)])
	}
	return b
}

// someGame is a game at version 613.
func someGame(b *pb.Twenty48Board) *pb.Game {
	return &pb.Game{
		Id: gameID, Variant: "classic", Version: 613, Ranked: true, Watchers: 3,
		Status:     pb.GameStatus_GAME_STATUS_ACTIVE,
		Seats:      []*pb.Seat{{Occupant: &pb.Seat_Player{Player: &pb.Player{Name: "ada"}}}},
		Position:   &pb.Position{MoveCount: 612, Scores: []int32{12340}, Board: &pb.Position_Twenty48{Twenty48: b}},
		UpdateTime: timestamppb.New(noon.Add(-4 * time.Second)),
	}
}

// somePlay is a screen just after a move.
func somePlay(g *pb.Game) *Play {
	p := NewPlay(context.Background(), nil, PlayConfig{Game: g, Clock: atNoon})
	p.connection.State = client.Live
	p.gained, p.marks = 128, marks{spawned: 6, merged: []int{9}}
	p.day = &Place{Rank: 4, Total: 87, Score: 36228, GameID: "other"}
	p.all = &Place{Rank: 31, Total: 1204, Score: 36228, GameID: "other"}
	return p
}

// someWatch is a screen that shows it.
func someWatch(g *pb.Game) *Watch {
	w := NewWatch(context.Background(), nil, WatchConfig{GameID: gameID, Clock: atNoon})
	w.match = newMatch(g)
	w.connection.State = client.Live
	w.gained, w.marks = 128, marks{spawned: 6, merged: []int{9}}
	gains := []int32{128, 0, 8, 16, 0, 0, 4}
	for i := range int32(20) {
		w.log = append(w.log, logged{move: 612 - i, what: arrow(pb.Direction(i%4 + 1)), gained: gains[int(i)%len(gains)]})
	}
	return w
}

// finish ends the game on the screen.
func finish(m *match, reason pb.Result_Reason) {
	m.game.Status = pb.GameStatus_GAME_STATUS_FINISHED
	m.game.Result = &pb.Result{Reason: reason, Scores: []int32{m.score()}}
	m.marks, m.gained = noMarks, 0
}

// TestScreens compares every screen at every size, without its colours.
func TestScreens(t *testing.T) {
	t.Parallel()
	screens := map[string]func() (Screen, *base){
		"play": func() (Screen, *base) {
			p := somePlay(someGame(someBoard(4, 4)))
			return p, &p.base
		},
		"play-5x5": func() (Screen, *base) {
			p := somePlay(someGame(someBoard(5, 5)))
			return p, &p.base
		},
		"play-6x6": func() (Screen, *base) {
			p := somePlay(someGame(someBoard(6, 6)))
			return p, &p.base
		},
		"unranked": func() (Screen, *base) {
			g := someGame(someBoard(4, 4))
			g.Ranked, g.Private = false, true
			p := somePlay(g)
			p.day, p.all = &Place{Total: 87}, &Place{}
			return p, &p.base
		},
		"end": func() (Screen, *base) {
			p := somePlay(someGame(someBoard(4, 4)))
			finish(&p.match, pb.Result_REASON_NO_MOVES)
			p.day.GameID = gameID
			return p, &p.base
		},
		"help": func() (Screen, *base) {
			p := somePlay(someGame(someBoard(4, 4)))
			p.help = true
			return p, &p.base
		},
		"question": func() (Screen, *base) {
			p := somePlay(someGame(someBoard(4, 4)))
			p.question = askNew
			return p, &p.base
		},
		"slow": func() (Screen, *base) {
			p := somePlay(someGame(someBoard(4, 4)))
			p.moving, p.movingSince = pb.Direction_DIRECTION_LEFT, noon.Add(-3*time.Second)
			p.queue = []pb.Direction{pb.Direction_DIRECTION_UP, pb.Direction_DIRECTION_UP}
			return p, &p.base
		},
		"reconnecting": func() (Screen, *base) {
			p := somePlay(someGame(someBoard(4, 4)))
			p.connection = client.Connection{State: client.Reconnecting, Delay: 3 * time.Second}
			p.connectionTime = noon.Add(-time.Second)
			return p, &p.base
		},
		"elsewhere": func() (Screen, *base) {
			p := somePlay(someGame(someBoard(4, 4)))
			p.address = "play.example.org"
			return p, &p.base
		},
		"solving": func() (Screen, *base) {
			p := somePlay(someGame(someBoard(4, 4)))
			s, err := solver.New("classic", 1, "expectimax", time.Second)
			require.NoError(t, err)
			p.game.Ranked, p.programmed, p.solving = false, true, &solving{solver: s, pace: firstPace}
			return p, &p.base
		},
		"watch": func() (Screen, *base) {
			w := someWatch(someGame(someBoard(4, 4)))
			return w, &w.base
		},
		"watch-behind": func() (Screen, *base) {
			w := someWatch(someGame(someBoard(4, 4)))
			w.skipped, w.skippedTime = 14, noon.Add(-time.Second)
			return w, &w.base
		},
		"tv": func() (Screen, *base) {
			w := someWatch(someGame(someBoard(4, 4)))
			w.tv, w.keys = &tv{why: "the most watched live game"}, newWatchKeys(true)
			return w, &w.base
		},
		"tv-result": func() (Screen, *base) {
			w := someWatch(someGame(someBoard(4, 4)))
			w.tv, w.keys = &tv{why: "the best live classic game"}, newWatchKeys(true)
			finish(&w.match, pb.Result_REASON_GOAL_REACHED)
			return w, &w.base
		},
		"tv-waiting": func() (Screen, *base) {
			w := NewWatch(context.Background(), nil, WatchConfig{Clock: atNoon})
			w.tv.wait, w.tv.until = 4*time.Second, noon.Add(3*time.Second)
			return w, &w.base
		},
	}
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goldenScreen(t, name, screen)
		})
	}
}

// goldenScreen compares a screen at every size.
func goldenScreen(t *testing.T, name string, screen func() (Screen, *base)) {
	t.Helper()
	var all strings.Builder
	for _, look := range []struct {
		width, height int
		profile       colorprofile.Profile
	}{
		{120, 40, colorprofile.TrueColor},
		{80, 24, colorprofile.TrueColor},
		{80, 24, colorprofile.ASCII},
		{60, 14, colorprofile.TrueColor},
		{60, 10, colorprofile.TrueColor},
		{40, 24, colorprofile.TrueColor},
		{40, 20, colorprofile.TrueColor},
		{20, 8, colorprofile.TrueColor},
	} {
		s, b := screen()
		b.width, b.height, b.theme.Profile = look.width, look.height, look.profile
		v := s.View()
		s.stop()
		assert.True(t, v.AltScreen)
		fmt.Fprintf(&all, "=== %d×%d %s\n", look.width, look.height, look.profile)
		lines := strings.Split(ansi.Strip(v.Content), "\n")
		assert.LessOrEqual(t, len(lines), look.height)
		for _, line := range lines {
			assert.LessOrEqual(t, ansi.StringWidth(line), look.width)
			all.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	golden(t, name+".txt", all.String())
}

// TestPalettes compares one board with every tile in every palette, with its
// colours.
func TestPalettes(t *testing.T) {
	t.Parallel()
	board := &pb.Twenty48Board{Rows: 3, Columns: 6}
	for e := range 17 {
		board.Tiles = append(board.Tiles, 2<<e)
	}
	board.Tiles = append(board.Tiles, 0)
	for _, profile := range []colorprofile.Profile{
		colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII,
	} {
		for _, light := range []bool{false, true} {
			theme := Theme{Profile: profile, Light: light}
			ground := "dark"
			if light {
				ground = "light"
			}
			text := drawBoard(board, marks{spawned: 0, merged: []int{4}}, sizeLarge, theme)
			golden(t, fmt.Sprintf("palette-%s-%s.ansi", strings.ToLower(profile.String()), ground), text+"\n")

			p := theme.palette()
			if p == nil {
				assert.False(t, theme.coloured())
				continue
			}
			seen := map[tone]int{}
			for i, tone := range p.tiles {
				assert.NotContains(t, seen, tone, "%s: tiles %d and %d look alike", profile, 2<<i, 2<<seen[tone])
				assert.NotEqual(t, tone.ground, tone.ink)
				assert.NotEqual(t, p.empty, tone.ground)
				seen[tone] = i
				assert.Equal(t, tone.ground, profile.Convert(tone.ground), "a colour of another depth")
				assert.Equal(t, tone.ink, profile.Convert(tone.ink), "a colour of another depth")
			}
		}
	}
}
