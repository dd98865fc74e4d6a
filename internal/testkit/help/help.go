// Package helptest checks the help of command-line programs.
package helptest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
)

// Check fails the test unless cmd and its subcommands describe all their flags, and their help fits
// in 80 columns. Only the line that begins with `Use "` and the path of a default file may be longer.
func Check(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	help := cmd.Long + "\n" + cmd.UsageString()
	for line := range strings.Lines(help) {
		if !strings.Contains(line, "/gridstand/") && !strings.HasPrefix(line, `Use "`) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		assert.Equal(t, !f.Hidden, strings.Contains(help, "--"+f.Name), f.Name)
		assert.NotEmpty(t, f.Usage, f.Name)
	})
	for _, below := range cmd.Commands() {
		Check(t, below)
	}
}
