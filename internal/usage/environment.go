package usage

import (
	"slices"
	"strings"

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
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[variableKey] = []string{prefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))}
	})
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
// project's prefix that are neither in known, the list of the program's variables, nor in
// projectVariables. If one is Similar to a variable of these, it is probably misspelled, and
// CheckEnvironment returns an *Error. Otherwise it returns the names of the unknown
// variables. An empty variable counts as unset. Variables that orchestrators set for services
// and ports, such as GRIDSTAND_SERVICE_HOST, are ignored.
func CheckEnvironment(environ, known []string) (unknown []string, err error) {
	known = slices.Concat(known, projectVariables)
	for _, entry := range environ {
		variable, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(variable, Prefix) || slices.Contains(known, variable) ||
			strings.Contains(variable, "_SERVICE_") || strings.Contains(variable, "_PORT") {
			continue
		}
		if meant := Similar(known, variable); meant != "" {
			return nil, Errorf("the environment variable %s is unknown; did you mean %s?", variable, meant)
		}
		unknown = append(unknown, variable)
	}
	slices.Sort(unknown)
	return unknown, nil
}

// distance returns the minimum number of letters to insert, remove or replace, or of neighboring
// letters to swap, that turns a into b (the optimal string alignment distance).
func distance(a, b string) int {
	// Each row has the distances from a prefix of a to each prefix of b. The current row is for
	// the first i+1 letters of a.
	var before, last, current []int
	last = make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		current = make([]int, len(b)+1)
		current[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			current[j+1] = min(replaced, current[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				current[j+1] = min(current[j+1], before[j-1]+1)
			}
		}
		before, last = last, current
	}
	return last[len(b)]
}
