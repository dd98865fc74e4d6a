package testkit_test

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

var looksForLeaks = regexp.MustCompile(`[\t ](goleak\.VerifyTestMain|(testmain|browsertest)\.Run)\(m\b`)

// Ensure that every package with tests checks for leaked goroutines.
func TestTestmain_InEveryPackage(t *testing.T) {
	t.Parallel()
	looks := map[string]bool{} // keyed by folder that contains tests
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "../.." && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		folder := filepath.Dir(path)
		looks[folder] = looks[folder] || looksForLeaks.Match(text)
		return err
	})
	require.NoError(t, err)
	require.Greater(t, len(looks), 30)
	for folder, ok := range looks {
		assert.True(t, ok, "%s has no TestMain with goleak.VerifyTestMain, testmain.Run or browsertest.Run", folder)
	}
}
