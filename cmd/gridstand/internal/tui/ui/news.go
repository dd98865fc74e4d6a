package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/internal/describe"
)

// newsTime is how long news are shown.
const newsTime = 2 * time.Second

// ShowNews shows news, unless text is "".
func (t *Tasks) ShowNews(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	t.News = text
	return t.newsEnd.Start(t, newsTime, func() tea.Cmd { t.News = ""; return nil })
}

// React shows the reactions of watchers, if there are any.
func (t *Tasks) React(counts []int32) tea.Cmd {
	text := describe.Reacted(counts)
	if text != "" {
		text = "★ " + text
	}
	return t.ShowNews(text)
}
