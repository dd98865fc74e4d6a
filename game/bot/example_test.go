package bot_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/game/bot"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

func Example() {
	classic, _ := variants.Current("classic")
	fmt.Println(classic.Bots)

	player, err := bot.New("expectimax", classic, bot.Options{Time: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := classic.Rules.(*twenty48.Rules).Position([]int32{
		0, 0, 0, 2,
		0, 0, 4, 16,
		2, 8, 32, 64,
		128, 128, 256, 512,
	}, 0, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	move, err := player.Choose(context.Background(), p)
	fmt.Println(move.Direction, err)
	// Output:
	// [random rote greedy montecarlo expectimax]
	// right <nil>
}
