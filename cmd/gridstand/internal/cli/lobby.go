package cli

import (
	"context"

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
	if _, err := p.known(ctx, c); err != nil && !isMissing(err) {
		return err
	}
	return p.show(ctx, c, ui.Route{})
}
