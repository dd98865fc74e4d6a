// Package help lays out the help on flags.
package help

import (
	"cmp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/flags"
)

// Flags is the help on flags, but for hidden ones: a line with name, default
// and environment variable, and the description below it, for terminals of 80
// columns.
func Flags(set *pflag.FlagSet) string {
	var b strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		b.WriteString("  --" + f.Name)
		if value != "" {
			b.WriteString(" " + value)
		}
		if f.Name != "help" && f.Name != "version" {
			b.WriteString("  (default " + cmp.Or(shorten(f.DefValue), "none"))
			if flags.HasVariable(f) {
				b.WriteString("; " + flags.Variable(f.Name))
			}
			b.WriteString(")")
		}
		b.WriteString("\n" + wrap(usage, "        ", 80))
	})
	return b.String()
}

// shorten removes zero minutes and seconds from the end of a duration.
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
