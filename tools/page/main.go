// Command page prints a file of the page whose content the terminal program shares: the module with the
// wording, or the style sheet with the colors.
//
//	go run ./tools/page words.js >server/internal/web/site/words.js
package main

import (
	"fmt"
	"os"

	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/palette"
)

func main() {
	files := map[string]func() string{"words.js": describe.JavaScript, "colors.css": palette.CSS}
	if len(os.Args) != 2 || files[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: page words.js|colors.css")
		os.Exit(2)
	}
	fmt.Print(files[os.Args[1]]())
}
