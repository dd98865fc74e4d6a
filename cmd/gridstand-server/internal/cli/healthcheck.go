package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/flags"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server"
)

// healthcheckCommand returns the command that checks whether a server is serving. It is
// intended for container images that have no other tool for health checks.
func healthcheckCommand() *cobra.Command {
	config := server.DefaultConfig()
	var encrypted bool
	timeout := 3 * time.Second
	cmd := &cobra.Command{
		Use:   "healthcheck [address]",
		Short: "Check that a server is serving: exit code 0 if so, otherwise 1",
		Long: `Checks that a server is serving: exit code 0 if so, otherwise 1.

Without an address it checks the server on this machine, with the same settings
as the server itself. It does not verify the server's certificate.`,

		RunE: func(cmd *cobra.Command, args []string) error {
			if timeout <= 0 {
				return usage.Errorf("--timeout must be more than 0")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			address, err := local(config.Listen)
			if len(args) > 0 {
				address, err = args[0], nil
			}
			if err != nil {
				return usage.Wrap(err)
			}
			return healthcheck(ctx, address, encrypted || config.TLSCert != "")
		},
	}
	set := cmd.Flags()
	flags.Listen(set, &config.Listen)
	flags.TLSCert(set, &config.TLSCert)
	usage.NameVariables(set, usage.Prefix)
	set.BoolVar(&encrypted, "tls", false, "use TLS; implied by --tls-cert")
	set.DurationVar(&timeout, "timeout", timeout, "timeout of the check")
	return cmd
}

// local returns the address that a program on this machine can use to reach a server
// listening on listen.
func local(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("--listen: %w", err)
	}
	if ip, _ := netip.ParseAddr(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port), nil
}

func healthcheck(ctx context.Context, address string, encrypted bool) error {
	config := client.Config{Target: address, TLS: encrypted}
	if encrypted {
		// Do not verify the certificate: no secret is sent, and it may not be valid for
		// localhost.
		transport := credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})
		config.DialOptions = append(config.DialOptions, grpc.WithTransportCredentials(transport))
	}
	c, err := client.Dial(config)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	response, err := grpc_health_v1.NewHealthClient(c.Conn()).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", address, os.ErrDeadlineExceeded)
	case err != nil:
		return fmt.Errorf("%s: %w; check the address and --tls", address, err)
	case response.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING:
		return fmt.Errorf("%s: %s", address, response.GetStatus())
	}
	return nil
}
