package web

import (
	"errors"
	"path"

	"github.com/evanw/esbuild/pkg/api"
)

// shrink returns a file of the page without comments, spaces and long local names, so
// that the sources may be written to be read. Files that are not JavaScript or CSS stay
// as they are.
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
