// Command minify writes the files that the server's pages load into a directory. It minifies
// JavaScript and CSS, so that their sources can have comments and readable names, and joins the
// style sheets, in the order of their names and after the colors, into style.css:
//
//	go run ./tools/minify server/internal/web/site server/internal/web/assets
package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/gridstand/gridstand/internal/palette"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: minify FROM TO")
		os.Exit(2)
	}
	if err := minify(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func minify(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	write := func(name string, data []byte) error {
		data, err := shrink(name, data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o644)
	}
	style := []byte(palette.CSS())
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return err
		}
		if path.Ext(e.Name()) == ".css" {
			style = append(style, data...)
			continue
		}
		if err := write(e.Name(), data); err != nil {
			return err
		}
	}
	return write("style.css", style)
}

// shrink minifies the pages' JavaScript and CSS files, so that their sources can have
// comments and readable names. It returns other files unchanged.
func shrink(name string, data []byte) ([]byte, error) {
	options := api.TransformOptions{
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Charset: api.CharsetUTF8,
	}
	switch path.Ext(name) {
	case ".js":
		options.Loader, options.Format = api.LoaderJS, api.FormatESModule
	case ".css":
		options.Loader = api.LoaderCSS
	default:
		return data, nil
	}
	result := api.Transform(string(data), options)
	if len(result.Errors) > 0 {
		return nil, errors.New(result.Errors[0].Text)
	}
	return result.Code, nil
}
