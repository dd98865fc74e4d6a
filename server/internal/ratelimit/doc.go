// Package ratelimit bounds what clients may do on this server: how often (Pacer), and how
// much at the same time (Addresses). Most limits hold for an address; Proxies finds the
// address of a call that comes through a proxy. What all servers count together is in
// the store's Quotas.
package ratelimit
