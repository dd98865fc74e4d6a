package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/client"
)

// giveUpAfter is how long a command that is not interactive repeats a call whose outcome
// is unknown.
const giveUpAfter = 30 * time.Second

// orGiveUp runs a call that the client repeats until its outcome is known. It prints a line
// before each wait, and gives up after p.giveUpAfter.
func orGiveUp[T any](ctx context.Context, p *program, call func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, p.giveUpAfter)
	defer cancel()
	result, err := call(client.WithOnRetry(limited, func(_ int, wait time.Duration, err error) { p.noteRetry(wait, err) }))
	if limited.Err() != nil && ctx.Err() == nil && errors.Is(err, client.ErrUnsettled) {
		err = fmt.Errorf("gave up after %v: %w", p.giveUpAfter, err)
	}
	return result, err
}
