package client_test

import (
	"flag"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("update", false, "rewrite testdata/api.txt")

// Ensure that programs outside this repository can name every type in the API, and that
// no change to the API goes unnoticed. Removing or changing a declaration of testdata/api.txt
// breaks existing programs.
func TestAPI(t *testing.T) {
	t.Parallel()
	const file = "testdata/api.txt"
	doc, err := exec.CommandContext(t.Context(), "go", "doc", "-all", ".").Output()
	require.NoError(t, err)
	var text strings.Builder
	for _, line := range regexp.MustCompile(`(?m)^(func|type|var|const|\t|[})]).*`).FindAllString(string(doc), -1) {
		code, _, _ := strings.Cut(line, "//")
		if words := strings.Fields(code); len(words) > 0 {
			text.WriteString(strings.Join(words, " ") + "\n")
		}
	}
	imports, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	require.NoError(t, err)
	for _, imported := range strings.Fields(string(imports)) {
		if strings.Contains(imported, "/internal/") {
			assert.NotRegexp(t, `\b`+path.Base(imported)+`\.`, text.String(), "other programs cannot name these types")
		}
	}
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String(), "if the change is intended: go test ./client -run TestAPI -update")
}
