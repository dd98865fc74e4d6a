package usage

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// Manual returns the hidden command "man <directory>", which writes a man page for every command of
// the program. The pages are dated $SOURCE_DATE_EPOCH if it is set, and today otherwise.
func Manual() *cobra.Command {
	return &cobra.Command{
		Use: "man <directory>", Short: "Write the man pages into a directory", Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			directory := filepath.Clean(args[0])
			if err := os.MkdirAll(directory, 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			toMarkdown(root)
			return doc.GenManTree(root, &doc.GenManHeader{
				Section: "1",
				Source:  strings.TrimSpace(root.Name() + " " + root.Version),
				Manual:  "Gridstand",
			}, directory)
		},
	}
}

// toMarkdown converts the help of a command and its subcommands to Markdown, from which package
// doc makes man pages.
func toMarkdown(cmd *cobra.Command) {
	cmd.Use = escape.Replace(cmd.Use)
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, p := range paragraphs {
		if strings.Contains(p, "  ") { // already laid out in columns
			paragraphs[i] = "    " + strings.ReplaceAll(p, "\n", "\n    ")
		} else {
			paragraphs[i] = escape.Replace(p)
		}
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = escape.Replace(f.Usage) })
	for _, below := range cmd.Commands() {
		toMarkdown(below)
	}
}

var escape = strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`)
