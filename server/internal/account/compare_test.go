package account_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// revealing matches a comparison whose duration may depend on a secret. It may compare a secret with "".
var revealing = regexp.MustCompile(`bytes\.(Equal|Compare)|strings\.(EqualFold|Compare)|` +
	`(?i:(secret|digest|token)[^&|;{}\n]* [!=]= ([^"]|"[^"])|[!=]= [^&|;{}\n]*(secret|digest|token))`)

// Ensure that secrets and their digests are compared in constant time only, with
// digest.matches and never with == or similar functions.
func TestSecrets_ComparedInConstantTime(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	matched := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Empty(t, revealing.FindString(string(source)), name)
		matched += strings.Count(string(source), ".matches(")
	}
	assert.GreaterOrEqual(t, matched, 2)
}
