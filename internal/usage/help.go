package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Register the functions only once, because cobra keeps template functions in a global map.
func init() {
	cobra.AddTemplateFunc("flagHelp", flagHelp)
	cobra.AddTemplateFunc("flagLines", flagLines)
}

// helpWidth is the width of the help for flags, in columns.
const helpWidth = 80

// Layout makes root and all its subcommands format the help for their flags for 80-column
// terminals. Subcommands refer to the help of root for the flags that they inherit.
func Layout(root *cobra.Command) {
	layout := strings.ReplaceAll(root.UsageTemplate(), ".LocalFlags.FlagUsages", ".LocalFlags | flagHelp")
	root.SetUsageTemplate(strings.ReplaceAll(layout, "Global Flags:\n{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}",
		"{{.Root.Name}} --help lists the flags of every command.\n"))
}

// Short makes the help of root show only the lines of its flags below its description, which
// has to list the commands.
func Short(root *cobra.Command) {
	root.SetUsageTemplate("{{if .HasParent}}" + root.UsageTemplate() + "{{else}}{{.LocalFlags | flagLines}}{{end}}")
}

// flagLines returns a line for each flag.
func flagLines(set *pflag.FlagSet) string {
	var b strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&b, "  %-19s  %s\n", strings.TrimSpace("--"+f.Name+" "+value), usage)
	})
	return b.String()
}

// InTopic is the annotation of flags that only a help topic lists.
const InTopic = "topic"

// flagHelp returns the help for all flags except hidden ones and those of topics: a line with the name, default and
// environment variable, and the description below it. A zero default is shown only if the flag has
// a variable.
func flagHelp(set *pflag.FlagSet) string {
	var b strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || isInTopic(f) {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		b.WriteString("  ")
		if f.Shorthand != "" {
			b.WriteString("-" + f.Shorthand + ", ")
		}
		b.WriteString("--" + f.Name)
		if value != "" {
			b.WriteString(" " + value)
		}
		if variable := Variable(f); variable != "" {
			b.WriteString("  (default " + cmp.Or(shorten(f.DefValue), "none") + "; " + variable + ")")
		} else if !slices.Contains(zeroes, f.DefValue) {
			b.WriteString("  (default " + shorten(f.DefValue) + ")")
		}
		b.WriteString("\n" + wrap(usage, "        ", helpWidth))
	})
	return b.String()
}

func isInTopic(f *pflag.Flag) bool {
	_, is := f.Annotations[InTopic]
	return is
}

// zeroes lists the defaults that count as zero values.
var zeroes = []string{"", "0", "0s", "false", "[]"}

// shorten removes trailing zero minutes and seconds from a duration.
func shorten(s string) string {
	if before, ok := strings.CutSuffix(s, "m0s"); ok {
		s = before + "m"
	}
	if before, ok := strings.CutSuffix(s, "h0m"); ok {
		s = before + "h"
	}
	return s
}

// wrap breaks text into indented lines of at most width columns.
func wrap(text, indent string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+len(word) > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}
