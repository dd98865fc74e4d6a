package usage

import (
	"strings"

	"github.com/spf13/cobra"
)

// Layout makes root and all its subcommands wrap the help for their flags in 80 columns. Subcommands
// refer to the help of root for the flags that they inherit.
func Layout(root *cobra.Command) {
	layout := strings.ReplaceAll(root.UsageTemplate(), ".LocalFlags.FlagUsages", wrapped)
	root.SetUsageTemplate(strings.ReplaceAll(layout, "Global Flags:\n{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}",
		"{{.Root.CommandPath}} --help lists the flags of every command."))
}

// wrapped is the part of a template that prints the flags of a command.
const wrapped = ".LocalFlags.FlagUsagesWrapped 80"

// Short makes the help of root show only its flags below its description, which has to list the commands.
func Short(root *cobra.Command) {
	root.SetUsageTemplate("{{if .HasParent}}" + root.UsageTemplate() + "{{else}}{{" + wrapped + "}}{{end}}")
}
