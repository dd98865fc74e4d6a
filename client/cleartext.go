package client

import "fmt"

// Exposed reports whether calls and their tokens travel to another machine in clear text,
// where others can read and change them.
func (c *Client) Exposed() bool { return c.exposed }

// mayUse returns ErrClearText if the client must not send an account's token.
func (l login) mayUse(cred Credential) error {
	if cred.TLS && !l.client.encrypted {
		return fmt.Errorf("%s on %s: %w", CleanName(cred.Name), l.client.Target(), ErrClearText)
	}
	return nil
}
