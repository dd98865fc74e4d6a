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

// maxLine is the longest line that is read from the standard input, in bytes.
const maxLine = 4096

// readLine reads a line from the standard input, without spaces around it. The error is
// io.EOF if there is none.
func (p *program) readLine(ctx context.Context) (string, error) {
	return unlessDone(ctx, func() (string, error) {
		text, err := bufio.NewReader(io.LimitReader(p.in, maxLine)).ReadString('\n')
		if text != "" {
			err = nil // The last line may have no end.
		}
		return strings.TrimSpace(text), err
	})
}

// typist returns the terminal on which the user can be asked for a secret, nil if there is
// none.
func (p *program) typist() *os.File {
	if in, ok := p.in.(*os.File); ok && p.terminal(p.in) {
		return in
	}
	return nil
}

// askHidden asks for a secret on a terminal, which does not show what is typed.
func (p *program) askHidden(ctx context.Context, in *os.File, question string) ([]byte, error) {
	before, err := term.GetState(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("the terminal: %w", err)
	}
	fmt.Fprint(p.err, question)
	defer fmt.Fprintln(p.err)
	text, err := unlessDone(ctx, func() ([]byte, error) { return term.ReadPassword(int(in.Fd())) })
	if ctx.Err() != nil {
		_ = term.Restore(int(in.Fd()), before) // It shows what is typed again.
	}
	return text, err
}

// unlessDone returns what read returns, or the error of ctx if that ends before: a read of
// a terminal cannot be cancelled.
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
