package client

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the maximum length of a name.
const maxName = 24

// fallbackName is what FitName returns if no usable character remains.
const fallbackName = "player"

// notInNames matches every run of characters that are not allowed in names.
var notInNames = regexp.MustCompile(`[^a-zA-Z0-9 _.-]+`)

// checkLength returns an ErrInvalid if the name is too long. A server may refuse a request
// with such a name because of its size, without reading the name.
func checkLength(name string) error {
	if n := utf8.RuneCountInString(name); n > maxName {
		return invalid("a name has at most %d characters, and this one has %d", maxName, n)
	}
	return nil
}

// FitName turns any string, such as the user's name on this machine, into a name of the
// form that servers accept: 1 to 24 characters from a–z, A–Z, 0–9, space and "-_.", starting with a
// letter or a digit, without consecutive or trailing spaces. If no usable character
// remains, it returns "player". A server may still reserve the name, as it does "player":
// see ErrNameTaken.
func FitName(s string) string {
	// A Windows login name has the form DOMAIN\name.
	s = s[strings.LastIndexByte(s, '\\')+1:]
	s = strings.Join(strings.Fields(notInNames.ReplaceAllString(s, "-")), " ")
	s = strings.TrimSpace(cut(strings.TrimRight(strings.TrimLeft(s, " -_."), " -"), maxName))
	if s == "" {
		return fallbackName
	}
	return s
}

// cut shortens an ASCII string to at most limit characters.
func cut(s string, limit int) string { return s[:min(len(s), limit)] }

// WithNumber returns the name followed by a number, shortened to the maximum length of a
// name: "ada" and 2 give "ada-2".
func WithNumber(name string, n int) string {
	suffix := "-" + strconv.Itoa(n)
	return strings.TrimRight(cut(FitName(name), maxName-len(suffix)), " ") + suffix
}

// CleanName makes a name from a server safe to print on a terminal: it removes characters
// that are not allowed in names. If nothing remains, it returns "?".
func CleanName(s string) string {
	s = strings.TrimSpace(cut(strings.TrimSpace(notInNames.ReplaceAllString(s, "")), maxName))
	if s == "" {
		return "?"
	}
	return s
}

// CleanText makes a string from a server safe to print on a terminal: it returns one line
// of at most limit characters, without control and formatting characters.
func CleanText(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			r = ' '
		}
		// IsPrint also rejects marks that reorder text. Invalid UTF-8 is decoded as
		// U+FFFD.
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
