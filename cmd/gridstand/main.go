// Command gridstand plays grid games in the terminal and shows games of other
// players live.
package main

import (
	"os"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/cli"
)

func main() { os.Exit(cli.Main()) }
