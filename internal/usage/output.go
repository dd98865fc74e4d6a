package usage

import "io"

// Output is a writer that remembers its first error, which cobra ignores when it prints help.
type Output struct {
	to  io.Writer
	err error
}

// NewOutput returns an Output that writes to another writer.
func NewOutput(to io.Writer) *Output { return &Output{to: to} }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Err returns the first error of a write, or nil if all succeeded.
func (o *Output) Err() error { return o.err }
