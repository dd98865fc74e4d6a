package session

// FitName turns any text, such as the name under which somebody is logged in,
// into a name that a server accepts: 1–24 out of a–z, A–Z, 0–9, space and
// "-_.", with no space at either end. Where nothing is left it is "player".
func FitName(s string) string { return s }

// WithNumber is the name with a number after it, cut where needed so that it
// still fits: "ada" and 2 give "ada-2".
func WithNumber(name string, n int) string { return name }

// CleanName is a name as it may be drawn in a terminal: without whatever a
// name must not contain, should a server have let it through. Where nothing is
// left it is "?".
func CleanName(s string) string { return s }

// CleanText is any text from a server as it may be drawn in a terminal: one
// line of at most limit characters, without control and formatting characters.
func CleanText(s string, limit int) string { return s }
