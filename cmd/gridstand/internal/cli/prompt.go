package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// maxLine is the maximum length of a line on standard input, in bytes.
const maxLine = 4096

// readLine reads a line from standard input and trims surrounding spaces. The error is
// io.EOF if there are no more lines.
func (p *program) readLine(ctx context.Context) (string, error) {
	return unlessDone(ctx, func() (string, error) {
		text, err := bufio.NewReader(io.LimitReader(p.in, maxLine)).ReadString('\n')
		if text != "" {
			err = nil // The last line may lack a line feed.
		}
		return strings.TrimSpace(text), err
	})
}

// askHidden asks for a secret on a terminal without echoing the input, and trims surrounding spaces.
func (p *program) askHidden(ctx context.Context, in *os.File, question string) (string, error) {
	before, err := term.GetState(int(in.Fd()))
	if err != nil {
		return "", fmt.Errorf("the terminal: %w", err)
	}
	fmt.Fprint(p.err, question)
	defer fmt.Fprintln(p.err)
	text, err := unlessDone(ctx, func() ([]byte, error) { return term.ReadPassword(int(in.Fd())) })
	if ctx.Err() != nil {
		_ = term.Restore(int(in.Fd()), before) // turns echo on again
	}
	return strings.TrimSpace(string(text)), err
}

// unlessDone returns the result of read, or ctx.Err() if ctx is done first. A read from a
// terminal cannot be canceled, so it then continues in the background.
func unlessDone[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := read()
		done <- answer{value, err}
	}()
	select {
	case <-ctx.Done():
		return *new(T), ctx.Err()
	case a := <-done:
		return a.value, a.err
	}
}
