package server_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

	texts := map[string]string{} // message by ID
	for _, l := range logLines(t) {
		if !assert.Regexp(t, `^[a-z]+(-[a-z]+)*$`, l.id, "%s: no id", l.at) {
			continue
		}
		if text, ok := texts[l.id]; ok {
			assert.Equal(t, text, l.text, "%s: another line has the id %s", l.at, l.id)
		}
		texts[l.id] = l.text
		assert.Equal(t, documented[l.id], l.level, "%s: %s in docs/operate.md", l.at, l.id)
	}
	assert.Greater(t, len(texts), 20, "lines found")
	for id := range documented {
		assert.Contains(t, texts, id, "an id in docs/operate.md that no line has")
	}
}

// logLine is a logging call in the source code.
type logLine struct{ at, level, id, text string }

// logLines finds the calls that log at level WARN or ERROR in the source code of the server and
// the SSH host.
func logLines(t *testing.T) (lines []logLine) {
	t.Helper()
	files := token.NewFileSet()
	inspect := func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "storetest" { // This package calls Error only to fail tests.
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || len(call.Args) == 0 { // err.Error() has no arguments.
				return true
			}
			if of, ok := method.X.(*ast.Ident); ok && slices.Contains([]string{"http", "status", "require", "assert"}, of.Name) {
				return true // Functions of these packages create or check errors; they do not log.
			}
			name, withContext := strings.CutSuffix(method.Sel.Name, "Context")
			if name != "Warn" && name != "Error" {
				return true
			}
			args := call.Args
			if withContext {
				args = args[1:]
			}
			l := logLine{at: files.Position(call.Pos()).String(), level: strings.ToUpper(name), text: literal(args[0])}
			if len(args) > 2 && literal(args[1]) == "id" {
				l.id = literal(args[2])
			}
			lines = append(lines, l)
			return true
		})
		return nil
	}
	for _, root := range []string{".", "../cmd/gridstand-server", "../cmd/gridstand/internal/cli", "../cmd/gridstand/internal/sshhost"} {
		require.NoError(t, filepath.WalkDir(root, inspect))
	}
	return lines
}

// literal returns the value of a string literal, or "" for any other expression.
func literal(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return s
}
