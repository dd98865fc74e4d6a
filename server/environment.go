package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gridstand/gridstand/internal/usage"
)

// prefix begins the name of every variable of the project.
const prefix = "GRIDSTAND_"

// othersVariables are variables that are not the server's: the client's and the
// compose files'.
var othersVariables = []string{prefix + "SERVER", prefix + "PORT"}

// closeTo is the largest number of letters in which a misspelt name differs.
const closeTo = 2

// checkEnvironment looks in environ, as of os.Environ, for variables that look
// like the project's but belong to no flag. The error is for one that is within
// closeTo letters of a flag's variable, since it is a misspelling that would be ignored
// silently; the others are returned. One that is empty counts as not set.
// Orchestrators set variables named after services and ports, such as
// GRIDSTAND_SERVICE_HOST: those are left out.
func checkEnvironment(flags *pflag.FlagSet, environ []string) (unknown []string, err error) {
	var known []string
	flags.VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Annotations[withVariable]; ok {
			known = append(known, variableOf(f.Name))
		}
	})
	for _, entry := range environ {
		variable, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(variable, prefix) || slices.Contains(known, variable) ||
			slices.Contains(othersVariables, variable) {
			continue
		}
		for _, meant := range known {
			if distance(variable, meant) <= closeTo {
				return nil, usage.Errorf("%s is no variable of %s; did you mean %s?", variable, name, meant)
			}
		}
		if !strings.Contains(variable, "_SERVICE_") && !strings.Contains(variable, "_PORT") {
			unknown = append(unknown, variable)
		}
	}
	slices.Sort(unknown)
	return unknown, nil
}

// distance returns how many letters have to be inserted, removed or replaced to
// turn a into b: the Levenshtein distance, by the algorithm of Wagner and Fischer.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // to each beginning of b, from the beginning of a
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
