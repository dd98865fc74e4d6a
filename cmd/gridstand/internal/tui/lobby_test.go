package tui

import (
	"context"
	"math"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// someLists are what a lobby shows to ada.
func someLists(t testing.TB, variant string, w pb.Window) Lists {
	seats := adaAndBots()
	seats[0].Player = replay.Player{ID: "b", Name: "bob"}
	seats[1] = replay.Seat{}
	waiting := translate.Game(triboloEvent(t, 0, seats...).State, 0)
	waiting.Id = "waitingwaitingwaitingwaiti"
	tribolo := translate.Game(triboloEvent(t, 9, adaAndBots()...).State, 2)
	tribolo.Id = "tribolotribolotribolotribo"
	mine := someGame(someBoard(4, 4))
	mine.Seats[0].GetPlayer().Id = adaID
	done := someGame(someBoard(3, 3))
	done.Id, done.Variant, done.Status = "donedonedonedonedonedonedo", "3x3", pb.GameStatus_GAME_STATUS_FINISHED
	return Lists{
		Variants: []*pb.Variant{
			{Id: "classic", Seats: 1, Bots: []string{"greedy"}},
			{Id: "tribolo", Seats: 3, Bots: []string{"random", "greedy", "minimax"}},
		},
		Live: []*pb.Game{waiting, mine, tribolo}, Mine: []*pb.Game{mine, done},
		Variant: variant, Window: w,
		Scores: []*pb.Entry{
			{Rank: 1, Player: &pb.Player{Id: "b", Name: "bob"}, Score: 36228, GameId: "best"},
			{Rank: 2, Player: &pb.Player{Id: adaID, Name: "ada"}, Score: 12340},
		},
	}
}

func someLobby(t testing.TB) *Lobby {
	l := NewLobby(context.Background(), &script{}, LobbyConfig{Me: adaID, Clock: atNoon})
	l.lists, l.loaded = someLists(t, "classic", pb.Window_WINDOW_DAY), true
	l.selected[paneLive] = gameID
	l.previewID, l.preview = gameID, newMatch(l.current())
	return l
}

// TestLobbyScreens compares the lobby at every size.
func TestLobbyScreens(t *testing.T) {
	t.Parallel()
	for name, screen := range map[string]func() (Screen, *base){
		"lobby": func() (Screen, *base) {
			l := someLobby(t)
			return l, &l.base
		},
		"lobby-tribolo": func() (Screen, *base) {
			l := someLobby(t)
			l.selected[paneLive], l.pane = l.lists.Live[2].GetId(), paneMine
			l.preview = newMatch(l.lists.Live[2])
			return l, &l.base
		},
		"lobby-empty": func() (Screen, *base) {
			l := NewLobby(context.Background(), &script{}, LobbyConfig{Clock: atNoon})
			l.lists, l.loaded = Lists{Variant: "classic"}, true
			return l, &l.base
		},
		"lobby-new": func() (Screen, *base) {
			l := someLobby(t)
			l.dialog = newDialog(l.lists.Variants, "tribolo")
			l.dialog.at = fieldSeats + 1
			return l, &l.base
		},
		"lobby-filter": func() (Screen, *base) {
			l := someLobby(t)
			l.typing, l.filter = true, "bob"
			return l, &l.base
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goldenScreen(t, name, screen)
		})
	}
}

// TestLobbyChoices makes every choice by its keys.
func TestLobbyChoices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		want Choice
	}{
		"plays on":              {[]string{"down", "enter"}, Choice{Play: gameID}},
		"joins":                 {[]string{"enter"}, Choice{Join: "waitingwaitingwaitingwaiti"}},
		"joins from afar":       {[]string{"down", "j"}, Choice{Join: "waitingwaitingwaitingwaiti"}},
		"plays on in another":   {[]string{"down", "down", "down", "up", "down", "enter"}, Choice{Play: "tribolotribolotribolotribo"}},
		"looks at a past one":   {[]string{"tab", "down", "enter"}, Choice{Watch: "donedonedonedonedonedonedo"}},
		"looks at the best one": {[]string{"tab", "tab", "enter"}, Choice{Watch: "best"}},
		"TV":                    {[]string{"t"}, Choice{TV: true}},
		"leaves":                {[]string{"?", "esc", "n", "esc", "q"}, Choice{}},
		"filters":               {[]string{"/", "3", "x", "enter", "tab", "enter"}, Choice{Watch: "donedonedonedonedonedonedo"}},
		"forgets the filter":    {[]string{"/", "x", "esc", "enter"}, Choice{Join: "waitingwaitingwaitingwaiti"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, d := openLobby(t)
			d.press(c.keys...)
			d.until("leaving", func() bool { return d.quit })
			assert.Equal(t, c.want, l.Choice())
		})
	}
}

func openLobby(t *testing.T) (*Lobby, *driver) {
	t.Helper()
	lists := func(_, variant string, w pb.Window) (Lists, error) { return someLists(t, variant, w), nil }
	l := NewLobby(t.Context(), &script{lists: lists}, LobbyConfig{Me: adaID, Clock: atNoon})
	d := drive(t, l)
	d.until("the lists", func() bool { return l.loaded })
	return l, d
}

// TestLobby_NewGame describes a game in the box.
func TestLobby_NewGame(t *testing.T) {
	t.Parallel()
	l, d := openLobby(t)
	d.press("n") // of the selected game's variant
	require.Equal(t, "tribolo", l.dialog.variant().GetId())
	d.press("left", "right", "down", "right", "right", "down", "right", "down", "down", "left", "down", "right", "enter")
	d.until("leaving", func() bool { return d.quit })
	c := l.Choice()
	assert.Equal(t, "tribolo", c.Variant)
	assert.True(t, c.Options.Private)
	assert.Equal(t, turnLimits[2], c.Options.TurnLimit)
	require.Len(t, c.Options.Seats, 3)
	assert.NotNil(t, c.Options.Seats[0].GetCaller())
	assert.Equal(t, "random", c.Options.Seats[1].GetBot())
	assert.Equal(t, "minimax", c.Options.Seats[2].GetBot())
}

// TestLobby_ManySeats offers no seats of a variant that says it has billions.
func TestLobby_ManySeats(t *testing.T) {
	t.Parallel()
	n := newDialog([]*pb.Variant{{Id: "crowd", Seats: math.MaxInt32}}, "crowd")
	assert.Len(t, n.fields, fieldSeats)
	assert.Empty(t, n.choice().Options.Seats)
}

// TestLobby_Scores changes the leaderboard's variant and time.
func TestLobby_Scores(t *testing.T) {
	t.Parallel()
	l, d := openLobby(t)
	d.until("the selected game's board", func() bool { return l.lists.Variant == "tribolo" })
	d.press("v")
	d.until("the next board", func() bool { return l.lists.Variant == "classic" })
	d.press("left")
	d.until("all time", func() bool { return l.lists.Window == pb.Window_WINDOW_ALL_TIME })
	assert.Contains(t, l.View().Content, "TOP CLASSIC, all time")
	for width := 0; width < 140; width += 9 {
		for height := 0; height < 50; height += 4 {
			d.send(tea.WindowSizeMsg{Width: width, Height: height})
		}
	}
}
