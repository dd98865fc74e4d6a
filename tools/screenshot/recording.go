package main

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
)

const (
	// captionBar is the height of the captions above the windows.
	captionBar = 44.0

	// ending is the time for which a recording shows its last screens before it starts again.
	ending = 4 * time.Second

	// keyTime is the time for which a pressed key is shown.
	keyTime = 1200 * time.Millisecond
)

// recording is the recording of several terminals.
type recording struct {
	windows  []recorded
	captions []moment[string]
}

// recorded is the recording of one terminal.
type recorded struct {
	title   string
	screens []moment[[]uv.Line]
	keys    []moment[string]
}

// moment is something that began at a time since the start of a recording.
type moment[T any] struct {
	at   time.Duration
	what T
}

// readTexts reads the files of a folder that have a suffix and are named by their time in
// milliseconds.
func readTexts(dir, suffix string) ([]moment[string], error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	var all []moment[string]
	for _, file := range files {
		ms, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(file), suffix))
		if err != nil {
			return nil, fmt.Errorf("%s is not named by its time in milliseconds", file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a recording: %w", err)
		}
		all = append(all, moment[string]{time.Duration(ms) * time.Millisecond, string(text)})
	}
	slices.SortFunc(all, func(a, b moment[string]) int { return cmp.Compare(a.at, b.at) })
	return all, nil
}

// addWindow reads the recording of one terminal.
func (r *recording) addWindow(title, dir string) error {
	captures, err := readTexts(dir, ".ansi")
	if err != nil {
		return err
	}
	if len(captures) == 0 {
		return fmt.Errorf("%s has no captures", dir)
	}
	keys, err := readTexts(dir, ".key")
	if err != nil {
		return err
	}
	w := recorded{title: title, keys: keys}
	for _, c := range captures {
		w.screens = append(w.screens, moment[[]uv.Line]{c.at, parse([]byte(c.what))})
	}
	r.windows = append(r.windows, w)
	return nil
}

// length returns the duration of the recording.
func (r *recording) length() time.Duration {
	last := time.Duration(0)
	for _, w := range r.windows {
		last = max(last, w.screens[len(w.screens)-1].at)
	}
	return last + ending
}

// size returns the size of the largest screen.
func (w recorded) size() (width, height float64) {
	for _, s := range w.screens {
		screenWidth, screenHeight := window{lines: s.what}.size()
		width, height = max(width, screenWidth), max(height, screenHeight)
	}
	return width, height
}

// draw returns an animated SVG of the recording.
func (r *recording) draw() string {
	a := animation{length: r.length(), names: map[string]int{}}
	var body strings.Builder
	x, height := 0.0, 0.0
	for _, w := range r.windows {
		width, h := w.size()
		fmt.Fprintf(&body, `<g transform="translate(%g %g)">`+"\n", x, captionBar)
		frame(&body, w.title, width, h)
		fmt.Fprintf(&body, `<g transform="translate(%g %g)">`+"\n", padding, titleBar+padding)
		a.draw(&body, elements(w.screens, a.length, drawBacks))
		a.draw(&body, elements(w.screens, a.length, drawGlyphs))
		body.WriteString("</g>\n")
		a.draw(&body, texts(w.keys, a.length, keyTime, fmt.Sprintf(`x="%g" y="20" text-anchor="end" font-weight="bold"`, width-padding)))
		body.WriteString("</g>\n")
		x += width + gap
		height = max(height, captionBar+h)
	}
	width := x - gap
	a.draw(&body, texts(r.captions, a.length, a.length, fmt.Sprintf(`x="%g" y="24" text-anchor="middle" font-size="17"`, width/2)))
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]g" width="%[1]g" `+
		`font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="%[3]d">`+"\n%[7]s"+
		`<rect width="%[1]g" height="36" rx="9" fill="%[4]s"/>`+"\n"+
		`<rect class="progress" x="9" y="33" width="%[5]g" height="2" fill="%[6]s"/>`+"\n%[8]s</svg>\n",
		width, height, fontSize, bar, width-18, barInk, a.style(), &body)
}

