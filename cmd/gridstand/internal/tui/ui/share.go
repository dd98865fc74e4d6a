package ui

import (
	"cmp"
	"net/url"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/loopback"
)

// Link returns the address of a web page, such as "/g/" and the id of a game, or "" if the server's is unknown.
func (e *Env) Link(path string) string {
	if e.Site == "" {
		return ""
	}
	return e.Site + path
}

// Invitation says what others can do with a game or a challenge, at the address of a web page and, with a command, in a
// terminal.
type Invitation struct {
	What          string // "Others watch", or "" if there is nothing to explain
	Link, Command string // either may be empty
	Waiting       bool   // whether the game or the race waits for players
}

// Text returns the link or, if there is none, the command.
func (i Invitation) Text() string { return cmp.Or(i.Link, i.Command) }

// Blocks explains the invitation: "Others watch at https://…", and "or with gridstand watch …". It leaves out a link
// that takes more than rows if there is a command. If the link leads to the user's own machine, Blocks says so.
func (i Invitation) Blocks(t Theme, width, rows int) (blocks []string) {
	what, link := i.What, wrapAt(i.Link, width, "/") // breaks before its id
	if lipgloss.Height(link) > rows {
		link = Wrap(i.Link, width) // breaks anywhere
	}
	if i.Command != "" && lipgloss.Height(link) > rows {
		link = ""
	}
	if u, err := url.Parse(i.Link); err == nil && loopback.Is(u.Hostname()) {
		what = strings.Replace(what, "Others", "Others on this machine", 1)
	}
	if what == "" {
		return nil
	}
	if link != "" {
		blocks = append(blocks, Command(t, what+" at", link, width))
		what = "or"
	}
	if i.Command != "" {
		blocks = append(blocks, Command(t, what+" with", i.Command, width))
	}
	return blocks
}

// CopyKey returns the key that copies an invitation, with its place in the footer, which is among the first while
// players are missing.
func (t *Tasks) CopyKey(when bool, place int, i Invitation) Key {
	what, short := "copy link", "link"
	if i.Waiting {
		place = 2
	}
	if i.Link == "" {
		what, short = "copy command", "copy command"
	}
	return On("y", "y", what, when, func() tea.Cmd { return t.Copy(i.Text()) }).FooterAs(place, "y", short)
}

// Copy sends text to the terminal's clipboard. Since terminals do not say whether they accept it, the notice about
// it contains the text, too.
func (t *Tasks) Copy(text string) tea.Cmd {
	lines := convert.All(strings.Split(text, "\n"), func(line string) string { return client.CleanText(line, 200) })
	gap := " "
	if len(lines) > 1 {
		gap = "\n"
	}
	t.Say("Sent to the terminal's clipboard:" + gap + strings.Join(lines, "\n"))
	return tea.SetClipboard(text)
}
