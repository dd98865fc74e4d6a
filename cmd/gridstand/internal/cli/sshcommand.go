package cli

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/gridstand/gridstand/internal/usage"
)

// sshWord describes a command of SSH clients: a word and its arguments.
type sshWord struct {
	name, args, help string
	// max is the maximum number of arguments. Arguments without brackets in args are
	// required.
	max int
	// screen is set if the command needs a terminal. Without a terminal, the other commands
	// print text.
	screen bool
}

// sshWords lists the commands that clients can run, in the order of the help.
var sshWords = []sshWord{
	{"daily", "[VARIANT]", "the daily game, the same tiles for everyone", 1, false},
	{"play", "[VARIANT|GAME]", "your latest game, a new or a waiting one", 1, true},
	{"join", "GAME|CHALLENGE", "take a seat, enter a race or a challenge", 1, true},
	{"race", "[--now|VARIANT [LIMIT]]", "a new race, or one that waits for players", 2, true},
	{"challenge", "[VARIANT|GAME]", "a link to new tiles or a finished game's", 1, true},
	{"watch", "[@NAME|GAME]...", "the most watched game, or a player's", 4, true},
	{"games", "[waiting]", "live games, or those that wait for players", 1, false},
	{"top", "[VARIANT|CHALLENGE|daily]", "a ranking; also: yesterday", 1, false},
	{"variants", "[NAME]", "the variants and their rules", 1, false},
	{"link", "", "a link to use your account in a browser", 0, false},
	{"account", "[@PLAYER|rename …|end …]", "you or a player; your name and browsers", 8, false},
	{"help", "", "this text", 0, false},
}

// removedOverSSH maps words that were commands once to the commands that replace them.
var removedOverSSH = map[string]string{"beat": "challenge GAME", "standings": "top LINK", "tv": "watch"}

// findSSHWord returns the description of a word, or the zero sshWord if it is unknown.
func findSSHWord(name string) sshWord {
	i := slices.IndexFunc(sshWords, func(w sshWord) bool { return w.name == name })
	if i < 0 {
		return sshWord{}
	}
	return sshWords[i]
}

// maxSSHLine is the maximum length of a client's command line, in bytes.
const maxSSHLine = 256

// parseSSH parses the line that a client sent instead of a shell command. It splits the line
// at spaces; quotes and other special characters have no meaning. An empty line opens the lobby.
func parseSSH(line string) (words []string, err error) {
	unprintable := func(r rune) bool { return r < ' ' || r > '~' }
	if len(line) > maxSSHLine || strings.ContainsFunc(line, unprintable) {
		return nil, usage.Errorf("the command is too long or contains characters that are not allowed. Try: help")
	}
	words = strings.Fields(line)
	if len(words) == 0 {
		return nil, nil
	}
	name, args := words[0], words[1:]
	known := findSSHWord(name)
	switch {
	case known.name == "" && removedOverSSH[name] != "":
		return nil, usage.Errorf("%s is now: %s", name, removedOverSSH[name])
	case known.name == "":
		return nil, usage.Errorf("there is no command %.20q. Try: help", name)
	case (name == "watch" || name == "account") && len(args) > 0 && strings.HasPrefix(args[0], atPlayer):
		return []string{name, strings.Join(args, " ")}, nil // Names may have spaces.
	case len(args) > known.max, len(args) == 0 && known.max > 0 && !strings.HasPrefix(known.args, "["),
		name == "games" && len(args) > 0 && args[0] != "waiting", name == "race" && len(args) > 1 && args[0] == "--now":
		return nil, usage.Errorf("usage: %s", strings.TrimSpace(name+" "+known.args))
	}
	return words, nil
}

// sshHelp returns the list of commands. command is the start of the commands that reach the host.
func sshHelp(command string) string {
	var text strings.Builder
	text.WriteString("Without a command: the lobby.\n\n")
	var screens []string
	for _, w := range sshWords {
		fmt.Fprintf(&text, "  %-32s  %s\n", w.name+" "+w.args, w.help)
		if w.screen {
			screens = append(screens, w.name)
		}
	}
	last := len(screens) - 1
	fmt.Fprintf(&text, "\n%s and %s need a terminal:\n  %s watch @NAME\n", strings.Join(screens[:last], ", "), screens[last], command)
	return text.String()
}

// sshCommand runs the client's command line.
func (p *program) sshCommand(ctx context.Context, line string, log *slog.Logger) error {
	words, err := parseSSH(line)
	if err != nil {
		return err
	}
	screen := len(words) == 0 || findSSHWord(words[0]).screen
	switch {
	case screen && p.getenv("TERM") == "dumb":
		p.notef("Your terminal is dumb: it cannot show a game's screen. These games are live:")
		words = []string{"games"}
	case screen && !p.over.session.Terminal:
		return usage.Errorf("this needs a terminal: %s", strings.Join(append([]string{p.over.command}, words...), " "))
	}
	if err := p.identify(ctx, log); err != nil {
		return err
	}
	switch {
	case len(words) == 0:
		return p.lobby(ctx)
	case words[0] == "help":
		return p.printf("%s", sshHelp(p.over.command))
	}
	args, err := p.sshArgs(words[0], words[1:])
	if err != nil {
		return err
	}
	root := p.command()
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// sshArgs returns the arguments of this program for a client's command. Of the commands about the client's
// own account, a client reaches only those here, since a host has no token.
func (p *program) sshArgs(name string, args []string) ([]string, error) {
	const account, rename, end = "account", "rename", "end"
	own := name == "link" || name == account && !(len(args) > 0 && strings.HasPrefix(args[0], atPlayer))
	switch {
	case own && p.over.refusal != nil:
		return nil, p.over.refusal
	case name == "link":
		return []string{account, "link"}, nil
	case own && len(args) > 1 && args[0] == rename:
		return []string{account, rename, "--", strings.Join(args[1:], " ")}, nil
	case own && len(args) == 2 && args[0] == end:
		return []string{account, end, "--", args[1]}, nil
	case own && len(args) > 0:
		return nil, usage.Errorf("usage: account, account @PLAYER, account rename NAME, or account end SESSION")
	case name == dailyWord && p.over.refusal != nil: // A guest can only see the ranking.
		return []string{"top", dailyWord}, nil
	case name == "games" && len(args) > 0:
		return []string{name, "--status=waiting"}, nil
	case name == "race" && slices.Equal(args, []string{"--now"}):
		return []string{name, "--now"}, nil
	case name == "race" && len(args) > 1:
		return []string{name, "--limit=" + args[1], "--", args[0]}, nil
	default:
		return append([]string{name, "--"}, args...), nil
	}
}