// elements returns the elements of a terminal's screens, with the times at which they are shown.
// draw draws a row.
func elements(screens []moment[[]uv.Line], length time.Duration, draw func(*strings.Builder, uv.Line, float64)) map[string][]span {
	shown := map[string][]span{}
	for i, s := range screens {
		now := span{s.at, length}
		if i+1 < len(screens) {
			now.end = screens[i+1].at
		}
		var drawn strings.Builder
		for row, line := range s.what {
			draw(&drawn, line, float64(row)*cellHeight)
		}
		for element := range strings.Lines(shorter.Replace(drawn.String())) {
			all := shown[element]
			if last := len(all) - 1; last >= 0 && all[last].end == s.at {
				all[last].end = now.end
			} else {
				shown[element] = append(all, now)
			}
		}
	}
	return shown
}

// texts returns the elements of texts, with the times at which they are shown: each until the next
// one, but at most for a limited time.
func texts(all []moment[string], length, limit time.Duration, attributes string) map[string][]span {
	shown := map[string][]span{}
	for i, text := range all {
		end := min(text.at+limit, length)
		if i+1 < len(all) {
			end = min(end, all[i+1].at)
		}
		element := fmt.Sprintf("<text %s fill=\"%s\">%s</text>\n", attributes, ink, html.EscapeString(keyName(text.what)))
		shown[element] = append(shown[element], span{text.at, end})
	}
	return shown
}

// keyName returns the label of a key.
func keyName(key string) string {
	names := map[string]string{"left": "←", "right": "→", "up": "↑", "down": "↓", "escape": "esc"}
	return cmp.Or(names[key], key)
}

// span is the time from start to end.
type span struct{ start, end time.Duration }

// animation shows elements at certain times. Elements that are shown at the same times have the
// same class in the style.
type animation struct {
	length time.Duration
	rules  []string
	names  map[string]int // maps rules to their indexes
}

// draw writes elements that are shown at the given times.
func (a *animation) draw(b *strings.Builder, shown map[string][]span) {
	classes := map[int][]string{}
	for _, element := range slices.Sorted(maps.Keys(shown)) {
		n := a.class(shown[element])
		classes[n] = append(classes[n], element)
	}
	for _, n := range slices.Sorted(maps.Keys(classes)) {
		fmt.Fprintf(b, "<g class=\"s k%d\">\n%s</g>\n", n, strings.Join(classes[n], ""))
	}
}

// class returns the number of the class of the given times. Viewers that do not animate show the
// middle of the recording.
func (a *animation) class(times []span) int {
	frames, still := "", ""
	if times[0].start > 0 {
		frames = "0%{visibility:hidden}"
	}
	for _, s := range times {
		frames += percent(s.start, a.length) + "{visibility:visible}"
		if s.end < a.length {
			frames += percent(s.end, a.length) + "{visibility:hidden}"
		}
		if s.start <= a.length/2 && a.length/2 < s.end {
			still = "visibility:visible;"
		}
	}
	rule := still + "animation-name:k%[1]d}@keyframes k%[1]d{" + strings.ReplaceAll(frames, "%", "%%") + "}"
	n, ok := a.names[rule]
	if !ok {
		n = len(a.rules)
		a.names[rule], a.rules = n, append(a.rules, fmt.Sprintf(".k%[1]d{"+rule+"\n", n))
	}
	return n
}

// style returns the style of all classes.
func (a *animation) style() string {
	return fmt.Sprintf("<style>\n.s,.progress{animation:progress %.3fs linear infinite}.s{visibility:hidden;animation-timing-function:step-end}\n"+
		"@keyframes progress{from{transform:scaleX(0)}}\n.s rect{shape-rendering:crispEdges}\n%s"+
		"@media (prefers-reduced-motion:reduce){.s,.progress{animation:none}}\n</style>\n", a.length.Seconds(), strings.Join(a.rules, ""))
}

// shorter removes attributes that the style of a recording already sets, and fractions that are zero.
var shorter = strings.NewReplacer(` shape-rendering="crispEdges"`, "", ` lengthAdjust="spacingAndGlyphs"`, "", `.0"`, `"`, `.0 `, ` `, `.0)`, `)`)

func percent(at, length time.Duration) string {
	return strconv.FormatFloat(100*float64(at)/float64(length), 'f', 3, 64) + "%"
}
