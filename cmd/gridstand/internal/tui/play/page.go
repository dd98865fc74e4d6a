// Package play is a stub.
package play

import (
	"context"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

type page struct {
	env   *ui.Env
	tasks *ui.Tasks
}

func (p *page) Init() tea.Cmd { return nil }
func (p *page) Update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.Code == 'q' {
		return ui.Back
	}
	return nil
}
func (p *page) View(int, int) ui.View     { return ui.View{Body: "stub"} }
func (p *page) Keys() help.KeyMap         { return p }
func (p *page) ShortHelp() []key.Binding  { return nil }
func (p *page) FullHelp() [][]key.Binding { return nil }
func (p *page) Farewell() string          { return "" }
func (p *page) Tasks() *ui.Tasks          { return p.tasks }

func New(ctx context.Context, env *ui.Env, g *pb.Game, options client.GameOptions) ui.Page {
	return &page{env, ui.NewTasks(ctx)}
}
