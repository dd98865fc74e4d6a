package redis

import (
	"context"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

var exhibitionsScript = newScript("exhibitions.lua")

// exhibitions implements store.Exhibitions with a sorted set of the running games,
// ordered by the time at which they will pause.
type exhibitions struct{ client goredis.UniversalClient }

const exhibitionsKey = "exhibitions"

func (e exhibitions) Left(ctx context.Context, gameID string) (time.Duration, error) {
	r, err := e.send(ctx, "ask", store.Exhibition{GameIDs: []string{gameID}}, 0, store.ExhibitionLimits{})
	return r.left, err
}

func (e exhibitions) Run(ctx context.Context, of store.Exhibition, d time.Duration, limits store.ExhibitionLimits) (store.ExhibitionRun, error) {
	r, err := e.send(ctx, "run", of, d, limits)
	return r.ExhibitionRun, err
}

func (e exhibitions) End(ctx context.Context, gameID string) error {
	_, err := e.send(ctx, "end", store.Exhibition{GameIDs: []string{gameID}}, 0, store.ExhibitionLimits{})
	return err
}

// exhibitionsReply is the parsed reply of exhibitions.lua.
type exhibitionsReply struct {
	left time.Duration
	store.ExhibitionRun
}

func (e exhibitions) send(ctx context.Context, order string, of store.Exhibition, d time.Duration, limits store.ExhibitionLimits) (exhibitionsReply, error) {
	r, err := exhibitionsScript.Run(ctx, e.client, []string{exhibitionsKey}, order, strings.Join(of.GameIDs, " "), of.PlayerID, of.Address,
		d.Milliseconds(), limits.PerPlayer, limits.PerAddress, limits.PerStore).Int64Slice()
	if err != nil {
		return exhibitionsReply{}, failed(err)
	}
	if len(r) != 4 {
		return exhibitionsReply{}, store.Failed(store.Corrupt, "exhibitions.lua returned %d numbers", len(r))
	}
	return exhibitionsReply{
		left: time.Duration(r[0]) * time.Millisecond,
		ExhibitionRun: store.ExhibitionRun{
			Resumed: r[1] == 1, Full: store.ExhibitionLimit(r[2]), Retry: time.Duration(r[3]) * time.Millisecond,
		},
	}, nil
}
