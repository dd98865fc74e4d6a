package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/internal/web"
)

const (
	listVariants = "/gridstand.v1.GameService/ListVariants"
	createPlayer = "/gridstand.v1.PlayerService/CreatePlayer"
	foreign      = "https://elsewhere.example"
)

// Ensure that pages from any origin may read, but that only pages from this server and
// from trusted origins may use a token or create an account.
func TestOrigins(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.WebOrigins = "https://Friend.example, http://localhost:3000" })
	p := s.player(t)
	g, token := p.Create(t, &pb.CreateGameRequest{Variant: "classic"}), p.Token
	for name, test := range map[string]struct {
		path    string
		headers []string
		allowed bool
		shared  bool // whether pages from any origin may read the response
	}{
		"no page":                 {listVariants, []string{"Authorization", "Bearer " + token}, true, false},
		"own page":                {listVariants, []string{"Origin", "http://" + s.addr.String(), "Authorization", "Bearer " + token}, true, false},
		"own page creates":        {createPlayer, []string{"Origin", "http://" + s.addr.String()}, true, false},
		"behind a TLS proxy":      {createPlayer, []string{"Origin", "https://Play.example", "Host", "play.example"}, true, false},
		"behind a renaming proxy": {createPlayer, []string{"Origin", "https://play.example", "Sec-Fetch-Site", "same-origin"}, true, false},
		"reads":                   {listVariants, []string{"Origin", foreign}, true, true},
		"reads, no origin":        {listVariants, []string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}, true, true},
		"token":                   {listVariants, []string{"Origin", foreign, "Authorization", "Bearer " + token}, false, true},
		"token, other port":       {listVariants, []string{"Origin", "http://127.0.0.1:1", "Authorization", "Bearer " + token}, false, true},
		"token, no origin":        {listVariants, []string{"Origin", "null", "Authorization", "Bearer " + token}, false, true},
		"creates":                 {createPlayer, []string{"Origin", foreign}, false, true},
		"token for events":        {"/g/" + g.GetId() + "/events", []string{"Origin", foreign, "Authorization", "Bearer " + token}, false, true},
		"picture":                 {"/g/" + g.GetId() + "/picture.png", []string{"Origin", foreign}, true, true},
		"friend's token":          {listVariants, []string{"Origin", "https://friend.example", "Authorization", "Bearer " + token}, true, true},
		"friend creates":          {createPlayer, []string{"Origin", "http://localhost:3000"}, true, true},
		"friend, other scheme":    {createPlayer, []string{"Origin", "http://friend.example"}, false, true},
	} {
		method, body := "POST", "{}"
		if strings.HasPrefix(test.path, "/g/") {
			method, body = "GET", ""
		}
		if test.path == createPlayer {
			body = `{"name": "` + name + `"}`
		}
		response, answer := s.do(t, method, test.path, body, append(test.headers, "Content-Type", asJSON)...)
		assert.Contains(t, response.Header.Values("Vary"), "Origin", name)
		assert.Empty(t, response.Header.Values("Access-Control-Allow-Credentials"), name)
		want := map[bool]string{true: "*"}[test.shared]
		assert.Equal(t, want, response.Header.Get("Access-Control-Allow-Origin"), name)
		exposed := strings.Split(response.Header.Get("Access-Control-Expose-Headers"), ", ")
		assert.Equal(t, test.shared, slices.Contains(exposed, "Date") && slices.Contains(exposed, "Retry-After"), name)
		if test.allowed {
			assert.Equal(t, 200, response.StatusCode, "%s: %s", name, answer)
			continue
		}
		assert.Equal(t, 403, response.StatusCode, name)
		assert.Contains(t, string(answer), "permission_denied", name)
		assert.Contains(t, string(answer), "--web-origins", name)
		assert.Contains(t, string(answer), pb.ReasonOriginNotAllowed, name)
	}
	page, _ := s.do(t, "GET", "/", "", "Origin", foreign)
	assert.Empty(t, page.Header.Get("Access-Control-Allow-Origin"), "other pages must not read the page")
}

