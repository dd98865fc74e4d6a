package cli

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// link returns the URL of a challenge's page, or "" if the user cannot use it.
func (p *program) link(ctx context.Context, c *client.Client, challengeID string) string {
	if site := p.site(ctx, c); site != "" {
		return site + "/c/" + challengeID
	}
	return ""
}

// site returns the URL of the server's web pages, or "" if the user cannot use it.
func (p *program) site(ctx context.Context, c *client.Client) string {
	info, _ := p.info(ctx, c)
	return cmp.Or(info.GetWebUrl(), p.dialedSite(c))
}

// info returns what the server reports about itself, without an address that is not valid.
func (p *program) info(ctx context.Context, c *client.Client) (*pb.GetServerInfoResponse, error) {
	info, err := c.Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{})
	if err == nil && !validSite(info.GetWebUrl()) {
		info.WebUrl = ""
	}
	return info, err
}

// maxSite is the maximum length of a server's public address.
const maxSite = 200

// validSite reports whether an address reported by a server is an http or https URL with
// only a host, and is safe for a terminal.
func validSite(site string) bool {
	u, err := url.Parse(site)
	return err == nil && len(site) <= maxSite && clean(site, maxSite) == site && !strings.Contains(site, " ") &&
		(u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.Scheme+"://"+u.Host == site
}

// dialedSite returns the URL of the server's web pages at the address that the client dials, or
// "" over SSH, because the user cannot use that address.
func (p *program) dialedSite(c *client.Client) string {
	if p.over != nil {
		return ""
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(c.Target(), "dns:///"), ",")
	if p.usesTLS() {
		return "https://" + strings.TrimSuffix(address, ":443")
	}
	return "http://" + strings.TrimSuffix(address, ":80")
}
