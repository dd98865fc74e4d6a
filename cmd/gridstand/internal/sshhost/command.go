package sshhost

import (
	"fmt"
	"slices"
	"strings"
)

// Command is a client's command: a word and its arguments. The zero Command opens the
// lobby.
type Command struct {
	Name string
	Args []string
}

// word describes a command.
type word struct {
	name, args, help string
	// max is the maximum number of arguments. Arguments without brackets in args are
	// required.
	max int
	// screen is set if the command needs a terminal. Without a terminal, the other commands
	// print text.
	screen bool
}

// words lists the commands that clients can run, in the order of the help.
var words = []word{
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

// Removed maps words that were commands once to the commands that replace them.
var Removed = map[string]string{"beat": "challenge GAME", "standings": "top LINK", "tv": "watch"}

// find returns the description of a word, or the zero word if it is unknown.
func find(name string) word {
	i := slices.IndexFunc(words, func(w word) bool { return w.name == name })
	if i < 0 {
		return word{}
	}
	return words[i]
}

// maxLine is the maximum length of a client's command line, in bytes.
const maxLine = 256

// Parse parses the line that a client sent instead of a shell command. It splits the line
// at spaces; quotes and other special characters have no meaning.
func Parse(line string) (Command, error) {
	if len(line) > maxLine || line != printable(line, maxLine) {
		return Command{}, fmt.Errorf("the command is too long or contains characters that are not allowed. Try: help")
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return Command{}, nil
	}
	name, args := fields[0], fields[1:]
	known := find(name)
	switch {
	case known.name == "" && Removed[name] != "":
		return Command{}, fmt.Errorf("%s is now: %s", name, Removed[name])
	case known.name == "":
		return Command{}, fmt.Errorf("there is no command %q. Try: help", printable(name, 20))
	case (name == "watch" || name == "account") && len(args) > 0 && strings.HasPrefix(args[0], "@"):
		args = []string{strings.Join(args, " ")} // Names may have spaces.
	case len(args) > known.max, len(args) == 0 && known.max > 0 && !strings.HasPrefix(known.args, "["),
		name == "games" && len(args) > 0 && args[0] != "waiting", name == "race" && len(args) > 1 && args[0] == "--now":
		return Command{}, fmt.Errorf("usage: %s", strings.TrimSpace(name+" "+known.args))
	}
	return Command{Name: name, Args: args}, nil
}

// NeedsTerminal reports whether the command works only on a terminal.
func (c Command) NeedsTerminal() bool { return c.Name == "" || find(c.Name).screen }

// String returns the command as the client typed it, with single spaces.
func (c Command) String() string {
	return strings.Join(append([]string{c.Name}, c.Args...), " ")
}

// Help returns the list of commands. command is the start of the commands that reach the host.
func Help(command string) string {
	var text strings.Builder
	text.WriteString("Without a command: the lobby.\n\n")
	var screens []string
	for _, w := range words {
		fmt.Fprintf(&text, "  %-32s  %s\n", w.name+" "+w.args, w.help)
		if w.screen {
			screens = append(screens, w.name)
		}
	}
	last := len(screens) - 1
	fmt.Fprintf(&text, "\n%s and %s need a terminal:\n  %s watch @NAME\n", strings.Join(screens[:last], ", "), screens[last], command)
	return text.String()
}
