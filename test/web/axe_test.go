package web

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
)

// The version of axe-core, and the checksum of that version's package.
const (
	axeVersion = "4.10.3"
	axeSum     = "Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg=="
)

// axe returns the axe-core program, which finds accessibility problems. It skips the test if
// npm or its registry is unavailable.
func axe(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed")
	}
	cmd := exec.CommandContext(t.Context(), npm, "pack", "--silent", "--prefer-offline", "axe-core@"+axeVersion)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("axe-core cannot be fetched: %s", out)
	}
	packed, err := os.ReadFile(filepath.Join(cmd.Dir, "axe-core-"+axeVersion+".tgz"))
	require.NoError(t, err)
	sum := sha512.Sum512(packed)
	require.Equal(t, axeSum, base64.StdEncoding.EncodeToString(sum[:]), "the checksum of axe-core")
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	for files := tar.NewReader(plain); ; {
		file, err := files.Next()
		require.NoError(t, err, "axe-core does not contain axe.min.js")
		if file.Name == "package/axe.min.js" {
			text, err := io.ReadAll(files)
			require.NoError(t, err)
			return string(text)
		}
	}
}

// runAxe is a script that runs axe-core and describes each violation in one line.
const runAxe = `axe.run(document, {
	runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
	resultTypes: ["violations"],
}).then(({violations}) => violations.flatMap(({id, nodes}) => nodes
	.map((n) => id + ": " + n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " "))))`

// Ensure that axe-core finds no problem on any page or dialog, in any color scheme.
func TestAxe_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s, _, pages := showcase(t)
	first := browsertest.Open(t, s.address) // without a browser, skips the test before anything is downloaded
	first.Visit("/account")
	program := axe(t)
	for name, device := range devices {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here := *s
			here.t = t
			here.checkPages(device, program, pages)
		})
	}
}

// checkChallenges runs axe-core on challenges in all stages.
func (s *testServer) checkChallenges(device browsertest.Device, program string) {
	s.t.Helper()
	f := newFixture(s.t)
	tab := browsertest.Open(s.t, s.address)
	before(tab, f.script(s.t))
	tab.Use(device)
	for _, p := range fixedChallenges() {
		p.show(tab)
		browsertest.Call(tab, runtime.Evaluate, runtime.EvaluateParams{Expression: program})
		found := browsertest.Eval[[]string](tab, runAxe)
		assert.Empty(s.t, found, "%s:\n%s", p.name, strings.Join(found, "\n"))
		width := browsertest.Eval[int64](tab, "document.documentElement.scrollWidth")
		assert.LessOrEqual(s.t, width, device.Width, "%s is wider than its window", p.name)
	}
}

// checkPages runs axe-core on pages, dialogs and games in progress.
func (s *testServer) checkPages(device browsertest.Device, program string, pages []shownPage) {
	s.t.Helper()
	tab := browsertest.Open(s.t, s.address)
	device.Still = true
	tab.Use(device)
	check := func(page string) {
		browsertest.Call(tab, runtime.Evaluate, runtime.EvaluateParams{Expression: program})
		found := browsertest.Eval[[]string](tab, runAxe)
		assert.Empty(s.t, found, "%s:\n%s", page, strings.Join(found, "\n"))
	}
	for _, p := range pages {
		tab.Visit(p.path)
		tab.Wait(p.ready)
		check(p.name)
	}
	tab.Press("?")
	tab.Wait(`document.querySelector("dialog[open]")`)
	check("keys")
	s.checkChallenges(device, program)

	begin(tab, "/play/classic")
	s.move(playertest.WithToken(s.t.Context(), stored(s.t, tab).Token), s.newest(tab))
	tab.Wait(`document.querySelector(".moves li")`)
	check("play")
	tab.Press("u")
	tab.Wait(`document.querySelector("dialog[open]")`)
	check("question")

	tab.Visit("/play/tribolo")
	tab.Wait(`document.querySelector(".offer button")`)
	tab.Press(kb.Enter)
	tab.Wait(`document.querySelector(".tri .legal")`)
	check("play Tribolo")

	tab.Visit("/account")
	tab.Wait(says("Show token"))
	check("account of a player")
	browsertest.Eval[bool](tab, `!![...document.querySelectorAll("button")].find((b) => b.innerText === "Show token").click() || true`)
	check("token")
}
