// Command screenshot draws captured terminal screens side by side as one SVG:
//
//	go run ./tools/screenshot -o picture.svg 'what it shows=screen.ansi' …
//
// If the files are folders, it draws one animated SVG of a recording: each folder has the captures of
// a terminal, named by the milliseconds since the start (001200.ansi), and the keys that were pressed
// (001150.key). -captions names a folder with explanations (001000.txt).
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
	captions := flag.String("captions", "", "folder with the captions of a recording")
	flag.Parse()
	if err := run(*out, *captions, flag.Args()); err != nil {
		slog.Error("drawing failed", "error", err)
		os.Exit(1)
	}
}

func run(out, captions string, args []string) error {
	svg, err := picture(captions, args)
	switch {
	case err != nil:
		return err
	case out == "":
		_, err := os.Stdout.WriteString(svg)
		return err
	default:
		return os.WriteFile(out, []byte(svg), 0o644)
	}
}

// picture returns the SVG of the named captures or recordings.
func picture(captions string, args []string) (string, error) {
	if len(args) == 0 {
		return "", fmt.Errorf("name at least one screen, as title=file")
	}
	var windows []window
	var film recording
	for _, arg := range args {
		title, file, ok := strings.Cut(arg, "=")
		if !ok {
			return "", fmt.Errorf("%q is not title=file", arg)
		}
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			err := film.addWindow(title, file)
			if err != nil {
				return "", err
			}
			continue
		}
		screen, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading a capture: %w", err)
		}
		windows = append(windows, window{title, parse(screen)})
	}
	if len(film.windows) == 0 {
		return draw(windows), nil
	}
	if len(windows) > 0 {
		return "", fmt.Errorf("a picture of a recording cannot contain single captures")
	}
	if captions != "" {
		var err error
		if film.captions, err = readTexts(captions, ".txt"); err != nil {
			return "", err
		}
	}
	return film.draw(), nil
}

// parse returns the cells of a capture.
func parse(capture []byte) []uv.Line {
	text := uv.NewStyledString(strings.TrimSuffix(string(capture), "\n"))
	cells := uv.NewScreenBuffer(text.Bounds().Dx(), text.Bounds().Dy())
	text.Draw(cells, text.Bounds())
	return cells.Lines
}
