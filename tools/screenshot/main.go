// Command screenshot draws captured terminal screens side by side as one SVG:
//
//	go run ./tools/screenshot -o picture.svg 'what it shows=screen.ansi' …
//
// A capture is text with color escapes, as printed by `tmux capture-pane -e -p`. Every glyph has a
// fixed place, and glyphs that must join without gaps are drawn as shapes, so that the picture
// looks the same in every font.
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

func main() {
	out := flag.String("o", "", "file to write; standard output by default")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		slog.Error("drawing failed", "error", err)
		os.Exit(1)
	}
}

func run(out string, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("name at least one screen, as title=file")
	}
	windows := make([]window, len(args))
	for i, arg := range args {
		title, file, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q is not title=file", arg)
		}
		screen, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a capture: %w", err)
		}
		text := uv.NewStyledString(strings.TrimSuffix(string(screen), "\n"))
		cells := uv.NewScreenBuffer(text.Bounds().Dx(), text.Bounds().Dy())
		text.Draw(cells, text.Bounds())
		windows[i] = window{title, cells.Lines}
	}
	svg := draw(windows)
	if out == "" {
		_, err := os.Stdout.WriteString(svg)
		return err
	}
	return os.WriteFile(out, []byte(svg), 0o644)
}
