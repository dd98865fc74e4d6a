package account_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.BinaryExpr:
				text := strings.ToLower(types.ExprString(n))
				if n.Op == token.EQL || n.Op == token.NEQ {
					secret := strings.Contains(text, "secret") || strings.Contains(text, "digest") || strings.Contains(text, "token")
					assert.False(t, secret && !strings.Contains(text, `""`), "%s: %s", name, text)
				}
			case *ast.CallExpr:
				text := types.ExprString(n.Fun)
				assert.NotContains(t, []string{"bytes.Equal", "bytes.Compare", "strings.EqualFold", "strings.Compare"}, text, name)
				if strings.HasSuffix(text, ".matches") {
					matched++
				}
			}
			return true
		})
	}
	assert.GreaterOrEqual(t, matched, 2)
}
