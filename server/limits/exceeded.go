package limits

import (
	"strconv"
	"time"
)

// ExceededError refuses a call because of a limit.
type ExceededError struct {
	// Field of the contract's Limits message.
	Field string
	// Value of the limit, or the share of it that was exceeded.
	Value int
	// What completes the sentence "at most <Value> …".
	What string
	// Retry is how long the caller should wait.
	Retry time.Duration
}

// Exceeded returns the error for the limit in field, which is one of l's, or for
// a share of it: value is what was exceeded.
func (l *Limits) Exceeded(field *int, value int, what string, retry time.Duration) *ExceededError {
	return &ExceededError{Field: l.Name(field), Value: value, What: what, Retry: max(retry, time.Millisecond)}
}

// Name returns what the contract calls a field of l.
func (l *Limits) Name(field *int) string {
	for _, limit := range Table {
		if limit.Of(l) == field {
			return limit.Field
		}
	}
	return ""
}

func (e *ExceededError) Error() string { return "at most " + strconv.Itoa(e.Value) + " " + e.What }

// Metadata says in the contract's words which limit it was: "limit_name" is its
// field, "limit" the value.
func (e *ExceededError) Metadata() map[string]string {
	return map[string]string{"limit": strconv.Itoa(e.Value), "limit_name": e.Field}
}
