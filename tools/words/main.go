// Command words prints the module with the wording that the page shares with the terminal:
//
//	go run ./tools/words >server/internal/web/site/words.js
package main

import (
	"fmt"

	"github.com/gridstand/gridstand/internal/describe"
)

func main() { fmt.Print(describe.JavaScript()) }
