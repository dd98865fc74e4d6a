// Command gridstand-server serves grid games over gRPC and HTTP.
package main

import (
	"os"

	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/cli"
)

func main() { os.Exit(cli.Main()) }
