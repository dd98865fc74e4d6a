package usage

import (
	"slices"
	"strings"
)

// Prefix begins the name of every environment variable of the project.
const Prefix = "GRIDSTAND_"

// projectVariables are variables that several programs see but not all of them
// read: the client's, and those of the compose files.
var projectVariables = []string{Prefix + "SERVER", Prefix + "PORT"}

// maxTypos is the largest edit distance of a misspelt name.
const maxTypos = 2

// CheckEnvironment checks environ, in the form of os.Environ, for variables with the
// project's prefix that are not in known, the variables of the program. It returns an
// *Error for a variable within maxTypos letters of a known one, which is probably a
// misspelling, and otherwise the names of the unknown ones. An empty variable counts
// as not set. Variables that orchestrators set for services and ports, such as
// GRIDSTAND_SERVICE_HOST, are ignored.
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
