package usage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that man pages keep the arguments, the columns and the special characters of the help.
func TestManual(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	root := &cobra.Command{Use: "program", Short: "Do things", Version: "v1", Long: "It does *all* things.\n\nHere:   program move\nThere:  program other"}
	move := &cobra.Command{Use: "move <game> [x_y]", Short: "Move", Long: "Moves in <game>.", Run: func(*cobra.Command, []string) {}}
	move.Flags().String("to", "", "where to, such as <x>")
	root.AddCommand(move, Manual())
	directory := filepath.Join(t.TempDir(), "new", "man1")
	root.SetArgs([]string{"man", directory})
	require.NoError(t, root.Execute())

	page, err := os.ReadFile(filepath.Join(directory, "program.1"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "\nIt does *all* things.\n")
	assert.Contains(t, string(page), "\nHere:   program move\nThere:  program other\n")
	assert.Contains(t, string(page), `.TH "PROGRAM" "1" "Nov 2023" "program v1" "Gridstand"`)
	page, err = os.ReadFile(filepath.Join(directory, "program-move.1"))
	require.NoError(t, err)
	for _, text := range []string{"program move <game> [x_y] [flags]", "Moves in <game>.", "such as <x>"} {
		assert.Contains(t, string(page), text)
	}
	assert.NoFileExists(t, filepath.Join(directory, "program-man.1"))
}
