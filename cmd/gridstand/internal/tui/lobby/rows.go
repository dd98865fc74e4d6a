package lobby

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// moving reports whether a game is in progress and counts as live.
func moving(g *pb.Game, now time.Time) bool {
	_, idle := gamestate.Idle(g, now)
	return g.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE && !idle
}

// order sorts games: first those that are waiting for players, then active games, then idle games,
// with the longest idle last. Waiting and active games are sorted by creation time, newest first, so
// that they keep their places.
func order(games []*pb.Game, now time.Time) []*pb.Game {
	class := func(g *pb.Game) (class int, since time.Time) {
		switch {
		case gamestate.Waits(g):
			return 0, g.GetCreateTime().AsTime()
		case moving(g, now):
			return 1, g.GetCreateTime().AsTime()
		default:
			return 2, g.GetUpdateTime().AsTime()
		}
	}
	slices.SortStableFunc(games, func(a, b *pb.Game) int {
		classA, sinceA := class(a)
		classB, sinceB := class(b)
		return cmp.Or(cmp.Compare(classA, classB), sinceB.Compare(sinceA))
	})
	return games
}

func finished(g *pb.Game) bool { return g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED }

// sign returns the sign of a game's state.
func sign(t ui.Theme, g *pb.Game, now time.Time) ui.Value {
	text, _, look := gamestate.Status(t, g, now)
	return ui.Value{Text: text, Style: look}
}

// Widths of table columns.
const (
	variantWidth = 8
	scoreWidth   = 7
	idleWidth    = 6 // "13 min"
	agoWidth     = 7 // "12 days"
	watchWidth   = 5
	nameMin      = 14 // minimum width of the player column; if there is less room, the watcher column is left out
)

// gameColumns returns the columns of live games or, if mine is set, of the user's own games.
func (p *page) gameColumns(mine bool, width int) []ui.Column[*pb.Game] {
	t, now := p.env.Theme, p.env.Now
	cell := func(g *pb.Game, text string) ui.Value {
		style := lipgloss.NewStyle()
		if mine && finished(g) || !mine && !moving(g, now) && g.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE {
			style = t.Dim()
		}
		return ui.Value{Text: text, Style: style}
	}
	dim := func(text string) ui.Value { return ui.Value{Text: text, Style: t.Dim()} }
	columns := []ui.Column[*pb.Game]{
		ui.Texts("", 1, func(g *pb.Game) ui.Value { return sign(t, g, now) }),
		ui.Texts("VARIANT", variantWidth, func(g *pb.Game) ui.Value { return cell(g, clean(g.GetVariant())) }),
		ui.Texts("PLAYER", 0, func(g *pb.Game) ui.Value { return cell(g, players(g)) }),
		ui.Numbers("SCORE", scoreWidth, func(g *pb.Game) ui.Value {
			switch n := gamestate.OpenSeats(g); {
			case n > 0 && gamestate.Waits(g):
				return ui.Value{Text: strconv.Itoa(n) + " open", Style: t.Accent()}
			case mine:
				return cell(g, describe.Comma(ownScore(p.env, g)))
			default:
				return cell(g, describe.Comma(gamestate.HighestScore(g)))
			}
		}),
		ui.Numbers("IDLE", idleWidth, func(g *pb.Game) ui.Value {
			age, _ := gamestate.Idle(g, now)
			return dim(describe.Span(age))
		}),
	}
	if mine {
		columns[2].Title, columns[2].Cell = "STATE", p.mineState
		columns[4].Title, columns[4].Width = "LAST", agoWidth
	} else if ui.Left(columns, width)-watchWidth-1 >= nameMin {
		columns = append(columns, ui.Numbers("◉", watchWidth, func(g *pb.Game) ui.Value {
			if g.GetWatchers() == 0 {
				return ui.Value{}
			}
			return dim(describe.Comma(g.GetWatchers()))
		}))
	}
	return columns
}

// ownScore returns the best score of the user's seats.
func ownScore(env *ui.Env, g *pb.Game) int32 {
	var best int32
	for i, seat := range g.GetSeats() {
		if env.Owns(seat) {
			best = max(best, describe.Score(g, i))
		}
	}
	return best
}

// players returns the names of a game's seat occupants.
func players(g *pb.Game) string {
	text := cmp.Or(strings.Join(convert.All(gamestate.Taken(g), gamestate.SeatName), ", "), "open")
	if isRace(g) {
		return "race: " + text
	}
	return text
}

// mineState returns the table cell for the state of one of the user's games.
func (p *page) mineState(g *pb.Game) ui.Value {
	race := ui.Find(p.lists.Races, func(c *pb.Challenge) bool { return c.GetId() == g.GetChallengeId() })
	state := ui.Value{Text: gamestate.Stage(g, p.env.Now)}
	switch {
	case finished(g):
		state.Style = p.env.Theme.Dim()
	case gamestate.Waits(g):
	case len(g.GetSeats()) > 1 && p.env.Owns(client.Game{Game: g}.Turn()):
		state = ui.Value{Text: "your turn", Style: p.env.Theme.Good()}
	case race != nil:
		state.Text = "race, " + gamestate.Clock(race.GetCloseTime().AsTime().Sub(p.env.Now)) + " left"
	}
	if g.GetPrivate() {
		state.Text = "private, " + state.Text
	}
	return state
}

// scoreColumns returns the columns of the leaderboard.
func scoreColumns(env *ui.Env, lines []*pb.Entry, width int) []ui.Column[*pb.Entry] {
	const whenMin = 38
	columns := gamestate.RankColumns(env, lines, func(e *pb.Entry) string { return client.CleanName(e.GetPlayer().GetName()) })
	if width >= whenMin {
		columns = append(columns, ui.Numbers("AGO", agoWidth, func(e *pb.Entry) ui.Value {
			if e.GetTime() == nil {
				return ui.Value{}
			}
			return ui.Value{Text: describe.Span(env.Now.Sub(e.GetTime().AsTime())), Style: env.Theme.Dim()}
		}))
	}
	return columns
}

// cursor is the selected item of a list. It stays on its item when the list changes, and
// on its row if the item is gone.
type cursor struct {
	ids []string
	at  int
}

func (c *cursor) set(ids []string) {
	if i := slices.Index(ids, c.id()); i >= 0 && c.at < len(c.ids) {
		c.at = i
	}
	c.ids = ids
	c.move(0)
}

// id returns the selected item's id, or "" if the list is empty.
func (c *cursor) id() string {
	if c.at >= len(c.ids) {
		return ""
	}
	return c.ids[c.at]
}

// move moves the cursor down by n items, or up if n is negative.
func (c *cursor) move(n int) { c.at = max(min(c.at+n, len(c.ids)-1), 0) }

// position returns the selected row's number and the total, such as "3 of 12", or "" for an
// empty list.
func (c *cursor) position() string {
	if len(c.ids) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", c.at+1, len(c.ids))
}

// clean returns a short string from the server, truncated and sanitized for the terminal.
func clean(text string) string { return client.CleanText(text, ui.NameLimit) }
