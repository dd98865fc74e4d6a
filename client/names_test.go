package client_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/gridstand/gridstand/client"
)

var validName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9 ._-]{0,22}[a-zA-Z0-9._-])?$`)

// shownName matches everything that CleanName returns, except "?". That includes names
// that a server would refuse for a new account, such as "-ada".
var shownName = regexp.MustCompile(`^[a-zA-Z0-9._-]([a-zA-Z0-9 ._-]{0,22}[a-zA-Z0-9._-])?$`)

func TestFitName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ada":                         "ada",
		"Ada Lovelace":                "Ada Lovelace",
		"  ada  ":                     "ada",
		`CORP\ada`:                    "ada",
		"ada@example.org":             "ada-example.org",
		"jörg":                        "j-rg",
		"日本":                          "player",
		"":                            "player",
		"-":                           "player",
		"..":                          "player",
		"--help":                      "help",
		".hidden_":                    "hidden_",
		"a  b   c":                    "a b c",
		"a\x1b[31mb":                  "a-31mb",
		"twenty three chars long x y": "twenty three chars long",
		strings.Repeat("n", 30):       strings.Repeat("n", 24),
	} {
		assert.Equal(t, want, client.FitName(in), in)
	}
}

func TestWithNumber(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "ada-2", client.WithNumber("ada", 2))
	assert.Equal(t, strings.Repeat("n", 20)+"-123", client.WithNumber(strings.Repeat("n", 24), 123))
	assert.Equal(t, "twenty three charss-123", client.WithNumber("twenty three charss  long", 123))
}

func TestNames_AlwaysFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		assert.Regexp(t, validName, client.FitName(s))
		assert.Regexp(t, validName, client.WithNumber(s, rapid.IntRange(0, 1<<31).Draw(t, "number")))
		if clean := client.CleanName(s); clean != "?" {
			assert.Regexp(t, shownName, clean)
		}
		text := client.CleanText(s, 10)
		assert.NotRegexp(t, `[\p{Cc}\p{Cf}\n]`, text)
		assert.LessOrEqual(t, len([]rune(text)), 10)
	})
	name := rapid.StringMatching(validName.String())
	rapid.Check(t, func(t *rapid.T) {
		good := name.Draw(t, "name")
		assert.Equal(t, good, client.CleanName(good))
	})
}

func TestCleanText_KeepsReadableText(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "4×4 – zwei «Kacheln»", client.CleanText("4×4\t– zwei\u200b «Kacheln»\xff\n", 100))
}
