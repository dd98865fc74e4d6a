// Package invalid defines the error for an invalid field of a request. Packages of the server
// return it; package rpc converts it to a status that names the field.
package invalid

import "fmt"

// Error names an invalid field and describes the problem. It is returned as *Error.
type Error struct {
	// Field is the name of the field in the contract, for example "page_token".
	Field string
	// Description describes the problem for the developer of the client. It continues a
	// sentence that begins with the field's name: "must not be empty", for example. It must not
	// quote secrets.
	Description string
}

// Error returns the field's name followed by the description.
func (e *Error) Error() string { return e.Field + " " + e.Description }

// Field returns an *Error for the named field.
func Field(name, format string, args ...any) error {
	return &Error{Field: name, Description: fmt.Sprintf(format, args...)}
}
