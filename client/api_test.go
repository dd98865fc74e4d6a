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
	a := api{t: t, pkg: exported(t), seen: map[types.Type]bool{}}
	for _, name := range a.pkg.Scope().Names() {
		if object := a.pkg.Scope().Lookup(name); object.Exported() {
			a.list("", object)
			a.walk(name, object.Type())
		}
	}
	slices.Sort(a.lines)
	text := strings.Join(a.lines, "\n") + "\n"
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

// api walks the exported identifiers of a package. It records a line for each and checks
// their types.
type api struct {
	t     *testing.T
	pkg   *types.Package
	seen  map[types.Type]bool
	lines []string
}

// qualify qualifies names with the name of their package, except names from a.pkg.
func (a *api) qualify(pkg *types.Package) string {
	if pkg == a.pkg {
		return ""
	}
	return pkg.Name()
}

func (a *api) list(prefix string, object types.Object) {
	line := prefix + types.ObjectString(object, a.qualify)
	if name, ok := object.(*types.TypeName); ok {
		if _, fields := name.Type().Underlying().(*types.Struct); fields {
			line = fmt.Sprintf("type %s struct", name.Name()) // each exported field has its own line
		}
	}
	a.lines = append(a.lines, line)
}

func (a *api) walk(at string, typ types.Type) {
	switch typ := types.Unalias(typ).(type) {
	case *types.Named:
		if pkg := typ.Obj().Pkg(); pkg != nil && strings.HasPrefix(pkg.Path(), module) {
			assert.NotContains(a.t, strings.Split(pkg.Path(), "/"), "internal", "%s is %s", at, typ)
		}
		for arg := range typ.TypeArgs().Types() {
			a.walk(at, arg)
		}
		if typ.Obj().Pkg() != a.pkg || a.seen[typ] {
			return
		}
		a.seen[typ] = true
		at = typ.Obj().Name()
		a.walk(at, typ.Underlying())
		for method := range typ.Methods() {
			if method.Exported() {
				a.list("", method)
				a.walk(at+"."+method.Name(), method.Type())
			}
		}
	case *types.Struct:
		for field := range typ.Fields() {
			if field.Exported() {
				a.list("struct "+at+" ", field)
				a.walk(at+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for method := range typ.Methods() {
			a.walk(at+"."+method.Name(), method.Type())
		}
	case *types.Signature:
		for param := range typ.Params().Variables() {
			a.walk(at, param.Type())
		}
		for result := range typ.Results().Variables() {
			a.walk(at, result.Type())
		}
	case *types.Map:
		a.walk(at, typ.Key())
		a.walk(at, typ.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays and channels
		a.walk(at, typ.Elem())
	}
}
