package web

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
)

// TestPages_Rules_long tests the rules and the verifier in the minified files that browsers
// load.
func TestPages_Rules_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: on Debian, apt install nodejs")
	}
	root := t.TempDir()
	repository, err := filepath.Abs("../../..")
	require.NoError(t, err)
	for _, folder := range []string{"docs", "game", "internal"} {
		require.NoError(t, os.Symlink(filepath.Join(repository, folder), filepath.Join(root, folder)))
	}
	web := filepath.Join(root, "server/internal/web")
	require.NoError(t, os.CopyFS(filepath.Join(web, "sitetest"), os.DirFS("sitetest")))
	require.NoError(t, os.Mkdir(filepath.Join(web, "site"), 0o700))
	for name, file := range readSite() {
		if path.Ext(name) == ".js" {
			require.NoError(t, os.WriteFile(filepath.Join(web, "site", name), file.plain, 0o600))
		}
	}
	tests, err := filepath.Glob(filepath.Join(web, "sitetest", "*.test.mjs"))
	require.NoError(t, err)
	require.NotEmpty(t, tests)
	out, err := exec.CommandContext(t.Context(), node, append([]string{"--test"}, tests...)...).CombinedOutput()
	assert.NoErrorf(t, err, "%s", out)
}
