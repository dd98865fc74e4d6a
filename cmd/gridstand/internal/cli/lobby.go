package cli

import (
	"context"
	"errors"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// lobby opens the lobby in the terminal program.
func (p *program) lobby(ctx context.Context) error {
	c, err := p.dial()
	if err != nil {
		return err
	}
	if _, err := c.Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{}); err != nil {
		return err // rather than show an empty lobby
	}
	_, err = p.known(ctx, c)
	if _, missing := errors.AsType[*missingError](err); err != nil && !missing {
		return err
	}
	return p.show(ctx, c, ui.Route{})
}
