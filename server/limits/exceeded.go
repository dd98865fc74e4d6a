package limits

import (
	"strconv"
	"time"
)

// ExceededError is the refusal of a call because of a limit.
type ExceededError struct {
	// Field of the contract's Limits message.
	Field string
	// Value of the limit, or the share of it that was exceeded.
	Value int
	// What completes the message "at most <Value> …".
	What string
	// Retry is how long the caller should wait.
	Retry time.Duration
}

// Exceeded returns the error for the limit in field, which is one of l's.
func (l *Limits) Exceeded(field *int, what string, retry time.Duration) *ExceededError {
	return &ExceededError{Field: l.Name(field), Value: *field, What: what, Retry: max(retry, time.Millisecond)}
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

// Metadata identifies the limit in the contract's terms: "limit_name" is its field,
// "limit" the value.
func (e *ExceededError) Metadata() map[string]string {
	return map[string]string{"limit": strconv.Itoa(e.Value), "limit_name": e.Field}
}
