// Package ratelimit limits how often clients of this server may do something (Pacer), and how
// many connections, streams and calls they may have open (Addresses). Most limits apply per
// address; Proxies finds the address of a client behind a proxy. Limits shared by all servers
// are in the store's Quotas.
package ratelimit
