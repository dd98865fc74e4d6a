package client

import (
	"strconv"
	"strings"
	"unicode"
)

// maxName is the largest length of a name.
const maxName = 24

// fallbackName is what FitName returns if nothing is left.
const fallbackName = "player"

func inName(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune(" -_.", r)
}

// FitName turns any text, such as the user's name on this machine, into a name that a
// server accepts: 1 to 24 characters out of a–z, A–Z, 0–9, space and "-_.", the first
// a letter or a digit, with no two spaces in a row and none at the end. If nothing is
// left it is "player".
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

// filter replaces every run of characters that no name may contain with one
// stand-in, or removes it if that is 0.
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

// WithNumber returns the name with a number after it, shortened if needed so that it
// still fits: "ada" and 2 give "ada-2".
func WithNumber(name string, n int) string {
	suffix := "-" + strconv.Itoa(n)
	return strings.TrimRight(cut(FitName(name), maxName-len(suffix)), " ") + suffix
}

// CleanName makes a name from a server fit for a terminal: it removes what a name
// must not contain. If nothing is left it is "?".
func CleanName(s string) string {
	s = strings.TrimSpace(cut(strings.TrimSpace(filter(s, 0)), maxName))
	if s == "" {
		return "?"
	}
	return s
}

// CleanText makes a text from a server fit for a terminal: one line of at most limit
// characters, without control and formatting characters.
func CleanText(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			r = ' '
		}
		// Marks that reorder text are not printable either. U+FFFD stands for
		// bytes that are not UTF-8.
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
