package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// resolve returns the full id of the game that r refers to. It also searches the user's own games and, if
// no game has such an id, the game of the player with that name.
func (p *program) resolve(ctx context.Context, c *client.Client, r reference) (string, error) {
	switch {
	case r.daily || r.challenge:
		return "", p.noGame(cmp.Or(r.id, r.date, dailyWord))
	case r.player != "":
		return p.currentGame(ctx, c, r.player)
	case r.id == "":
		return "", usage.Errorf("a game is needed, but that is a link to a server. To play there: %s", p.typed("play"))
	}
	if id.Valid(r.id) {
		return r.id, nil
	}
	if c.PlayerID() == "" {
		if _, err := p.known(ctx, c); err != nil && !isMissing(err) {
			return "", err
		}
	}
	gameID, err := c.Resolve(ctx, r.id)
	if !r.game && (errors.Is(err, client.ErrGameNotFound) || errors.Is(err, client.ErrInvalid)) {
		switch _, missing := c.PlayerByName(ctx, r.id); {
		case missing == nil:
			return p.currentGame(ctx, c, r.id)
		case errors.Is(missing, client.ErrPlayerNotFound):
			err = fmt.Errorf("%w; nor is there a player with this name", err)
		}
	}
	return gameID, err
}

// noGame returns the error for a challenge where a game is needed.
func (p *program) noGame(challenge string) error {
	return usage.Errorf("a game is needed, but that is a challenge. To list its games: %s", p.typed("top", challenge))
}

// game returns the current state of the game that r refers to. If it is a hidden attempt, game logs in to
// the user's account, which may be the player's.
func (p *program) game(ctx context.Context, c *client.Client, r reference) (client.Game, error) {
	whole, err := p.resolve(ctx, c, r)
	if err != nil {
		return client.Game{}, err
	}
	g, err := c.Game(ctx, whole)
	if errors.Is(err, client.ErrChallengeOpen) && c.PlayerID() == "" {
		if _, missing := p.known(ctx, c); missing == nil {
			return c.Game(ctx, whole)
		}
	}
	return g, err
}

// player returns the player with the given name.
func (p *program) player(ctx context.Context, c *client.Client, called string) (*pb.Player, error) {
	player, err := c.PlayerByName(ctx, called)
	if errors.Is(err, client.ErrPlayerNotFound) {
		return nil, missingf("there is no player %q. To see names, run %s or %s", clean(called, maxNameShown),
			p.typed("games", "--status", "all"), p.typed("top"))
	}
	return player, err
}

// currentGame returns the id of the game that a player is playing now.
func (p *program) currentGame(ctx context.Context, c *client.Client, called string) (string, error) {
	player, err := p.player(ctx, c, called)
	if err != nil {
		return "", err
	}
	g, found, err := c.CurrentGame(ctx, player.GetId())
	if err == nil && !found {
		called = client.CleanName(player.GetName())
		err = missingf("%s is not playing a public game now. Past games: %s", called, p.typed("games", strconv.Quote(atPlayer+called)))
	}
	return g.GetId(), err
}

// maxNameShown is the maximum length of an unknown name in messages.
const maxNameShown = 40

// variant returns the variant with the given id.
func (p *program) variant(ctx context.Context, c *client.Client, text string) (*pb.Variant, error) {
	reply, err := c.Games.ListVariants(ctx, &pb.ListVariantsRequest{})
	if err != nil {
		return nil, err
	}
	if v := ui.Find(reply.GetVariants(), func(v *pb.Variant) bool { return v.GetId() == text }); v != nil {
		return v, nil
	}
	advice := p.typed("variants") + " lists them"
	near := usage.Similar(convert.All(reply.GetVariants(), (*pb.Variant).GetId), text)
	switch {
	case text == "2048": // the game, not one of its variants
		advice = "the usual 2048 is the variant " + defaultVariant
	case len(near) == 1:
		advice = "a similar one is " + clean(near[0], 24)
	}
	return nil, missingf("there is no variant %q; %s", clean(text, 26), advice)
}

// variantOr returns the variant whose id r contains, or the default variant if that is empty. If r
// refers to something else, such as "a game", it returns nil and the error of other, which uses r.
func (p *program) variantOr(ctx context.Context, c *client.Client, r reference, what string, other func() error) (*pb.Variant, error) {
	if !r.isVariant() {
		return nil, other()
	}
	v, err := p.variant(ctx, c, cmp.Or(r.id, defaultVariant))
	if !isMissing(err) || r.id == "" {
		return v, err
	}
	refused := other()
	if errors.Is(refused, client.ErrInvalid) || !id.Valid(r.id) && (isMissing(refused) || errors.Is(refused, client.ErrGameNotFound)) {
		return nil, missingf("%w. Nor is it %s: %v", err, what, refused)
	}
	return nil, refused
}
