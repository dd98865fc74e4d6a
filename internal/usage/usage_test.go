package usage_test

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/usage"
)

// Ensure that the error for an unknown flag suggests the flag that was probably meant.
func TestFlag_Unknown(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--max-open-game 5":   "unknown flag: --max-open-game; did you mean --max-open-games?",
		"--lsiten=:80":        "unknown flag: --lsiten; did you mean --listen?",
		"-listen :80":         "unknown shorthand flag: 'l' in -listen; did you mean --listen?",
		"below --sevrer here": "unknown flag: --sevrer; did you mean --server?",
		"below --lsiten here": "unknown flag: --lsiten",
		"--cat":               "unknown flag: --cat",
		"-x":                  "unknown shorthand flag: 'x' in -x",
	} {
		root := &cobra.Command{Use: "program", RunE: nothing, SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(&cobra.Command{Use: "below", RunE: nothing})
		root.PersistentFlags().String("server", "", "")
		for _, flag := range []string{"max-open-game-s", "max-open-games", "listen", "dog", "secret"} {
			root.Flags().String(flag, "", "")
		}
		require.NoError(t, root.Flags().MarkHidden("secret"))
		root.SetFlagErrorFunc(usage.Flag)
		check(t, root, line, want)
	}
}

func TestStrict(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                 "",
		"none x":           `none: unexpected argument "x"`,
		"one":              "one needs a name",
		"one x":            "",
		"two x":            `two needs a file or - after the game "x"`,
		"two x y":          "",
		"maybe x y":        "",
		"maybe x y z":      `maybe: unexpected argument "z"`,
		"many x y z":       "",
		"some":             "some needs a game",
		"nothing":          `unknown command "nothing"`,
		"like-one":         `unknown command "like-one"; did you mean one?`,
		"help one":         "",
		"help one x":       `unknown command "one x"`,
		"help nothing":     `unknown command "nothing"`,
		"completion x":     `unknown command "x"`,
		"completion zsh x": `zsh: unexpected argument "x"`,
	} {
		root := &cobra.Command{Use: "program", RunE: nothing, SilenceErrors: true, SilenceUsage: true}
		for _, use := range []string{
			"none", "one <name>", "two <game> <file>|-", "maybe <name> [game]", "many [game]...", "some <game>...",
		} {
			root.AddCommand(&cobra.Command{Use: use, RunE: nothing, SuggestFor: []string{"like-" + strings.Fields(use)[0]}})
		}
		check(t, root, line, want)
	}
}

// check runs a command line, which must fail with the wanted error, or succeed if that is empty.
func check(t *testing.T, root *cobra.Command, line, want string) {
	t.Helper()
	root.SetArgs(strings.Fields(line))
	root.SetOut(io.Discard)
	usage.Strict(root)
	err := root.Execute()
	if want == "" {
		assert.NoError(t, err, line)
		return
	}
	var wrong *usage.Error
	if assert.ErrorAs(t, err, &wrong, line) {
		assert.EqualError(t, err, want)
	}
}

func nothing(*cobra.Command, []string) error { return nil }
