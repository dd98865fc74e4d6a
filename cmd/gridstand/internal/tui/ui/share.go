package ui

import (
	"cmp"
	"net/url"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/loopback"
)

// Link returns the address of a game's web page, or "" if it is unknown.
func (e *Env) Link(gameID string) string { return e.address("/g/" + gameID) }

// ChallengeLink returns the address of a challenge's web page, or "" if it is unknown.
func (e *Env) ChallengeLink(id string) string { return e.address("/c/" + id) }

func (e *Env) address(path string) string {
	if e.Site == "" {
		return ""
	}
	return e.Site + path
}

// Share returns blocks that explain what others can do at the address of a web page and, after it, in a
// terminal. link and command may be empty. If the link leads to the user's own machine, Share says so.
func Share(t Theme, what, link, command string, width int) (blocks []string) {
	if u, err := url.Parse(link); err == nil && loopback.Is(u.Hostname()) {
		what = strings.Replace(what, "Others", "Others on this machine", 1)
	}
	if link != "" {
		blocks = append(blocks, Command(t, what+" at", link, width))
		what = "or"
	}
	if command != "" {
		blocks = append(blocks, Command(t, what+" with", command, width))
	}
	return blocks
}

// CopyKey returns the key that copies a link or, if there is none, a command.
func (e *Env) CopyKey(when bool, do func() tea.Cmd) Key {
	if e.Link("") != "" {
		return On("y", "y", "copy link", when, do)
	}
	return On("y", "y", "copy", when, do)
}

// LinkOr returns a game's link or, if there is no link, the command for others that word begins.
func (e *Env) LinkOr(word, gameID string) string {
	return cmp.Or(e.Link(gameID), e.Invite(word, gameID))
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
