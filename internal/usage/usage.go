// Package usage runs the command lines of both programs. It checks them for missing, unexpected and unknown
// arguments, and formats the help for their flags.
package usage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Error is the error for an invalid command line.
type Error struct{ error }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.error }

// Errorf formats an *Error like fmt.Errorf.
func Errorf(format string, args ...any) error { return Wrap(fmt.Errorf(format, args...)) }

// Wrap turns err into an *Error. It returns nil if err is nil.
func Wrap(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err}
}

// Flag returns the *Error for an invalid flag. If an argument before an unknown flag is not a command,
// Flag reports that instead, because the flag may belong to the command that the user meant. Pass Flag to
// cobra.Command.SetFlagErrorFunc.
func Flag(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		if meant := Similar(flags, unknown.GetSpecifiedName()); len(meant) > 0 {
			err = fmt.Errorf("%w; did you mean --%s?", err, strings.Join(meant, " or --"))
		}
		err = cmp.Or(noCommand(cmd), err)
	}
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return Wrap(err)
	}
	return Value("--"+wrong.GetFlag().Name, wrong.GetFlag(), wrong.GetValue(), errors.Unwrap(wrong))
}

// noCommand returns the *Error for the arguments of a command with subcommands, if the first one should have been the
// name of a subcommand. Cobra takes the name after an option for the option's value: "-h play".
func noCommand(cmd *cobra.Command) error {
	args := cmd.Flags().Args()
	if below, _, err := cmd.Find(args); !cmd.HasSubCommands() || len(args) == 0 || err == nil && below != cmd {
		return nil
	}
	return Args(cmd, args)
}

// Value returns the *Error for a value that a flag rejected. name is the flag or variable that the
// user set, and why is the error that the flag returned.
func Value(name string, flag *pflag.Flag, value string, why error) error {
	if form := forms[flag.Value.Type()]; form != "" {
		return Errorf("%s must be %s, not %.40q", name, form, value)
	}
	return Errorf("%s: %w, not %.40q", name, why, value)
}

// forms describes the values of flags, by the name of their type.
var forms = map[string]string{
	"int": "a whole number", "int32": "a whole number", "float64": "a number",
	"duration": "a duration such as 30s, 5m or 2h", "bool": "true or false",
}

// strict makes cmd and its subcommands check their arguments, and shells complete those that name files.
func strict(cmd *cobra.Command) {
	cmd.Args = Args
	files := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	if strings.Contains(cmd.Use, "file") {
		cmd.ValidArgsFunction = files
	}
	complete := func(f *pflag.Flag) {
		if what, _ := pflag.UnquoteUsage(f); what == "file" {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, files) // fails only for an unknown flag
		}
	}
	cmd.Flags().VisitAll(complete)
	cmd.PersistentFlags().VisitAll(complete)
	cmd.SuggestionsMinimumDistance = maxTypos
	if !cmd.Runnable() { // otherwise cobra would not check the command's arguments
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, below := range cmd.Commands() {
		strict(below)
	}
}

// Args checks the arguments of a command against its Use, such as "move <game> [x]". Arguments in
// angle brackets are required, those in square brackets are optional, and if the last one ends in
// "...", any number may follow. Beside subcommands, an argument is the name of a player, with an @, or a
// link. Empty arguments are rejected, because they usually come from an unset variable in a script. Args is a cobra.PositionalArgs.
func Args(cmd *cobra.Command, args []string) error {
	wanted := strings.Fields(cmd.Use)[1:]
	var stream error
	cmd.Flags().VisitAll(func(f *pflag.Flag) { stream = cmp.Or(stream, noStream("--"+f.Name, f, f.Value.String())) })
	if stream != nil {
		return stream
	}
	for i, argument := range wanted {
		if i >= len(args) && strings.HasPrefix(argument, "<") {
			after := ""
			if i > 0 { // the user may have left out the first argument
				after = fmt.Sprintf(" after the %s %.40q", plain.Replace(wanted[i-1]), args[i-1])
			}
			return Errorf("%s needs a %s%s", cmd.Name(), plain.Replace(argument), after)
		}
	}
	for i, arg := range args[:min(len(args), len(wanted))] {
		if arg == "-" && !strings.HasSuffix(wanted[i], "|-") && strings.Contains(wanted[i], "file") {
			return Errorf(notFile, cmd.Name())
		}
	}
	switch {
	case slices.Contains(args, ""):
		return Errorf("%s: an argument is empty", cmd.Name())
	case strings.HasSuffix(cmd.Use, "..."):
		return nil
	case cmd.HasSubCommands() && len(args) > 0 && !(len(args) <= len(wanted) &&
		(strings.HasPrefix(args[0], "@") || strings.Contains(args[0], "/"))):
		return unknown(cmd, args, args)
	case len(args) <= len(wanted):
		return nil
	default:
		// Does not repeat the arguments, because one may be a token.
		return Errorf("%s: too many arguments; usage: %s", cmd.Name(), cmd.Use)
	}
}

// NoEmpty returns an *Error if the command line gives a flag an empty value, which usually comes from an
// unset variable in a script. Flags that ReadEnvironment sets may be empty, as their variables may be.
func NoEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if value := f.Value.String(); Variable(f) == "" && (value == "" || value == "[]") {
			err = Errorf("--%s is empty", f.Name)
		}
	})
	return err
}

// notFile is the error for "-" in place of a file that is not standard input or output.
const notFile = "%s: - is not the name of a file; write ./- for a file with that name"

// noStream returns an *Error if the value of a flag that names a file or a directory is "-". name is
// the flag or variable that the user set.
func noStream(name string, f *pflag.Flag, value string) error {
	if what, _ := pflag.UnquoteUsage(f); value == "-" && (what == "file" || what == "directory") {
		return Errorf(notFile, name)
	}
	return nil
}

// plain turns the notation of an argument in Use into words for error messages.
var plain = strings.NewReplacer("<", "", ">", "", "...", "", "|", " or ")

// topic checks that the arguments of help name a command.
func topic(help *cobra.Command, args []string) error {
	if found, rest, err := help.Root().Find(args); err != nil || len(rest) > 0 {
		return unknown(found, rest, args)
	}
	return nil
}

// maxTypos is the maximum number of letters to insert, remove or replace in a misspelled name.
const maxTypos = 2

// unknown returns the *Error for all, the arguments of a command line. The first of rest should have
// been a subcommand of cmd: unknown suggests those that cobra suggests, which names one twice that it suggests
// for two reasons, and cmd itself for its own SuggestFor.
// The annotations of the root command map words that were commands once to the commands that replace them.
func unknown(cmd *cobra.Command, rest, all []string) error {
	if now := cmd.Root().Annotations[rest[0]]; now != "" && cmd == cmd.Root() {
		return Errorf("%s is now: %s %s", rest[0], cmd.CommandPath(), now)
	}
	meant := slices.Compact(cmd.SuggestionsFor(rest[0]))
	if len(meant) == 0 && slices.Contains(cmd.SuggestFor, rest[0]) {
		meant = append(meant, cmd.CommandPath())
	}
	if len(meant) > 0 {
		return Errorf("unknown command %.40q; did you mean %s?", rest[0], strings.Join(meant, " or "))
	}
	if name := strings.Join(rest, " "); strings.Contains(cmd.Use, "@") {
		return Errorf("unknown command %.40q; for a player: %s %.40q", name, cmd.CommandPath(), "@"+name)
	}
	return Errorf("unknown command %.40q", strings.Join(all, " "))
}
