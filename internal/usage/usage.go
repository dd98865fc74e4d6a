// Package usage checks the command lines of both programs for arguments that are
// missing, unexpected or unknown.
package usage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Error is the error for an invalid command line.
type Error struct{ error }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.error }

// Errorf makes an *Error as fmt.Errorf does.
func Errorf(format string, args ...any) error { return Wrap(fmt.Errorf(format, args...)) }

// Wrap makes err an *Error; nil stays nil.
func Wrap(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err}
}

// Flag returns the *Error for an invalid flag. It is for
// cobra.Command.SetFlagErrorFunc.
func Flag(_ *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return Wrap(err)
	}
	return Value("--"+wrong.GetFlag().Name, wrong.GetFlag(), wrong.GetValue(), errors.Unwrap(wrong))
}

// Secret is the type of a flag whose value may be secret: Value does not print it.
const Secret = "secret"

// Value returns the *Error for a value that a flag refused because of why. name is the
// flag or variable that the user set.
func Value(name string, flag *pflag.Flag, value string, why error) error {
	switch flag.Value.Type() {
	case "int", "int32":
		return Errorf("%s must be a whole number, not %.40q", name, value)
	case "duration":
		return Errorf("%s must be a duration such as 30s, 5m or 2h, not %.40q", name, value)
	case "bool":
		return Errorf("%s must be true or false, not %.40q", name, value)
	case Secret:
		return Errorf("%s: %w", name, why)
	default:
		return Errorf("%s: %w, not %.40q", name, why, value)
	}
}

// Strict makes root and every command below it return an *Error for arguments that do
// not match the command's Use, see Args, and help for unknown commands. It is called
// after all commands are added and root's output is set.
func Strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	strict(root)
	if help, _, err := root.Find([]string{"help"}); err == nil && help != root {
		help.Args = topic
	}
}

func strict(cmd *cobra.Command) {
	cmd.Args = Args
	if !cmd.Runnable() { // else cobra would not check its arguments
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, below := range cmd.Commands() {
		strict(below)
	}
}

// Args checks the arguments of a command against its Use, "move <game> [x]":
// arguments in angle brackets are required, those in square brackets are optional, and
// if the last one ends in "..." there may be any number. None may be empty, for
// example because a script's variable is not set. It is a cobra.PositionalArgs.
func Args(cmd *cobra.Command, args []string) error {
	wanted := strings.Fields(cmd.Use)[1:]
	for i, argument := range wanted {
		if i >= len(args) && strings.HasPrefix(argument, "<") {
			return Errorf("%s needs a %s", cmd.Name(), plain.Replace(argument))
		}
	}
	switch {
	case slices.Contains(args, ""):
		return Errorf("%s: an argument is empty", cmd.Name())
	case strings.HasSuffix(cmd.Use, "..."):
		return nil
	case len(args) <= len(wanted):
		return nil
	case cmd.HasSubCommands():
		return unknown(args)
	default:
		return Errorf("%s: unexpected argument %.40q", cmd.Name(), args[len(wanted)])
	}
}

// plain turns an argument of Use into words.
var plain = strings.NewReplacer("<", "", ">", "", "...", "", "|", " or ")

// topic checks the arguments of help, which name a command.
func topic(help *cobra.Command, args []string) error {
	if _, rest, err := help.Root().Find(args); err != nil || len(rest) > 0 {
		return unknown(args)
	}
	return nil
}

func unknown(args []string) error {
	return Errorf("unknown command %.40q", strings.Join(args, " "))
}
