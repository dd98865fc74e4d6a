package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Link is the address of a game's page in a browser, empty if the program knows of none.
func (e *Env) Link(gameID string) string {
	if e.Local == nil || e.Local.Site == "" {
		return ""
	}
	return e.Local.Site + "/g/" + gameID
}

// CopyKey is the key of Copy.
func (e *Env) CopyKey() key.Binding {
	if e.Link("") != "" {
		return Bind("y", "copy link", "y")
	}
	return Bind("y", "copy id", "y")
}

// Copy copies a game's link, or its id if there is no link, and returns what to say about
// that, the longest text first.
func (e *Env) Copy(gameID string) (say []string, do tea.Cmd) {
	kind, text := "id", gameID
	if link := e.Link(gameID); link != "" {
		kind, text = "link", link
	}
	copied := "Copied the " + kind + " of the game"
	return []string{copied + ", " + text + ".", "Copied " + text + ".", copied + "."}, tea.SetClipboard(text)
}
