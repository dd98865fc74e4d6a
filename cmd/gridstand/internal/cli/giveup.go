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

// errNoAnswer is the last error of a call whose first attempt never ended.
var errNoAnswer = errors.New("the server did not answer")

// orGiveUp runs a call that the client repeats until its outcome is known. It prints a line
// before each wait, and gives up after giveUpAfter. what says what the call does: "make the
// move", for example.
func orGiveUp[T any](ctx context.Context, p *program, what string, call func(context.Context) (T, error)) (T, error) {
	limited, cancel := p.timeout(ctx, giveUpAfter)
	defer cancel()
	last := errNoAnswer
	result, err := call(client.WithOnRetry(limited, func(_ int, wait time.Duration, err error) {
		last = err
		p.noteRetry(wait, err)
	}))
	if ended := limited.Err(); ended != nil && ctx.Err() == nil && errors.Is(err, ended) {
		// err also contains the deadline of the context, which says nothing to the user.
		gaveUp := fmt.Errorf("tried to %s for %v", what, giveUpAfter)
		if errors.Is(err, client.ErrUnsettled) {
			gaveUp = fmt.Errorf("%w; %w", gaveUp, client.ErrUnsettled)
		}
		err = fmt.Errorf("%w. The last error: %w", gaveUp, last)
	}
	return result, err
}
