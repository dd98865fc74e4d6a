package limits_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that each paragraph or item of the documentation that names a limit's flag contains
// the limit's default.
func TestTable_Documented(t *testing.T) {
	t.Parallel()
	defaults := map[string]string{}
	for _, row := range limits.Table {
		if row.Flag == "" {
			continue
		}
		defaults["--"+row.Flag] = humanize.Comma(int64(row.Default))
	}
	flag, paragraphs := regexp.MustCompile(`--max-[a-z-]+`), regexp.MustCompile(`\n\n|\n *- `)
	named := 0
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		pages, err := filepath.Glob(filepath.Join("../..", pattern))
		require.NoError(t, err)
		for _, page := range pages {
			if filepath.Base(page) == "CHANGELOG.md" { // keeps the defaults of earlier versions
				continue
			}
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			for _, paragraph := range paragraphs.Split(string(text), -1) {
				for _, name := range flag.FindAllString(paragraph, -1) {
					if value, ok := defaults[name]; ok {
						named++
						assert.Contains(t, paragraph, value, "%s: the default of %s", page, name)
					}
				}
			}
		}
	}
	assert.Positive(t, named)
}
