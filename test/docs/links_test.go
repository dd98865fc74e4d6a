// Package docs_test checks the documentation and the units in deploy: links and names of files must
// exist, and the units must be valid.
package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

var (
	link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	// named matches files and folders that a table or a sentence names without a link.
	named = regexp.MustCompile("`((?:client|cmd|deploy|docs|game|internal|proto|scripts|server|test|tools)/[A-Za-z0-9_./-]+)`")
)

// Ensure that pages link to and name only files that exist.
func TestPages_Links(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	require.NotEmpty(t, pages)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		exists := func(path string) {
			_, err := os.Stat(path)
			assert.NoError(t, err, "named in %s", page)
		}
		for _, match := range link.FindAllStringSubmatch(string(text), -1) {
			exists(filepath.Join(filepath.Dir(page), match[1]))
		}
		for _, match := range named.FindAllStringSubmatch(string(text), -1) {
			exists(filepath.Join(root, match[1]))
		}
	}
}
