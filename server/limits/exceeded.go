package limits

import (
	"strconv"
	"time"
)

// ExceededError is returned when a call exceeds a limit.
type ExceededError struct {
	// Field is the limit's name in the contract's Limits message.
	Field string
	// Value is the limit.
	Value int
	// What is the part of the message after "at most <Value>", such as "moves a second".
	What string
	// Retry is the time that the caller should wait before a retry.
	Retry time.Duration
}

// Exceeded returns the error for exceeding a limit.
func (l *Limits) Exceeded(limit Name, what string, retry time.Duration) *ExceededError {
	return &ExceededError{Field: limit.String(), Value: l[limit], What: what, Retry: max(retry, time.Millisecond)}
}

func (e *ExceededError) Error() string { return "at most " + strconv.Itoa(e.Value) + " " + e.What }

// Metadata returns the error's metadata, which identifies the limit: "limit_name" is the
// limit's name in the contract, and "limit" is its value.
func (e *ExceededError) Metadata() map[string]string {
	return map[string]string{"limit": strconv.Itoa(e.Value), "limit_name": e.Field}
}
