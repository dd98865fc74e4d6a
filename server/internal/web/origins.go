package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	"github.com/gridstand/gridstand/internal/loopback"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/rpc"
)

// Origins is the set of origins whose pages may make calls with a token (--web-origins). "*" stands
// for all.
type Origins map[string]bool

// ParseOrigins parses a comma-separated list of origins, or "*" for all.
func ParseOrigins(text string) (Origins, error) {
	o := Origins{}
	for field := range strings.SplitSeq(text, ",") {
		switch origin := strings.ToLower(strings.TrimSpace(field)); origin {
		case "":
		case "*":
			o[origin] = true
		default:
			u, err := url.Parse(origin)
			if err != nil || u.Scheme == "" || u.Host == "" || strings.Contains(u.Host, "*") || origin != u.Scheme+"://"+u.Host {
				return nil, fmt.Errorf("%q is not an origin, such as https://example.com", field)
			}
			o[withoutPort(origin)] = true
		}
	}
	return o, nil
}

// withoutPort returns an origin without its port if that is its scheme's own, which browsers leave out
// (HTML Standard, section 7.1.1).
func withoutPort(origin string) string {
	if strings.HasPrefix(origin, "https:") {
		return strings.TrimSuffix(origin, ":443")
	}
	return strings.TrimSuffix(origin, ":80")
}

func (o Origins) has(origin string) bool { return o["*"] || o[strings.ToLower(origin)] }

// sharedHeaders are the request headers that pages from any origin may send without a
// token. exposedHeaders are the response headers that such pages may read.
const (
	sharedHeaders = "Content-Type, Connect-Protocol-Version, Connect-Timeout-Ms, Grpc-Timeout, " +
		"X-Grpc-Web, X-User-Agent, Last-Event-ID, Cache-Control"
	exposedHeaders = "Date, Retry-After, Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin, Grpc-Retry-Pushback-Ms"
)

// crossOrigin lets pages from any origin read, and pages from trusted origins make any call
// (Fetch Standard, section 3.2). Pages from other origins may not use tokens, because
// players would have to reveal their tokens to them. Nor may they create accounts, because
// those accounts would count toward the limits on their visitors' addresses. The server
// sets no cookies.
type crossOrigin struct {
	trusted Origins
	// public is the URL of the server's pages if it is known (--public-url), or empty.
	public string
	next   http.Handler
}

// ServeHTTP implements http.Handler.
func (c crossOrigin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isShared(r.URL.Path) {
		c.next.ServeHTTP(w, r)
		return
	}
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" || isSameOrigin(r, origin, c.public) {
		c.next.ServeHTTP(w, r)
		return
	}
	share(w)
	trusted := c.trusted.has(origin)
	_, _, changes := rpc.MethodOf(r.URL.Path)
	if !trusted && (r.Header.Get("Authorization") != "" || changes) {
		WriteError(w, r, refusal(connect.CodePermissionDenied, &errdetails.ErrorInfo{
			Reason: pb.ReasonOriginNotAllowed, Metadata: map[string]string{"origin": origin},
		}, "pages of "+origin+" may read from this server, but may not use a token or create an account; the server's --web-origins can allow it"))
		return
	}
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		c.next.ServeHTTP(w, r)
		return
	}
	allowed := sharedHeaders
	if trusted {
		allowed += ", Authorization"
	}
	w.Header().Set("Access-Control-Allow-Headers", allowed)
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
	w.Header().Set("Access-Control-Max-Age", "7200") // the maximum that Chromium accepts
	w.WriteHeader(http.StatusNoContent)
}

// share lets pages from any origin read the response.
func share(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
}

// isShared reports whether pages from any origin may access a path.
func isShared(path string) bool {
	return isCall(path) ||
		strings.HasPrefix(path, "/g/") && (strings.HasSuffix(path, "/events") || strings.HasSuffix(path, "/picture.png")) ||
		strings.HasPrefix(path, "/c/") && strings.HasSuffix(path, "/events")
}

// isSameOrigin reports whether a request comes from a page on this server. If the public URL is
// known, only its pages count, and those at a loopback address: the owner of any other name can
// make it resolve to this server. Otherwise, isSameOrigin compares only the hosts, because the
// schemes may differ if a proxy terminates TLS. If the proxy also changes the host name, only
// Sec-Fetch-Site shows that the origin is the same. Pages cannot forge this header. Browsers
// send it over HTTPS and to loopback addresses.
func isSameOrigin(r *http.Request, origin, public string) bool {
	switch {
	case public != "" && strings.EqualFold(origin, withoutPort(public)):
		return true
	case public != "" && !loopback.Is(r.Host):
		return false
	case public == "" && r.Header.Get("Sec-Fetch-Site") == "same-origin":
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// LoopbackOnly serves only pages that the server has itself at a loopback address. It refuses
// other host names with status 421, because their owners can make them resolve to the loopback
// address, and pages of other origins.
func LoopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		switch {
		case !loopback.Is(r.Host):
			http.Error(w, "This server is only for this machine, at localhost.", http.StatusMisdirectedRequest)
		case origin != "" && !isSameOrigin(r, origin, ""):
			http.Error(w, "This server is only for its own pages.", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
