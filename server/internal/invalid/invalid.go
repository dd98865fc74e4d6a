// Package invalid is the error for a request's field that the caller filled in
// wrongly. Packages of the server return it; package rpc turns it into the status
// that names the field.
package invalid

import "fmt"

// Error says which field is wrong and how. It is returned as *Error.
type Error struct {
	// Field as the contract names it, for instance "page_token".
	Field string
	// Description of what is wrong, for the author of the client. It continues the
	// field's name ("must not be empty") and quotes no secret.
	Description string
}

// Error is the field's name and its description.
func (e *Error) Error() string { return e.Field + " " + e.Description }

// Field returns the *Error for a field.
func Field(name, format string, args ...any) error {
	return &Error{Field: name, Description: fmt.Sprintf(format, args...)}
}
