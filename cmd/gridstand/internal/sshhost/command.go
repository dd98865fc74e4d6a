package sshhost

import (
	"fmt"
	"slices"
	"strings"
)

// Command is what a client asked for: a word and its arguments.
// The zero Command is the lobby.
type Command struct {
	Name string
	Args []string
}

// word describes a word that clients may use.
type word struct {
	name, args, help string
	// max is the largest number of arguments.
	max int
	// screen says that it needs a terminal; the others print text without one.
	screen bool
}

// words are the words that clients may use.
var words = []word{
	{"play", "[VARIANT|GAME]", "a new game, one of your own, or one that waits for players", 1, true},
	{"watch", "[@NAME|GAME]...", "a player's games, or games by their ids", 4, true},
	{"tv", "", "the most watched game, and then the next one", 0, true},
	{"games", "", "live games", 0, false},
	{"top", "[VARIANT]", "the leaderboard", 1, false},
	{"variants", "[NAME]", "what can be played, and the rules", 1, false},
	{"help", "", "this text", 0, false},
}

// find returns the description of a word, the zero word if it is unknown.
func find(name string) word {
	i := slices.IndexFunc(words, func(w word) bool { return w.name == name })
	if i < 0 {
		return word{}
	}
	return words[i]
}

// maxLine is the longest line that a client may send, in bytes.
const maxLine = 256

// Parse parses the line that a client sent in place of a shell's command. It splits it
// at spaces: there are no quotes and no other special characters.
func Parse(line string) (Command, error) {
	if len(line) > maxLine || line != printable(line, maxLine) {
		return Command{}, fmt.Errorf("the command has characters that are not allowed, or too many. Try: help")
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return Command{}, nil
	}
	name, args := fields[0], fields[1:]
	known := find(name)
	switch {
	case known.name == "":
		return Command{}, fmt.Errorf("there is no command %q. Try: help", printable(name, 20))
	case name == "watch" && len(args) > 0 && strings.HasPrefix(args[0], "@"):
		args = []string{strings.Join(args, " ")} // Names may have spaces.
	case len(args) > known.max:
		return Command{}, fmt.Errorf("usage: %s", strings.TrimSpace(name+" "+known.args))
	}
	return Command{Name: name, Args: args}, nil
}

// NeedsTerminal reports whether the command shows a screen and nothing else.
func (c Command) NeedsTerminal() bool { return c.Name == "" || find(c.Name).screen }

// String returns the command as the client typed it, with single spaces.
func (c Command) String() string {
	return strings.Join(append([]string{c.Name}, c.Args...), " ")
}

// Help lists the commands.
func Help() string {
	var text strings.Builder
	text.WriteString("Without a command: the lobby.\n\n")
	for _, w := range words {
		fmt.Fprintf(&text, "  %-24s %s\n", w.name+" "+w.args, w.help)
	}
	text.WriteString("\nplay, watch and tv need a terminal: ssh -t <host> watch @NAME\n")
	return text.String()
}
