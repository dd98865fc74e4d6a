package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"connectrpc.com/connect"
)

// Origins are the origins of pages that may make calls with a token, as --web-origins
// names them. The zero value is none.
type Origins struct {
	any   bool
	named map[string]bool
}

// ParseOrigins reads origins separated by commas, or "*" for any.
func ParseOrigins(text string) (Origins, error) {
	o := Origins{named: map[string]bool{}}
	for field := range strings.SplitSeq(text, ",") {
		switch origin := strings.ToLower(strings.TrimSpace(field)); origin {
		case "":
		case "*":
			o.any = true
		default:
			u, err := url.Parse(origin)
			if err != nil || u.Scheme == "" || u.Host == "" || strings.Contains(u.Host, "*") || origin != u.Scheme+"://"+u.Host {
				return Origins{}, fmt.Errorf("%q is not an origin, such as https://example.com", field)
			}
			o.named[origin] = true
		}
	}
	return o, nil
}

func (o Origins) has(origin string) bool { return o.any || o.named[strings.ToLower(origin)] }

// Headers that pages of other origins may send without a token, and read.
const (
	sharedHeaders = "Content-Type, Connect-Protocol-Version, Connect-Timeout-Ms, Grpc-Timeout, " +
		"X-Grpc-Web, X-User-Agent, Last-Event-ID, Cache-Control"
	exposedHeaders = "Retry-After, Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin, Grpc-Retry-Pushback-Ms"
)

// crossOrigin lets pages of any origin read, and those of the named origins do everything
// (Fetch Standard, section 3.2). Other pages may not use a token, which would have to be
// given to them, nor create accounts from the addresses of their visitors. There are no
// cookies.
type crossOrigin struct {
	trusted Origins
	next    http.Handler
}

// ServeHTTP implements http.Handler.
func (c crossOrigin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isShared(r.URL.Path) {
		c.next.ServeHTTP(w, r)
		return
	}
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" || isSameOrigin(r, origin) {
		c.next.ServeHTTP(w, r)
		return
	}
	share(w)
	trusted := c.trusted.has(origin)
	if !trusted && (isWrite(r.URL.Path) || hasToken(r)) {
		writeError(w, r, connect.NewError(connect.CodePermissionDenied, fmt.Errorf(
			"a page of %s may read from this server, but not use a token or create an account; the server's --web-origins can allow it", origin)))
		return
	}
	if !isPreflight(r) {
		c.next.ServeHTTP(w, r)
		return
	}
	allowed := sharedHeaders
	if trusted {
		allowed += ", Authorization"
	}
	w.Header().Set("Access-Control-Allow-Headers", allowed)
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
	w.Header().Set("Access-Control-Max-Age", "7200") // Browsers take no more.
	w.WriteHeader(http.StatusNoContent)
}

// share lets pages of any origin read an answer.
func share(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
}

// isShared reports whether pages of other origins may have use for a path.
func isShared(path string) bool {
	return isCall(path) ||
		strings.HasPrefix(path, "/g/") && (strings.HasSuffix(path, "/events") || strings.HasSuffix(path, "/picture.png"))
}

// isSameOrigin reports whether a request comes from a page of this server. Behind a proxy
// the name of the host is enough: the proxy may speak TLS. If it also replaces the name,
// browsers that trust the origin say so themselves, which pages cannot forge.
func isSameOrigin(r *http.Request, origin string) bool {
	if r.Header.Get("Sec-Fetch-Site") == "same-origin" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// isWrite reports whether a path is that of a call that does more than read. The methods
// of the contract that only read have names that say so.
func isWrite(path string) bool {
	if !isCall(path) {
		return false
	}
	method := path[strings.LastIndexByte(path, '/')+1:]
	for _, reads := range []string{"Get", "List", "Watch"} {
		if strings.HasPrefix(method, reads) {
			return false
		}
	}
	return true
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// hasToken reports whether a request has a token or, as a preflight, asks to send one.
func hasToken(r *http.Request) bool {
	if r.Header.Get("Authorization") != "" {
		return true
	}
	return isPreflight(r) && strings.Contains(strings.ToLower(r.Header.Get("Access-Control-Request-Headers")), "authorization")
}
