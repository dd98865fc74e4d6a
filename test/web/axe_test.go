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
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/server"
)

// The version of axe-core, and the checksum of its package.
const (
	axeVersion = "4.10.3"
	axeSum     = "Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg=="
)

// axe returns the program that looks for what keeps people with disabilities from using a
// page. It skips the test if npm or its registry is not there.
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
		require.NoError(t, err, "axe-core has no axe.min.js")
		if file.Name == "package/axe.min.js" {
			text, err := io.ReadAll(files)
			require.NoError(t, err)
			return string(text)
		}
	}
}

// runAxe describes each violation in a line. The small boards of lists are pictures: the
// contrast of their numbers, which the boards of the games show large, is that of large text.
const runAxe = `axe.run(document, {
	runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
	resultTypes: ["violations"],
}).then(({violations}) => violations.flatMap(({id, nodes}) => nodes
	.filter((n) => id !== "color-contrast" || !document.querySelector(n.target[0])?.closest(".mini, .now"))
	.map((n) => id + ": " + n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " "))))`

// Ensure that no page, and no dialog, has a fault that axe-core finds, in any colors.
func TestAxe(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.BotPace = 20 * time.Millisecond })
	ada := s.account("ada")
	bots := s.create(ada, "classic", bot("expectimax"))
	tribolo := s.create(ada, "tribolo", bot("greedy"), bot("minimax"), bot("original"))
	over := s.create(ada, "3x3")
	for over.GetResult() == nil {
		s.move(ada, over)
	}
	first := browsertest.Open(t, s.address) // Skips the test before anything is fetched.
	first.Visit("/account")
	program := axe(t)
	pages := []axePage{
		{"tv", "/", `document.querySelector(".board svg, .board .tile") && document.querySelector(".games li")`},
		{"game", "/g/" + bots.GetId(), `document.querySelector(".tile")`},
		{"Tribolo", "/g/" + tribolo.GetId(), `document.querySelector(".tri .owner-2")`},
		{"game over", "/g/" + over.GetId(), says("Verified in this browser")},
		{"variants", "/play", says("Tribolo")},
		{"start", "/play/classic", `document.querySelector(".offer button")`},
		{"top", "/top/3x3#all", `document.querySelector("tbody tr") && document.querySelector("[aria-label=Variants] a")`},
		{"no scores", "/top/vt100", says("No scores yet")},
		{"player", "/p/ada", `document.querySelector(".gamerow")`},
		{"no player", "/p/nobody", `document.querySelector("[role=alert]")`},
		{"account", "/account", `document.querySelector("main input")`},
		{"missing", "/nothing", says("Page not found")},
	}
	for name, device := range devices {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here := *s
			here.t = t
			here.checkPages(device, program, pages)
		})
	}
}

// axePage is an address, and when its page is complete.
type axePage struct{ name, path, ready string }

// checkPages lets axe-core look at pages, at the dialogs, and at games that are played.
func (s *testServer) checkPages(device browsertest.Device, program string, pages []axePage) {
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

	begin(tab, "/play/classic")
	s.move(withToken(s.t.Context(), stored(s.t, tab).Token), s.newest(tab))
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