// Ensure that responses to preflight requests report what a page may do.
func TestOrigins_Preflight(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.WebOrigins = "https://friend.example" })
	const plain, secret = "connect-protocol-version,content-type", "authorization,content-type"
	for name, test := range map[string]struct {
		path, origin, headers string
		status                int
	}{
		"reads":          {listVariants, foreign, plain, 204},
		"resumes":        {"/g/x/events", foreign, "last-event-id", 204},
		"token":          {listVariants, foreign, secret, 204}, // A browser then does not send it.
		"creates":        {createPlayer, foreign, plain, 403},
		"friend's token": {listVariants, "https://friend.example", secret, 204},
		"friend creates": {createPlayer, "https://friend.example", plain, 204},
	} {
		response, _ := s.do(t, "OPTIONS", test.path, "", "Origin", test.origin,
			"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", test.headers)
		assert.Equal(t, test.status, response.StatusCode, name)
		assert.Contains(t, response.Header.Values("Vary"), "Origin", name)
		if test.status != 204 {
			assert.Empty(t, response.Header.Get("Access-Control-Allow-Headers"), name)
			continue
		}
		assert.Equal(t, "*", response.Header.Get("Access-Control-Allow-Origin"), name)
		assert.Contains(t, response.Header.Get("Access-Control-Allow-Methods"), "POST", name)
		allowed := strings.Split(strings.ToLower(response.Header.Get("Access-Control-Allow-Headers")), ", ")
		for header := range strings.SplitSeq(test.headers, ",") {
			assert.Equal(t, name != "token" || header != "authorization", slices.Contains(allowed, header), name)
		}
		assert.Equal(t, strings.HasPrefix(name, "friend"), slices.Contains(allowed, "authorization"), name)
	}
}

// Ensure that with --public-url, only pages of that URL or of a loopback address may call as the
// server's own, whatever host name leads to the server.
func TestOrigins_PublicURL(t *testing.T) {
	t.Parallel()
	const public = "https://play.example"
	s := start(t, func(c *server.Config) { c.PublicURL = public + ":443" }) // browsers leave this port out
	for name, test := range map[string]struct {
		headers []string
		status  int
	}{
		"own page":       {[]string{"Origin", public, "Host", "inner:2048"}, 200},
		"behind a proxy": {[]string{"Origin", public}, 200}, // at a loopback address
		"loopback":       {[]string{"Origin", s.base}, 200},
		"no page":        {[]string{"Host", "inner:2048"}, 200},
		"rebound name":   {[]string{"Origin", "http://rebound.example", "Host", "rebound.example"}, 403},
		"fetch metadata": {[]string{"Origin", foreign, "Host", "elsewhere.example", "Sec-Fetch-Site", "same-origin"}, 403},
		"loopback page":  {[]string{"Origin", "http://localhost:1", "Sec-Fetch-Site", "same-origin"}, 403},
	} {
		response, answer := s.do(t, "POST", createPlayer, `{"name": "`+name+`"}`, append(test.headers, "Content-Type", asJSON)...)
		assert.Equal(t, test.status, response.StatusCode, "%s: %s", name, answer)
	}
}

// Ensure that a server for this machine only answers neither other host names nor other origins'
// pages.
func TestLoopbackOnly(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.LoopbackOnly = true })
	for name, test := range map[string]struct {
		headers []string
		status  int
	}{
		"no page":      {nil, 200},
		"own page":     {[]string{"Origin", s.base}, 200},
		"localhost":    {[]string{"Host", "localhost:2048", "Origin", "http://localhost:2048"}, 200},
		"IPv6":         {[]string{"Host", "[::1]:2048"}, 200},
		"other page":   {[]string{"Origin", foreign}, 403},
		"no origin":    {[]string{"Origin", "null"}, 403},
		"rebound name": {[]string{"Host", "rebound.example:2048", "Origin", "http://rebound.example:2048"}, 421},
		"network":      {[]string{"Host", "192.0.2.1:2048"}, 421},
	} {
		for _, path := range []string{listVariants, "/"} {
			method, body := "POST", "{}"
			if path == "/" {
				method, body = "GET", ""
			}
			response, answer := s.do(t, method, path, body, append(test.headers, "Content-Type", asJSON)...)
			assert.Equal(t, test.status, response.StatusCode, "%s: %s", name, answer)
			assert.Empty(t, response.Header.Get("Access-Control-Allow-Origin"), name)
		}
	}
}

func TestOrigins_Any(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.WebOrigins = "*" })
	response, _ := s.do(t, "POST", createPlayer, `{"name": "Bob"}`, "Origin", "null", "Content-Type", asJSON)
	assert.Equal(t, 200, response.StatusCode)
}

func TestParseOrigins(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", " ", "*", "https://a.example", "http://[::1]:3000,", "https://a.example , capacitor://localhost"} {
		_, err := web.ParseOrigins(good)
		require.NoError(t, err, good)
	}
	for _, bad := range []string{"a.example", "https://", "https://a.example/", "https://a.example/x", "https://u@a.example", "https://*.a.example", "null", "://x"} {
		_, err := web.ParseOrigins(bad)
		require.ErrorContains(t, err, "is not an origin, such as https://example.com", bad)
	}
}
