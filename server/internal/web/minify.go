package web

import (
	"bytes"
	"path"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"
)

// shrink returns a file of the page without comments, spaces and long local names, so
// that the sources may be written to be read. Files that are not JavaScript or CSS stay
// as they are.
func shrink(name string, data []byte) ([]byte, error) {
	var minifier minify.Minifier
	switch path.Ext(name) {
	case ".js":
		minifier = &js.Minifier{}
	case ".css":
		minifier = &css.Minifier{}
	default:
		return data, nil
	}
	var out bytes.Buffer
	err := minifier.Minify(minify.New(), &out, bytes.NewReader(data), nil)
	return out.Bytes(), err
}
