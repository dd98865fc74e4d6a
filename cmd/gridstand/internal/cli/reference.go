package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// reference identifies a challenge, a daily game or a game given as an argument.
type reference struct {
	// server is the host:port in a link; empty if the argument is not a link. tls reports
	// whether the link uses HTTPS.
	server string
	tls    bool
	// daily is set for the daily game of variant, or of the default variant if that is
	// empty.
	daily   bool
	variant string
	// date is the day of the daily game, such as 2026-11-21, or yesterdayWord; empty for
	// today.
	date string
	// id is a full id or, for a game, a prefix of one. If it comes from a link, challenge or game is set
	// according to the link's path; otherwise neither is set.
	id              string
	challenge, game bool
	// player is the name of the player whose current game is meant, or empty.
	player string
}

// isVariant reports whether r can only be the id of a variant, or is empty.
func (r reference) isVariant() bool {
	return !(r.daily || r.challenge || r.game || r.player != "")
}

// isServer reports whether r is a link to a server's start page.
func (r reference) isServer() bool { return r.server != "" && r.isVariant() && r.id == "" }

// atPlayer is the prefix of an argument that names a player.
const atPlayer = "@"

// dailyWord is the argument that selects the daily game, in place of an id.
const dailyWord = "daily"

// yesterdayWord is the argument that selects yesterday's daily game.
const yesterdayWord = "yesterday"

// dateForm matches dates, and days that do not exist.
var dateForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// parseReference parses "daily" or the day of a daily game, with "/" and a variant if it is not the default one, an
// id, or a link to the start page, or to the page of a game, a challenge or a player.
func parseReference(text string) (reference, error) {
	text = strings.TrimSpace(text)
	player, isPlayer := strings.CutPrefix(text, atPlayer)
	day, variant, _ := strings.Cut(text, "/")
	switch {
	case isPlayer && player == "":
		return reference{}, usage.Errorf("give the name of a player, such as %sada", atPlayer)
	case isPlayer:
		return reference{player: player}, nil
	case day == dailyWord:
		return reference{daily: true, variant: variant}, nil
	case day == yesterdayWord || isDate(day):
		return reference{daily: true, date: day, variant: variant}, nil
	case dateForm.MatchString(day):
		return reference{}, usage.Errorf("there is no day %s; give a day in UTC such as 2026-11-21", day)
	case !strings.Contains(text, "/"):
		text, _, _ = strings.Cut(text, "#") // a link's move, which is ignored
		return reference{id: strings.ToLower(text)}, nil
	}
	wrong := usage.Errorf("%q is no link to a game, a challenge or a player", clean(text, 200))
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return reference{}, wrong
	}
	r := reference{server: hostPort(u), tls: u.Scheme == "https"}
	kind, rest, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	switch {
	case kind == "": // the start page, which stands for the server alone
	case kind == dailyWord && !strings.Contains(rest, "/"):
		r.daily, r.variant = true, rest
		if date := u.Query().Get("date"); isDate(date) {
			r.date = date
		}
	case kind == "c" && id.Valid(rest):
		r.id, r.challenge = rest, true
	case kind == "g" && id.IsBase32(rest) && len(rest) <= id.Length:
		r.id, r.game = rest, true
	case kind == "play" && id.Valid(u.Query().Get("game")):
		r.id, r.game = u.Query().Get("game"), true
	case kind == "p" && rest != "" && !strings.Contains(rest, "/"):
		r.player = rest
	default:
		return reference{}, wrong
	}
	return r, nil
}

// dailyOf returns the argument for the daily game of a day and a variant, which may be empty.
func dailyOf(day, variant string) string { return strings.TrimSuffix(day+"/"+variant, "/") }

// hostPort returns the host and the port of a web address.
func hostPort(u *url.URL) string {
	usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), usual))
}

// refer parses an argument. If it is a link, refer makes the client use the link's server,
// unless --server names another one.
func (p *program) refer(text string) (reference, error) {
	r, err := parseReference(text)
	if err == nil && r.server != "" && p.over == nil && p.flags.server == "" {
		p.flags.server, p.flags.tls = r.server, p.flags.tls || r.tls
	}
	return r, err
}

// find returns the challenge that r refers to and, if the client is logged in, the user's attempt.
func (p *program) find(ctx context.Context, c *client.Client, r reference) (*pb.GetChallengeResponse, error) {
	if r.date == yesterdayWord {
		today, err := p.find(ctx, c, reference{daily: true, variant: r.variant})
		if err != nil {
			return nil, err
		}
		r.date = describe.DayBefore(today.GetChallenge())
	}
	request := &pb.GetChallengeRequest{ChallengeId: r.id}
	if r.daily {
		request = &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: r.variant, Date: r.date}}
	}
	found, err := c.Challenges.GetChallenge(ctx, request)
	if errors.Is(err, client.ErrChallengeNotFound) && (r.date != "" || r.variant != "") {
		if r.date != "" {
			why := "nobody has opened it, or its results are no longer stored"
			if r.date > p.clock().UTC().Format(time.DateOnly) {
				why = "that day has not begun"
			}
			err = missingf("there is no daily game %s: %s", clean(dailyOf(r.date, r.variant), maxNameShown), why)
		}
		err = fmt.Errorf("%w. Today's: %s, and its ranking: %s", err, p.typed(dailyWord), p.typed("top", dailyWord))
	}
	if err == nil {
		err = client.CheckChallenge(found.GetChallenge())
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// isDate reports whether text is a date such as 2026-11-21.
func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// challengeOrGame returns the challenge that r refers to or, if r refers to a game, nil and
// the game's current state.
func (p *program) challengeOrGame(
	ctx context.Context, c *client.Client, r reference,
) (*pb.GetChallengeResponse, client.Game, error) {
	if r.daily || r.challenge || !r.game && id.Valid(r.id) {
		found, err := p.find(ctx, c, r)
		if r.daily || r.challenge || !errors.Is(err, client.ErrChallengeNotFound) {
			return found, client.Game{}, err
		}
	}
	g, err := p.game(ctx, c, r)
	return nil, g, err
}
