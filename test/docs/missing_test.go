package docs_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that make list-missing names every program without which tests are skipped or commands fail.
func TestListMissing(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	require.NoError(t, err)
	program, err := exec.LookPath("make")
	if err != nil {
		t.Skip("make is not installed")
	}
	list := exec.CommandContext(t.Context(), program, "list-missing", "SHELL="+bash)
	list.Dir, list.Env = root, []string{"PATH=" + t.TempDir()}
	listed, err := list.Output()
	require.NoError(t, err, "%s", listed)

	needed := []string{"chromium", "npm", "npx", "python3"} // Tests look for some of them in loops.
	lookup := regexp.MustCompile(`exec\.LookPath\("([^"]+)"\)`)
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range lookup.FindAllStringSubmatch(string(text), -1) {
			needed = append(needed, found[1])
		}
		return err
	}))
	for _, name := range needed {
		if name != "bash" && name != "make" && name != "go" {
			assert.Contains(t, string(listed), name+" is not installed")
		}
	}
}
