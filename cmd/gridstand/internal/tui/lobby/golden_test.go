package lobby

import (
	"testing"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// TestScreens compares the lobby and the rules in every theme at every size.
func TestScreens(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(env *ui.Env) ui.Page{
		"lobby": func(env *ui.Env) ui.Page { return loaded(t, env, tuitest.GameID) },
		"new": func(env *ui.Env) ui.Page {
			p := loaded(t, env, triboloID)
			p.form = newForm(env, tuitest.Variants(), "tribolo")
			return p
		},
		"rules-tribolo": func(env *ui.Env) ui.Page { return openRules(t, env, "tribolo") },
		"rules-classic": func(env *ui.Env) ui.Page { return openRules(t, env, "classic") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tuitest.Golden(t, name, open)
		})
	}
}

func openRules(t *testing.T, env *ui.Env, variant string) ui.Page {
	p := NewRules(t.Context(), env, variant)
	p.Update(rulesMsg{variants: tuitest.Variants()})
	return p
}
