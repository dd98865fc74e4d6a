package bot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Ensure that minimax chooses as it always has, looking one, two and three moves ahead, also among moves
// that are equally good. TestMinimax_EqualsPlainSearch shows that the choices are the best ones.
func TestMinimax_Choices(t *testing.T) {
	t.Parallel()
	want := []string{
		"3,5 3,5 3,5", "15,9 15,9 15,9", "12,3 12,3 12,3", "13,10 14,10 13,10",
		"11,4 11,5 11,5", "3,7 3,7 3,7", "5,7 5,7 5,7", "5,7 5,7 5,7",
		"9,4 9,8 9,8", "10,7 10,7 10,7", "11,8 9,4 9,4", "11,4 11,4 11,4",
		"4,1 4,1 4,1", "2,0 12,10 11,0", "14,5 9,4 14,5", "9,4 9,4 9,10",
		"2,6 4,5 4,5", "1,8 1,8 10,0", "1,5 1,5 14,0", "5,10 5,10 0,0",
	}
	for i, p := range positionsTribolo(t, 20) {
		var chosen []string
		for depth := 1; depth <= 3; depth++ {
			m := choose(t, "minimax", variant(t, "tribolo"), Options{Depth: depth}, p)
			chosen = append(chosen, fmt.Sprintf("%d,%d", m.Cell.X, m.Cell.Y))
		}
		assert.Equal(t, want[i], strings.Join(chosen, " "), "on\n%s", p.Board())
	}
}
