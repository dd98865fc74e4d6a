package usage

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Prefix is the prefix of the project's environment variables.
const Prefix = "GRIDSTAND_"

// variableKey is the key of the flag annotation for the environment variable.
const variableKey = "variable"

// NameVariables marks each flag as settable by an environment variable, which is named after it; see
// ReadEnvironment.
func NameVariables(flags *pflag.FlagSet, prefix string) {
	flags.VisitAll(func(f *pflag.Flag) {
		_ = flags.SetAnnotation(f.Name, variableKey, []string{variableOf(prefix, f.Name)}) // fails only for an unknown flag
	})
}

func variableOf(prefix, flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Variable returns the environment variable of a flag, or "" if it has none.
func Variable(f *pflag.Flag) string { return strings.Join(f.Annotations[variableKey], "") }

// ReadEnvironment sets flags from their environment variables unless the flag is on
// the command line. An empty variable counts as unset.
func ReadEnvironment(flags *pflag.FlagSet, getenv func(string) string) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		variable := Variable(f)
		if variable == "" || f.Changed || err != nil {
			return
		}
		if value := getenv(variable); value != "" {
			if wrong := f.Value.Set(value); wrong != nil {
				err = Value(variable, f, value, wrong)
			} else {
				err = noStream(variable, f, value)
			}
		}
	})
	return err
}

// projectVariables lists the variables of the client, its SSH host and the compose files. They may
// be set for a program that does not read them.
var projectVariables = []string{
	Prefix + "PORT", Prefix + "SERVER",
	Prefix + "SSH_ADDRESS", Prefix + "SSH_CREDENTIAL_FILE", Prefix + "SSH_HOST_KEY", Prefix + "SSH_IDLE_TIMEOUT", Prefix + "SSH_LISTEN",
	Prefix + "SSH_MAX_SESSIONS", Prefix + "SSH_MAX_SESSIONS_PER_ADDRESS", Prefix + "SSH_METRICS",
	Prefix + "SSH_PORT", Prefix + "SSH_SUBNET",
}

// CheckEnvironment checks environ, in the form of os.Environ, for variables with the
// project's prefix that are neither those of flags nor in projectVariables. If one is similar
// to a variable of these, it is probably misspelled, and CheckEnvironment returns an *Error.
// Otherwise it returns the names of the unknown variables. An empty variable counts as unset.
// Variables that orchestrators set for services and ports, such as GRIDSTAND_SERVICE_HOST, are
// ignored.
func CheckEnvironment(environ []string, flags *pflag.FlagSet) (unknown []string, err error) {
	known := slices.Clone(projectVariables)
	flags.VisitAll(func(f *pflag.Flag) { known = append(known, Variable(f)) })
	for _, entry := range environ {
		variable, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(variable, Prefix) || slices.Contains(known, variable) ||
			strings.Contains(variable, "_SERVICE_") || strings.Contains(variable, "_PORT") {
			continue
		}
		if variable == Prefix+"TLS_CLIENT_CA" { // without it, a server that required certificates would let everyone in
			return nil, Errorf("%s: servers no longer check client certificates; a proxy can do so", variable)
		}
		// A name that only begins like known ones may be another program's.
		beginning := func(name string) bool { return strings.HasPrefix(name, variable) }
		if meant := slices.DeleteFunc(Similar(known, variable), beginning); len(meant) > 0 {
			return nil, Errorf("the environment variable %s is unknown; did you mean %s?", variable, strings.Join(meant, " or "))
		}
		unknown = append(unknown, variable)
	}
	slices.Sort(unknown)
	return unknown, nil
}

// Similar returns those of the names that cobra would suggest, if they were commands, for a misspelled one.
func Similar(names []string, misspelled string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: maxTypos}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return all.SuggestionsFor(misspelled)
}
