// Command gridstand plays grid games in the terminal and lets people watch other players'
// games live.
package main

import (
	"os"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/cli"
)

func main() { os.Exit(cli.Main()) }
