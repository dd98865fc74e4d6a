package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/names"
	helptest "github.com/gridstand/gridstand/internal/testkit/help"
)

func TestHelp(t *testing.T) {
	t.Parallel()
	root := new(program).command()
	helptest.Check(t, root)
	assert.LessOrEqual(t, strings.Count(root.Long+"\n\n"+root.UsageString(), "\n"), 40)
	over := &program{over: &remote{command: "ssh -p 2222 -t play.example"}}
	for line := range strings.Lines(over.sshRoot().Long) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
}

// Ensure that SSH clients reach only commands and flags that keep away from the host's files, its account and other
// servers, and that need little memory and processor time.
func TestHelp_SSH(t *testing.T) {
	t.Parallel()
	var all []string
	over := &program{over: &remote{command: "ssh play.example"}}
	reachable(over.sshRoot(), &all)
	assert.Equal(t, []string{
		"ssh play.example --json --no-animation --plain",
		"account", "account end", "account rename",
		"challenge --limit --private", "daily", "games --status --variant --mine",
		"join", "link", "play --private --seats --turn-limit", "race --now --limit --bot --private",
		"top --window --me", "variants", "watch --wall",
	}, all)
}

// Ensure that no new account can have the name of a command, because it could be mistaken for it.
func TestCommands_Reserved(t *testing.T) {
	t.Parallel()
	for _, command := range new(program).command().Commands() {
		assert.True(t, names.Reserved(command.Name()), command.Name())
	}
}

// reachable adds the paths and flags of cmd and of the commands below it.
func reachable(cmd *cobra.Command, all *[]string) {
	line := cmd.CommandPath()
	if cmd.HasParent() {
		line = strings.TrimPrefix(line, cmd.Root().CommandPath()+" ")
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { line += " --" + f.Name })
	*all = append(*all, line)
	for _, below := range cmd.Commands() {
		reachable(below, all)
	}
}
