// Package challenges tests challenge streams against whole servers, over gRPC, Connect,
// gRPC-Web and Server-Sent Events. It contains only tests.
package challenges
