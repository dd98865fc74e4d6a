package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// playPanelLines is the height of the panel below the board, without the
// command.
const playPanelLines = 4

// View implements tea.Model.
func (p *Play) View() tea.View {
	board := twenty48Picture{p.board(), p.marks}
	l, ok := p.layout(board, playPanelLines+p.commandRows())
	if !ok {
		return p.view(p.tooSmall(board), 0, "", 0)
	}
	content := page{
		head:  p.head,
		board: board.draw(l.cell, p.theme),
		bar:   p.bar(),
		state: p.state(),
	}
	if l.wide {
		content.panel = p.sidePanel(l.panelWidth, l.panelHeight)
	} else {
		content.panel = p.lowPanel(l.panelWidth, l.panelHeight)
	}
	switch {
	case p.help:
		p.cover(&content, "? closes; too small", p.helpBox(p.keys))
	case p.question != noQuestion:
		p.cover(&content, "Sure? y n", p.ask(true), p.ask(false))
	case p.over() && !p.starting:
		p.cover(&content, "Game over: n new, q quit", p.result(true), p.result(false))
	}
	return p.compose(l, content)
}

// head is the line above the board.
func (p *Play) head(width int) string {
	badge, game := p.badge(&p.base), p.theme.bold().Render(p.variant())
	return header(width,
		[]string{p.brand() + "  " + game, game, ""},
		[]string{badge + "   " + p.theme.dim().Render(p.watching()), badge})
}

// bar is the line of keys, which mean something else while a solver plays.
func (p *Play) bar() string {
	if p.solving != nil {
		return p.helpBar(solverKeys{p.keys})
	}
	return p.helpBar(p.keys)
}

// state is the line about what is the matter, empty when nothing is.
func (p *Play) state() string {
	if trouble := p.trouble(); trouble != "" {
		return trouble
	}
	switch {
	case p.solving != nil && p.moving == none:
		return p.theme.warn().Render(p.solverState())
	case (p.moving != none || p.undoing != nil) && p.now.Sub(p.movingSince) > slowTime:
		text := fmt.Sprintf("No answer for %d s", int(p.now.Sub(p.movingSince).Seconds()))
		if len(p.queue) > 0 {
			text += fmt.Sprintf("; queued keys: %d", len(p.queue))
		}
		return p.theme.warn().Render(text + ".")
	case p.dropped:
		return p.theme.warn().Render(fmt.Sprintf("Queued keys: %d; later ones were dropped.", len(p.queue)))
	case p.notice != "":
		return p.theme.dim().Render(p.notice)
	default:
		return ""
	}
}

// bestScore is the player's best score of all time, this game included.
func (p *Play) bestScore() int32 {
	if p.all == nil {
		return p.score()
	}
	return max(p.all.Score, p.score())
}

// scores are the two numbers that matter most.
func (p *Play) scores() []pair {
	return []pair{{"SCORE", comma(p.score()), p.gain()}, {"BEST", comma(p.bestScore()), ""}}
}

// sidePanel is the panel beside the board.
func (p *Play) sidePanel(width, height int) string {
	return stack(height,
		p.cards(width, p.scores()...),
		p.columns(width, pair{"MOVES", p.moves(), ""}, pair{"TILE", p.bestTile(), ""})+"\n"+
			p.columns(width*2, pair{"RANK", p.day.text("today"), ""}),
		strings.TrimSuffix(p.theme.bold().Render(p.player())+"\n"+p.ranking(), "\n"),
		p.command(width, "Others watch with", "watch", p.opened.GetId()),
	)
}

// lowPanel is the panel below the board.
func (p *Play) lowPanel(width, height int) string {
	who := p.theme.bold().Render(p.player())
	if why := p.ranking(); why != "" {
		who += "  " + why
	}
	return stack(height,
		p.inline(width, p.scores()...),
		p.inline(width, pair{"MOVES", p.moves(), ""}, pair{"TILE", p.bestTile(), ""}),
		p.inline(width, pair{"RANK", p.day.text("today"), ""}),
		who,
		p.command(width, "Others watch with", "watch", p.opened.GetId()),
	)
}

// ranking says that the game is not ranked, and why.
func (p *Play) ranking() string {
	if why := p.unranked(); why != "" {
		return p.theme.warn().Render("unranked: " + why)
	}
	return ""
}

// ask is the box that asks before something is lost.
func (p *Play) ask(airy bool) string {
	switch p.question {
	case askNew:
	case askSolver:
		return p.askUncounted("Let "+p.wanted+" play?", "let it play", airy, p.keys.Yes, p.keys.No)
	default:
		return p.askBack(p.question, airy, p.keys.Yes, p.keys.No)
	}
	counts := "Its " + comma(p.score()) + " points count."
	switch {
	case !p.game.GetRanked():
		counts = "It is not ranked."
	case p.score() == 0:
		counts = "It has no points yet."
	}
	return p.box("Give this game up?", lines(airy,
		counts,
		"",
		p.choice(p.keys.Yes.Help().Key, "give up, new game")+"\n"+p.choice(p.keys.No.Help().Key, "cancel"),
	))
}

// askBack is the box that asks before moves are taken back.
func (b *base) askBack(asked question, airy bool, yes, no key.Binding) string {
	title, what := "Undo the last move?", "undo it"
	if asked == askRestart {
		title, what = "Start again on the same board?", "restart"
	}
	return b.askUncounted(title, what, airy, yes, no)
}

// askUncounted is the box that asks before a game stops to count.
func (b *base) askUncounted(title, what string, airy bool, yes, no key.Binding) string {
	return b.box(title, lines(airy, "The game is then unranked.", "",
		b.choice(yes.Help().Key, what)+"\n"+b.choice(no.Help().Key, "cancel")))
}

// choice is a key and what it does.
func (b *base) choice(key, what string) string {
	return b.theme.accent().Render(key) + " " + b.theme.dim().Render(what)
}

// lines puts lines below each other, without the empty ones if it has to be
// tight.
func lines(airy bool, all ...string) string {
	var kept []string
	for _, line := range all {
		if line != "" || airy {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// result is the box over the board of a finished game.
func (p *Play) result(airy bool) string {
	rank := p.ranking()
	if rank == "" {
		rank = p.stands(p.day, "today") + "\n" + p.stands(p.all, "all time")
	}
	return p.box(p.ending(), lines(airy,
		p.outcome(&p.base),
		"",
		rank,
		"",
		p.verification(p.opened.GetId()),
		"",
		p.choice("n", "new")+"     "+p.choice("q", "quit"),
	))
}

// stands says where the player stands after the game, be it by this game or
// by a better one.
func (p *Play) stands(at *Place, window string) string {
	if at != nil && at.Rank > 0 && at.GameID != p.opened.GetId() {
		return "best: " + at.text(window)
	}
	return at.text(window)
}

// ending names the end of a game for its title.
func (m *match) ending() string {
	switch m.game.GetResult().GetReason() {
	case pb.Result_REASON_GOAL_REACHED:
		return "2048!"
	case pb.Result_REASON_NO_MOVES:
		return "No moves left"
	case pb.Result_REASON_RESIGNED:
		return "Given up"
	case pb.Result_REASON_TIMED_OUT:
		return "Out of time"
	case pb.Result_REASON_ABANDONED:
		return "Abandoned"
	default:
		return "Game over"
	}
}

// outcome are the facts of a finished game.
func (m *match) outcome(b *base) string {
	return fmt.Sprintf("%s points\n%s", b.theme.bold().Render(comma(m.score())),
		b.theme.dim().Render(fmt.Sprintf("best tile %s, %s", m.bestTile(), m.movesMade())))
}
