package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// createCredential is the command that creates a service credential.
const createCredential = "gridstand-server ssh-credential create <name>"

// credentialForm matches every service credential.
var credentialForm = regexp.MustCompile(`^gridstand_ssh_[a-z0-9_]*$`)

// readCredential reads a service credential from a file. If file is empty, it returns an
// empty credential.
func readCredential(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", usage.Errorf("--credential-file: %w; if there is no credential yet, create one with %s --file %s", err, createCredential, file)
	}
	credential := strings.TrimSpace(string(text))
	if !credentialForm.MatchString(credential) {
		return "", usage.Errorf("--credential-file: %s contains no service credential; create one with %s", file, createCredential)
	}
	return credential, nil
}

// checkHost checks whether the server answers and accepts the credential, and logs what
// the operator has to do if not. It reports whether people can play.
func checkHost(ctx context.Context, c *client.Client, credential string, host ssh.PublicKey, log *slog.Logger) bool {
	if credential == "" {
		log.Warn("there is no service credential, so people can only watch", "id", "ssh-credential-missing",
			"remedy", "write one to a file with "+createCredential+", and set --credential-file to the file")
		if _, err := c.Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{}); err != nil {
			logHostError(log, err)
		}
		return false
	}
	if c.Exposed() {
		log.Warn("the connection to the server is not encrypted, so others on the network between can read the service credential", "id", "ssh-clear-text",
			"remedy", "if that network is not yours alone, use a server with TLS and add --tls, or --ca for its own certificate authority")
	}
	// A host's key is linked to no account, so ErrKeyNotLinked means that the server
	// accepted the credential.
	session := c.ForSession(client.Session{Credential: credential, Key: ssh.FingerprintSHA256(host)})
	_, err := session.Me(ctx)
	if err == nil || errors.Is(err, client.ErrKeyNotLinked) {
		return true
	}
	logHostError(log, err)
	return false
}

// logHostError logs why the server did not identify a player.
func logHostError(log *slog.Logger, err error) {
	if errors.Is(err, client.ErrBadCredential) {
		log.Error("the server refuses the service credential; players can only watch", "id", "ssh-credential-refused",
			"remedy", "write a new one to the file with "+createCredential+", and restart this host")
		return
	}
	log.Warn("the server does not answer; sessions fail until it does", "id", "ssh-server-away", "error", err,
		"remedy", "check that the server is running, and --server, --tls and --ca")
}
