package server_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that every WARN or ERROR message that the server or an SSH host logs has a constant
// ID as its first attribute, that no two different messages share an ID, and that the runbook
// in docs/operate.md lists exactly these IDs with their levels.
func TestRunbook(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/operate.md")
	require.NoError(t, err)
	documented := map[string]string{} // level by ID
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (WARN|ERROR) \\|").FindAllStringSubmatch(string(page), -1) {
		assert.NotContains(t, documented, row[1], "an id is in the runbook twice")
		documented[row[1]] = row[2]
	}

	// The ID and the message are missing if the first attribute is another one.
	call := regexp.MustCompile(`(\w+)\)*\.(Warn|Error)(?:Context\([^,]+, |\()(?:((?:"(?:[^"\\]|\\.)*"[+\s]*)+),\s+"id", "([a-z-]+)"|[^)])`)
	texts := map[string]string{} // message by ID
	inspect := func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "storetest" { // This package calls Error only to fail tests.
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range call.FindAllStringSubmatch(string(source), -1) {
			of, level, text, id := found[1], strings.ToUpper(found[2]), found[3], found[4]
			if of == "http" || of == "status" { // These create errors; they do not log.
				continue
			}
			if !assert.NotEmpty(t, id, "%s: no id: %s", path, found[0]) {
				continue
			}
			if other, ok := texts[id]; ok {
				assert.Equal(t, other, text, "%s: another line has the id %s", path, id)
			}
			texts[id] = text
			assert.Equal(t, documented[id], level, "%s: %s in docs/operate.md", path, id)
		}
		return err
	}
	for _, root := range []string{".", "../cmd/gridstand-server", "../cmd/gridstand/internal/cli", "../cmd/gridstand/internal/sshhost"} {
		require.NoError(t, filepath.WalkDir(root, inspect))
	}
	assert.Greater(t, len(texts), 20, "lines found")
	for id := range documented {
		assert.Contains(t, texts, id, "an id in docs/operate.md that no line has")
	}
}
