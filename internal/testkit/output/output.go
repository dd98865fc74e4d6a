// Package outputtest keeps what programs and loggers write. Only tests import it.
package outputtest

import (
	"bytes"
	"sync"
)

// Buffer is a buffer that a test can read while another goroutine is still writing to it.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

// String returns everything that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
