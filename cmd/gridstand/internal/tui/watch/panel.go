package watch

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	"github.com/gridstand/gridstand/internal/describe"
)

// tallPanel is the minimum height for large letters in a panel beside the board.
const tallPanel = 8

// panel draws the text beside or below a board.
type panel struct {
	*gamestate.State
	env           *ui.Env
	width, height int
	tall          bool
	why           string // why TV shows this game
}

// scores returns the most important numbers of a game of 2048.
func (x *panel) scores() []widget.Fact {
	return []widget.Fact{{Label: "SCORE", Value: describe.Comma(x.Score()), Extra: x.Gain()}, {Label: "TILE", Value: x.BestTile()}}
}

// large draws text in large letters if they fit.
func (x *panel) large(text string) string {
	if drawn, ok := style.Large(text, x.width); ok {
		text = drawn
	}
	return x.env.Theme.Accent().Bold(true).Render(text)
}

// play draws the panel of a game in progress.
func (x *panel) play() string {
	t, why := x.env.Theme, x.why
	if x.tall {
		why = widget.Wrap(why, x.width)
	}
	if why != "" {
		why = t.Dim().Render(why)
	}
	switch {
	case x.Tribolo() != nil && x.tall:
		return x.stack(x.SeatBlocks(t, x.width, x.env.Me, x.height >= 20), x.TurnText(t, false), why)
	case x.Tribolo() != nil:
		return x.stack(x.SeatLines(t, x.width, x.env.Me) + "\n" + x.TurnText(t, false))
	case x.tall:
		return x.stack(widget.Lines(false, x.large(x.Player()), why), widget.Cards(t, x.width, x.scores()...))
	default:
		name := t.Accent().Bold(true).Render(x.Player()) + "  " + why
		return x.stack(name + "\n" + widget.Inline(t, x.width, x.scores()...))
	}
}

// stack arranges the blocks vertically, followed by as many of the last moves as fit, and
// by the number and age of the last move.
func (x *panel) stack(blocks ...string) string {
	blocks = slices.DeleteFunc(blocks, func(b string) bool { return b == "" })
	used := lipgloss.Height(strings.Join(blocks, "\n\n"))
	return widget.Stack(x.height, append(blocks, x.LogLines(x.env.Theme, x.height-used-3), x.since())...)
}

// since returns the number and age of the last move.
func (x *panel) since() string {
	age := x.env.Now.Sub(x.Game.GetUpdateTime().AsTime())
	return x.env.Theme.Dim().Render(fmt.Sprintf("move %s, %s", describe.Comma(x.Moves()), describe.Ago(age)))
}

// result draws the panel of a finished game.
func (x *panel) result() string {
	t := x.env.Theme
	title, score := t.Bold().Render(x.Ending()), describe.Comma(x.Score())
	facts := fmt.Sprintf("%s  best tile %s, %s", x.Player(), x.BestTile(), describe.Plural(x.Moves(), "move"))
	if x.Tribolo() != nil {
		score, facts = describe.Comma(gamestate.HighestScore(x.Game.Game)), x.Standings(t, x.width, x.env.Me)
		title = widget.Header(x.width, []string{t.Bold().Render(x.Winners(""))}, []string{t.Dim().Render(x.Ending()), ""})
	}
	verify := ""
	if command := x.env.Command("verify", gamestate.ShortID(x.Game.GetId())); command != "" {
		verify = widget.Wrap(t.Dim().Render("verify with ")+command, x.width)
	}
	switch {
	case x.height < panelLines && x.Tribolo() != nil:
		return widget.Stack(x.height, title, facts)
	case x.height < panelLines:
		return widget.Stack(x.height, title, t.Accent().Bold(true).Render(score)+"  "+facts)
	case x.tall:
		return x.stack(title, x.large(score), facts, verify)
	default:
		return widget.Stack(x.height, title+"\n"+x.large(score), facts, verify)
	}
}
