package ui

import tea "charm.land/bubbletea/v2"

// Link returns the address of a game's web page, or "" if it is unknown.
func (e *Env) Link(gameID string) string {
	if e.Site == "" {
		return ""
	}
	return e.Site + "/g/" + gameID
}

// ChallengeLink returns the address of a challenge's web page, or "" if it is unknown.
func (e *Env) ChallengeLink(id string) string {
	switch {
	case e.Site != "":
		return e.Site + "/c/" + id
	case e.ChallengePage != nil:
		return e.ChallengePage(id)
	default:
		return ""
	}
}

// CopyKey returns the key for Copy.
func (e *Env) CopyKey(when bool, do func() tea.Cmd) Key {
	if e.Link("") != "" {
		return On("y", "y", "copy link", when, do)
	}
	return On("y", "y", "copy id", when, do)
}

// Copy copies a game's link, or its id if there is no link. It returns the command that
// copies and a message that reports it to the user, in alternative wordings, longest first.
func (e *Env) Copy(gameID string) (say []string, do tea.Cmd) {
	kind, text := "id", gameID
	if link := e.Link(gameID); link != "" {
		kind, text = "link", link
	}
	copied := "Copied the " + kind + " of the game"
	return []string{copied + ", " + text + ".", "Copied " + text + ".", copied + "."}, tea.SetClipboard(text)
}
