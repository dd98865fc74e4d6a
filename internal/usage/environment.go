package usage

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Prefix is the prefix of the project's environment variables.
const Prefix = "GRIDSTAND_"

// The keys of flag annotations: variableKey for the environment variable, synonymKey for
// the other flag of SetSynonyms.
const (
	variableKey = "variable"
	synonymKey  = "synonym"
)

// SetVariable marks a flag as settable by an environment variable; see ReadEnvironment.
func SetVariable(f *pflag.Flag, variable string) { annotate(f, variableKey, variable) }

// Variable returns the environment variable of a flag, or "" if it has none.
func Variable(f *pflag.Flag) string { return strings.Join(f.Annotations[variableKey], "") }

// SetSynonyms marks two flags as names of the same setting: if one is on the command line,
// ReadEnvironment does not read the variable of the other.
func SetSynonyms(a, b *pflag.Flag) {
	annotate(a, synonymKey, b.Name)
	annotate(b, synonymKey, a.Name)
}

func annotate(f *pflag.Flag, key, value string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = []string{value}
}

// ReadEnvironment sets flags from their environment variables unless the flag or its
// synonym is on the command line. An empty variable counts as unset.
func ReadEnvironment(flags *pflag.FlagSet, getenv func(string) string) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		variable := Variable(f)
		if variable == "" || f.Changed || slices.ContainsFunc(f.Annotations[synonymKey], flags.Changed) || err != nil {
			return
		}
		if value := getenv(variable); value != "" {
			if wrong := f.Value.Set(value); wrong != nil {
				err = Value(variable, f, value, wrong)
			}
		}
	})
	return err
}

// projectVariables lists variables that may be set although the program does not read them: those
// of the client and of the compose files.
var projectVariables = []string{Prefix + "SERVER", Prefix + "PORT"}

// maxTypos is the maximum edit distance for a name to count as misspelled.
const maxTypos = 2

// CheckEnvironment checks environ, in the form of os.Environ, for variables with the
// project's prefix that are not in known, the list of the program's variables. If one differs
// from a known variable by at most maxTypos letters, it is probably misspelled, and
// CheckEnvironment returns an *Error. Otherwise it returns the names of the unknown
// variables. An empty variable counts as unset. Variables that orchestrators set for services
// and ports, such as GRIDSTAND_SERVICE_HOST, are ignored.
func CheckEnvironment(program string, environ, known []string) (unknown []string, err error) {
	for _, entry := range environ {
		variable, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(variable, Prefix) || slices.Contains(known, variable) ||
			slices.Contains(projectVariables, variable) {
			continue
		}
		for _, meant := range known {
			if distance(variable, meant) <= maxTypos {
				return nil, Errorf("%s is not a variable of %s; did you mean %s?", variable, program, meant)
			}
		}
		if !strings.Contains(variable, "_SERVICE_") && !strings.Contains(variable, "_PORT") {
			unknown = append(unknown, variable)
		}
	}
	slices.Sort(unknown)
	return unknown, nil
}

// distance returns the Levenshtein distance between a and b: the minimum number of letters to
// insert, remove or replace to turn a into b. It uses the algorithm of Wagner and Fischer.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distance from the current prefix of a to each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
