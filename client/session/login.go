package session

import (
	"context"
	"errors"
)

// NameSource chooses the name of a new account. It is asked with attempt 1, 2,
// … and with the reason why the name before was refused, nil at first. An error
// from it ends LogIn.
type NameSource func(ctx context.Context, attempt int, refused error) (string, error)

// OneName offers a name once.
func OneName(name string) NameSource { return nil }

// NumberedName offers the name, made to fit, and then the same with a number.
func NumberedName(name string) NameSource { return nil }

// LogIn makes the client act for the account that the store keeps for its
// server, and for a new one where there is none, which is then kept. Where the
// server does not know the account any more, as when it kept its games in
// memory and was restarted, it gets a new one of the same name, with a number if
// that is taken. notice is a line for the user about that, else empty.
func LogIn(ctx context.Context, c *Client, store *Store, names NameSource) (cred Credential, notice string, err error) {
	return Credential{}, "", errors.ErrUnsupported
}
