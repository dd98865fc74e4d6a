package cli

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/usage"
)

// removedOverSSH maps words that were commands once to the commands that replace them.
var removedOverSSH = map[string]string{"beat": "challenge GAME", "standings": "top LINK", "tv": "watch"}

// sshRoot returns the root of the commands that SSH clients can run. None of them reads or writes files, calls
// another server, or prints more than a few rows or the events of a game as they happen.
func (p *program) sshRoot() *cobra.Command {
	account := p.accountCommand()
	account.Short = "Show your account; --help: name, browsers"
	account.Long, _, _ = strings.Cut(account.Long, "\n\n") // The rest is about tokens.
	commands := []*cobra.Command{
		p.dailyCommand(), p.playCommand(), p.joinCommand(), p.raceCommand(), p.challengeCommand(), p.watchCommand(),
		p.gamesCommand(), p.topCommand(), p.variantsCommand(), p.linkCommand(), account,
	}
	p.over.commands = convert.All(commands, (*cobra.Command).Name)
	for _, cmd := range slices.Concat(commands, account.Commands()) {
		cmd.Long = strings.ReplaceAll(cmd.Long, name+" ", p.over.command+" ")
	}
	annotations := maps.Clone(removedOverSSH)
	annotations[cobra.CommandDisplayNameAnnotation] = p.over.command
	root := p.root(`Without a command: the lobby.

`+listed(commands)+`
<command> --help explains a command. Without a terminal, for which ssh needs -t,
they print text.

Flags of every command:`, annotations, commands)
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// screens are the commands that print text only without a terminal.
var screens = []string{dailyWord, "join", "race", "challenge", "watch"}

// textFlags are the flags with which they print text on a terminal, too.
var textFlags = []string{"--json", "--help", "-h"}

// maxSSHLine is the maximum length of a client's command line, in bytes.
const maxSSHLine = 256

// parseSSH parses the line that a client sent instead of a shell command. It splits the line at spaces, except
// in the name of a player, which ends before a flag or with the line; quotes and other special characters have no
// meaning. words is not nil if err is nil: cobra would run the host's own arguments.
func parseSSH(line string) (words []string, err error) {
	unprintable := func(r rune) bool { return r < ' ' || r > '~' }
	if len(line) > maxSSHLine || strings.ContainsFunc(line, unprintable) {
		return nil, usage.Errorf("the command is too long or contains characters that are not allowed")
	}
	words = strings.Fields(line)
	if i := slices.IndexFunc(words, hidden); i >= 0 {
		return nil, usage.Errorf("unknown command %.40q", words[i])
	}
	player := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, atPlayer) })
	if len(words) > 2 && words[1] == "rename" {
		player = 2
	}
	if player >= 0 {
		end := len(words)
		if flag := slices.IndexFunc(words[player:], isFlag); flag >= 0 {
			end = player + flag
		}
		words = slices.Replace(words, player, end, strings.Join(words[player:end], " "))
	}
	return words, nil
}

// isFlag reports whether a word is a flag. A player with such a word in the name has an id, too.
func isFlag(word string) bool { return strings.HasPrefix(word, "-") }

// hidden reports whether a word may be one of cobra's own commands, which the help does not list.
func hidden(word string) bool { return strings.HasPrefix(word, "__") }

// sshCommand runs the client's command line. An empty line opens the lobby.
func (p *program) sshCommand(ctx context.Context, line string, log *slog.Logger) error {
	words, err := parseSSH(line)
	if err != nil {
		return err
	}
	if err := p.identify(ctx, log); err != nil {
		return err
	}
	if p.over.refusal != nil && slices.Equal(words, []string{dailyWord}) { // A guest can only see the ranking.
		words = []string{"top", dailyWord}
	}
	isText := func(word string) bool { return slices.Contains(textFlags, word) }
	if p.getenv("TERM") == "" && slices.Contains(screens, first(words)) && !slices.ContainsFunc(words, isText) {
		p.notef("On a terminal, this is a screen: %s", p.over.command+" "+strings.Join(words, " "))
	}
	_, err = usage.Execute(ctx, p.sshRoot(), words, p.out, p.err)
	return err
}
