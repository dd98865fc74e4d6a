package redis

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// parseURL parses the address of a Redis server or cluster: a URL, or several separated
// by commas. Only the first must be a complete URL; the others may be just host:port.
//
//	redis://user:password@host:6379/0                         one server
//	rediss://host:6379?ca=/etc/redis/ca.pem                   the same over TLS
//	redis://a:6379,b:6379,c:6379                              a cluster
//	redis://host:6379?cluster=true                            a cluster behind one address
//	redis://a:26379,b:26379,c:26379/0?master_name=mymaster    Sentinels
//
// Any complete URL may contain the user, and any the path and the parameters. These are
// master_name, sentinel_username, sentinel_password, cluster and read_timeout. With TLS there
// are also three PEM files: ca has the certificate authorities to trust instead of the system's,
// and cert and key are the client certificate and its key.
//
// go-redis has its own parsers, but they accept other forms: ParseFailoverURL uses the
// URL's user for the Sentinels and reads the Redis password from a parameter,
// ParseClusterURL ignores the path, and their errors quote passwords. Errors from parseURL
// never quote a string that may contain a password, or be a part of one: a special character
// in a password ends what was read as the user, the host or the query.
func parseURL(value string) (*goredis.UniversalOptions, error) {
	scheme, rest, ok := strings.Cut(value, "://")
	if !ok || scheme != "redis" && scheme != "rediss" {
		return nil, errors.New("must be redis://HOST:PORT, such as redis://localhost:6379, or rediss://HOST:PORT for TLS")
	}
	options := &goredis.UniversalOptions{}
	for i, part := range strings.Split(rest, ",") {
		s, after, complete := strings.Cut(part, "://")
		if complete {
			if s != scheme {
				return nil, errors.New("all addresses must use the same scheme, redis:// or rediss://")
			}
			part = after
		}
		u, err := url.Parse(scheme + "://" + part)
		if err != nil || strings.Contains(part, "#") || u.User != nil && i > 0 && !complete {
			return nil, errors.New("is not a valid URL" + escape)
		}
		if err := readURL(u, options); err != nil {
			return nil, err
		}
	}
	several := len(options.Addrs) > 1 || options.IsClusterMode
	if several && options.MasterName == "" && options.DB != 0 {
		return nil, errors.New("a cluster only has database 0")
	}
	if options.TLSConfig != nil && (several || options.MasterName != "") {
		// Verify each node's certificate against that node's own address.
		options.TLSConfig.ServerName = ""
	}
	return options, nil
}

// escape ends an error whose cause may be a special character in a password.
const escape = "; write special characters of a password as %XX"

// readURL adds the address and settings of a URL to o.
func readURL(u *url.URL, o *goredis.UniversalOptions) error {
	host, port := u.Hostname(), u.Port()
	if host == "" {
		return errors.New("an address has no host: write redis://HOST:PORT, such as redis://localhost:6379")
	}
	if port == "" {
		port = "6379"
	}
	o.Addrs = append(o.Addrs, net.JoinHostPort(host, port))
	if u.Scheme == "rediss" && o.TLSConfig == nil {
		o.TLSConfig = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	}
	if u.User != nil {
		o.Username = u.User.Username()
		o.Password, _ = u.User.Password()
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		db, err := strconv.Atoi(path)
		if err != nil || db < 0 {
			return errors.New("the path must be the number of a database")
		}
		o.DB = db
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errors.New("its parameters are not valid")
	}
	for name, values := range query {
		if err := readParameter(o, name, values[len(values)-1]); err != nil {
			return err
		}
	}
	return readCertificates(o, query)
}

// readCertificates reads the certificate files that the query names, and adds them to o.
func readCertificates(o *goredis.UniversalOptions, query url.Values) error {
	ca, cert, key := query.Get("ca"), query.Get("cert"), query.Get("key")
	switch {
	case ca == "" && cert == "" && key == "":
		return nil
	case o.TLSConfig == nil:
		return errors.New("ca, cert and key require rediss://")
	case (cert == "") != (key == ""):
		return errors.New("cert and key must be given together")
	case slices.Contains([]string{ca, cert, key}, "-"):
		return errors.New("ca, cert and key: - is not the name of a file; write ./- for a file with that name")
	}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return fmt.Errorf("parameter ca: %w", err)
		}
		o.TLSConfig.RootCAs = x509.NewCertPool()
		if !o.TLSConfig.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("parameter ca: no certificate in %s", ca)
		}
	}
	if cert != "" {
		certificate, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return fmt.Errorf("parameter cert: %w", err)
		}
		o.TLSConfig.Certificates = []tls.Certificate{certificate}
	}
	return nil
}

func readParameter(o *goredis.UniversalOptions, name, value string) error {
	var err error
	switch name {
	case "ca", "cert", "key":
	case "master_name":
		o.MasterName = value
	case "sentinel_username":
		o.SentinelUsername = value
	case "sentinel_password":
		o.SentinelPassword = value
	case "cluster":
		o.IsClusterMode, err = strconv.ParseBool(value)
	case "read_timeout":
		o.ReadTimeout, err = time.ParseDuration(value)
		if o.ReadTimeout < 0 { // The library would never time out.
			err = errors.New("is negative")
		}
	default:
		return errors.New("has an unknown parameter" + escape)
	}
	if err != nil {
		return errors.New("parameter " + name + " has an invalid value")
	}
	return nil
}
