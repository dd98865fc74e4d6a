package client

import (
	"strconv"
	"strings"
	"unicode"
)

// maxName is the length of the longest name.
const maxName = 24

// fallbackName is the name for somebody who has none that fits.
const fallbackName = "player"

func inName(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune(" -_.", r)
}

// FitName turns any text, such as the name under which somebody is logged in,
// into a name of the form that a server accepts: 1–24 out of a–z, A–Z, 0–9, space
// and "-_.", the first a letter or a digit, with no two spaces in a row and none at
// the end. Where nothing is left it is "player".
func FitName(s string) string {
	// A Windows login reads DOMAIN\name.
	s = s[strings.LastIndexByte(s, '\\')+1:]
	s = strings.Join(strings.Fields(filter(s, '-')), " ")
	s = strings.TrimSpace(cut(strings.TrimRight(strings.TrimLeft(s, " -_."), " -"), maxName))
	if s == "" {
		return fallbackName
	}
	return s
}

// filter replaces every run of characters that no name may contain by one
// stand-in, or by nothing for 0.
func filter(s string, standIn rune) string {
	var b strings.Builder
	run := false
	for _, r := range s {
		fits := inName(r)
		if fits {
			b.WriteRune(r)
		} else if !run && standIn != 0 {
			b.WriteRune(standIn)
		}
		run = !fits
	}
	return b.String()
}

// cut shortens an ASCII string.
func cut(s string, limit int) string { return s[:min(len(s), limit)] }

// WithNumber is the name with a number after it, cut where needed so that it
// still fits: "ada" and 2 give "ada-2".
func WithNumber(name string, n int) string {
	suffix := "-" + strconv.Itoa(n)
	return strings.TrimRight(cut(FitName(name), maxName-len(suffix)), " ") + suffix
}

// CleanName is a name as it may be drawn in a terminal: without whatever a
// name must not contain, should a server have let it through. Where nothing is
// left it is "?".
func CleanName(s string) string {
	s = strings.TrimSpace(cut(strings.TrimSpace(filter(s, 0)), maxName))
	if s == "" {
		return "?"
	}
	return s
}

// CleanText is any text from a server as it may be drawn in a terminal: one
// line of at most limit characters, without control and formatting characters.
func CleanText(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			r = ' '
		}
		// Not printable are also the marks that reorder text, and U+FFFD
		// stands for bytes that are no UTF-8.
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			continue
		}
		if n == limit {
			break
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSpace(b.String())
}
