//go:build slow

package app

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
)

// Ensure that the parser ignores text of more than maxInput whatever bytes precede it. It reads such
// text again with every chunk, which takes a second.
func TestReadInput_Preceded(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{{"\xe9\x1b[200~"}, {"\x1bP", "\x1b[200~\x18"}, {"\x1b]0;"}, {"\x1b_G"}} {
		synctest.Test(t, func(t *testing.T) {
			events := typed(t, append(texts, strings.Repeat("a", 2*maxInput)+"\x1b[201~", "", "z")...)
			for _, msg := range events {
				assert.LessOrEqual(t, len(fmt.Sprint(msg)), 2*maxInput, "%q", texts)
			}
			assert.Equal(t, "z", fmt.Sprint(events[len(events)-1]), "%q", texts)
		})
	}
}
