//go:build slow

package web

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/test/web/browsertest"
)

// The version of axe-core, and the checksum of its program.
const (
	axeVersion = "4.10.3"
	axeSum     = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb"
)

// axe returns the axe-core program, which finds accessibility problems. It skips the test if npm or its
// registry is unavailable.
func axe(t *testing.T) string {
	t.Helper()
	pack := exec.CommandContext(t.Context(), "sh", "-c",
		`npm pack --silent --prefer-offline "axe-core@$1" && tar -xzf "axe-core-$1.tgz"`, "sh", axeVersion)
	pack.Dir = t.TempDir()
	if out, err := pack.CombinedOutput(); err != nil {
		t.Skipf("axe-core cannot be fetched: %s", out)
	}
	program, err := os.ReadFile(filepath.Join(pack.Dir, "package", "axe.min.js"))
	require.NoError(t, err)
	sum := sha256.Sum256(program)
	require.Equal(t, axeSum, hex.EncodeToString(sum[:]), "the checksum of axe-core")
	return string(program)
}

// runAxe is a script that runs axe-core and describes each violation in one line.
const runAxe = `axe.run(document, {
	runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
	resultTypes: ["violations"],
}).then(({violations}) => violations.flatMap(({id, nodes}) => nodes
	.map((n) => id + ": " + n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " "))))`

// Ensure that axe-core finds no problem on any page or dialog.
func TestAxe(t *testing.T) {
	t.Parallel()
	program := axe(t)
	eachPage(t, func(t *testing.T, tab *browsertest.Tab, p fixedPage, _ string) {
		browsertest.Call(tab, runtime.Evaluate, runtime.EvaluateParams{Expression: program})
		found := browsertest.Eval[[]string](tab, runAxe)
		assert.Empty(t, found, "%s:\n%s", p.name, strings.Join(found, "\n"))
	})
}
