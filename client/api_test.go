package client_test

import (
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("update", false, "rewrite testdata/api.txt")

// Ensure that programs outside this repository can name every type in the API, and that
// no change to the API goes unnoticed. Removing or changing a line of testdata/api.txt
// breaks existing programs.
func TestAPI(t *testing.T) {
	t.Parallel()
	const file = "testdata/api.txt"
	pkg := exported(t)
	qualify := func(of *types.Package) string {
		if of == pkg {
			return ""
		}
		inside := strings.HasPrefix(of.Path(), module) && slices.Contains(strings.Split(of.Path(), "/"), "internal")
		assert.False(t, inside, "other programs cannot name the types of %s", of.Path())
		return of.Name()
	}
	var lines []string
	list := func(prefix string, object types.Object) {
		if object.Exported() {
			lines = append(lines, prefix+types.ObjectString(object, qualify))
		}
	}
	for _, name := range pkg.Scope().Names() {
		object, _ := pkg.Scope().Lookup(name).(*types.TypeName)
		named, ok := types.Unalias(pkg.Scope().Lookup(name).Type()).(*types.Named)
		if object == nil || !ok || !object.Exported() {
			list("", pkg.Scope().Lookup(name))
			continue
		}
		if fields, ok := named.Underlying().(*types.Struct); ok {
			lines = append(lines, fmt.Sprintf("type %s struct", name)) // each exported field has its own line
			for field := range fields.Fields() {
				list("struct "+name+" ", field)
			}
		} else {
			list("", object)
		}
		for method := range named.Methods() {
			list("", method)
		}
	}
	slices.Sort(lines)
	text := strings.Join(lines, "\n") + "\n"
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), text, "if the change is intended: go test ./client -run TestAPI -update")
}

const module = "github.com/gridstand/gridstand/"

// exported returns this package as other packages see it.
func exported(t *testing.T) *types.Package {
	t.Helper()
	const path = module + "client"
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", path)
	list.Stderr = os.Stderr
	output, err := list.Output()
	require.NoError(t, err)
	files := map[string]string{}
	for line := range strings.Lines(string(output)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	pkg, err := importer.ForCompiler(token.NewFileSet(), "gc", open).Import(path)
	require.NoError(t, err)
	return pkg
}
