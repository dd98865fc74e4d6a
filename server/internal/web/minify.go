package web

import (
	"errors"
	"path"

	"github.com/evanw/esbuild/pkg/api"
)

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
