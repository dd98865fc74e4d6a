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
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func idle(g *pb.Game, now time.Time) time.Duration {
	return max(now.Sub(g.GetUpdateTime().AsTime()), 0)
}

// moving reports whether a game is in progress and had an event within the last
// gamestate.LiveTime.
func moving(g *pb.Game, now time.Time) bool {
	return g.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE && idle(g, now) < gamestate.LiveTime
}

// waits reports whether a game or race waits for players. The server stops listing it soon after they
// have left.
func waits(g *pb.Game) bool { return g.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING }

// order sorts games: first those that are waiting for players, then active games, then idle games,
// with the longest idle last. Waiting and active games are sorted by creation time, newest first, so
// that they keep their places.
func order(games []*pb.Game, now time.Time) []*pb.Game {
	class := func(g *pb.Game) int {
		switch {
		case waits(g):
			return 0
		case moving(g, now):
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(games, func(a, b *pb.Game) int {
		if c := cmp.Compare(class(a), class(b)); c != 0 {
			return c
		}
		if class(a) == 2 {
			return b.GetUpdateTime().AsTime().Compare(a.GetUpdateTime().AsTime())
		}
		return b.GetCreateTime().AsTime().Compare(a.GetCreateTime().AsTime())
	})
	return games
}

func finished(g *pb.Game) bool { return g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED }

func sign(t ui.Theme, g *pb.Game, now time.Time) ui.Value {
	switch {
	case finished(g):
		return ui.Value{Text: "■", Style: t.Dim()}
	case waits(g):
		return ui.Value{Text: "◌", Style: t.Accent()}
	case moving(g, now):
		return ui.Value{Text: "●", Style: t.Good()}
	default:
		return ui.Value{Text: "○", Style: t.Dim()}
	}
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

// gameTable returns the table of live games or, if mine is set, of the user's own games.
func (p *page) gameTable(games []*pb.Game, mine bool, width int) ui.Table {
	names, last, lastWidth := "PLAYER", "IDLE", idleWidth
	if mine {
		names, last, lastWidth = "STATE", "LAST", agoWidth
	}
	table := ui.Table{Columns: []ui.Column{
		{Width: 1},
		{Title: "VARIANT", Width: variantWidth},
		{Title: names},
		{Title: "SCORE", Width: scoreWidth, Right: true},
		{Title: last, Width: lastWidth, Right: true},
	}}
	watchers := !mine && table.Left(width)-watchWidth-1 >= nameMin
	if watchers {
		table.Columns = append(table.Columns, ui.Column{Title: "◉", Width: watchWidth, Right: true})
	}
	for _, g := range games {
		row := p.gameRow(g, mine)
		if watchers {
			n := ""
			if g.GetWatchers() > 0 {
				n = describe.Comma(g.GetWatchers())
			}
			row = append(row, ui.Value{Text: n, Style: p.env.Theme.Dim()})
		}
		table.Rows = append(table.Rows, row)
	}
	return table
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

func (p *page) gameRow(g *pb.Game, mine bool) []ui.Value {
	env, t := p.env, p.env.Theme
	text := lipgloss.NewStyle()
	if !mine && !moving(g, env.Now) && g.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE || mine && finished(g) {
		text = t.Dim()
	}
	points := gamestate.HighestScore(g)
	if mine {
		points = ownScore(env, g)
	}
	score := ui.Value{Text: describe.Comma(points), Style: text}
	if n := gamestate.OpenSeats(g); n > 0 && waits(g) {
		score = ui.Value{Text: strconv.Itoa(n) + " open", Style: t.Accent()}
	}
	name := ui.Value{Text: players(g), Style: text}
	if isRace(g) {
		name.Text = "race: " + players(g)
	}
	if mine {
		name = p.mineState(g)
	}
	return []ui.Value{
		sign(t, g, env.Now),
		{Text: clean(g.GetVariant()), Style: text},
		name, score,
		{Text: describe.Span(idle(g, env.Now)), Style: t.Dim()},
	}
}

// players returns the names of a game's seat occupants.
func players(g *pb.Game) string {
	var names []string
	for _, s := range g.GetSeats() {
		if s.GetOpen() == nil {
			names = append(names, gamestate.SeatName(s))
		}
	}
	return cmp.Or(strings.Join(names, ", "), "open")
}

// mineState returns the table cell for the state of one of the user's games.
func (p *page) mineState(g *pb.Game) ui.Value {
	race := ui.Find(p.lists.Races, func(c *pb.Challenge) bool { return c.GetId() == g.GetChallengeId() })
	switch {
	case finished(g):
		return ui.Value{Text: describe.Ending(g), Style: p.env.Theme.Dim()}
	case waits(g):
		return ui.Value{Text: "waiting"}
	case len(g.GetSeats()) > 1 && p.env.Owns(client.Game{Game: g}.Turn()):
		return ui.Value{Text: "your turn", Style: p.env.Theme.Good()}
	case race != nil:
		return ui.Value{Text: "race, " + gamestate.Clock(race.GetCloseTime().AsTime().Sub(p.env.Now)) + " left"}
	case g.GetChallengeId() != "":
		return ui.Value{Text: "attempt"}
	case moving(g, p.env.Now):
		return ui.Value{Text: "live"}
	default:
		return ui.Value{Text: "idle"}
	}
}

func scoreTable(env *ui.Env, entries []*pb.Entry, width int) ui.Table {
	const whenWidth, whenMin = 9, 38
	columns := []ui.Column{{Title: "#", Width: 3, Right: true}, {Title: "PLAYER"}, {Title: "SCORE", Width: 10, Right: true}}
	when := width >= whenMin
	if when {
		columns = append(columns, ui.Column{Title: "AGO", Width: whenWidth, Right: true})
	}
	table := ui.Table{Columns: columns}
	for _, e := range entries {
		text := lipgloss.NewStyle()
		if env.Is(e.GetPlayer()) {
			text = env.Theme.Good().Bold(true)
		}
		row := []ui.Value{
			{Text: strconv.Itoa(int(e.GetRank())), Style: env.Theme.Dim()},
			{Text: client.CleanName(e.GetPlayer().GetName()), Style: text},
			{Text: describe.Comma(e.GetScore()), Style: text},
		}
		if when {
			ago := ""
			if e.GetTime() != nil {
				ago = describe.Span(env.Now.Sub(e.GetTime().AsTime()))
			}
			row = append(row, ui.Value{Text: ago, Style: env.Theme.Dim()})
		}
		table.Rows = append(table.Rows, row)
	}
	return table
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

// idsOf returns the ids of a list's items, for its cursor.
func idsOf[T any](items []T, id func(T) string) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = id(item)
	}
	return ids
}

// variantOf returns the variant with the given id, or nil.
func variantOf(variants []*pb.Variant, id string) *pb.Variant {
	return ui.Find(variants, func(v *pb.Variant) bool { return v.GetId() == id })
}

// clean returns a short string from the server, truncated and sanitized for the terminal.
func clean(text string) string { return client.CleanText(text, ui.NameLimit) }
