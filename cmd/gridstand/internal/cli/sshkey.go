package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "keys",
		SuggestFor: []string{"list", "ls", "revoke", "ssh"},
		Short:      "List, add and remove SSH keys, to play over SSH",
		Long: `List the SSH keys that are linked to your account on this server. If you connect
to one of its SSH hosts with such a key, you play with this account. An account
can have 8 keys; a key belongs to one account.

An account that was created over SSH belongs to its key alone: it has no token,
so this program cannot use it or link other keys to it. To use one account both
here and over SSH, link the key before you use it over SSH for the first time.`,
		RunE: p.onAccount(p.listKeys),
	}
	add := &cobra.Command{
		Use:        "add [file]",
		SuggestFor: []string{"link", "new", "import"},
		Short:      "Link an SSH key to your account",
		Long: `Link an SSH key to your account. The file contains a private key, or the public
key (.pub) of a private key beside it or in the SSH agent. Without a file, link
the first of id_rsa, id_ecdsa and id_ed25519, also with _sk, in ~/.ssh.

The private key does not leave this machine: ssh-keygen uses it to sign your
player id.`,
		RunE: p.onAccount(p.addKey),
	}
	remove := &cobra.Command{
		Use:        "remove <file|fingerprint>",
		Aliases:    []string{"revoke"},
		SuggestFor: []string{"unlink", "delete", "rm"},
		Short:      "Remove (revoke) an SSH key of your account",
		Long: `Remove an SSH key from your account, given by its file as for add, or by its
whole fingerprint as in ` + name + ` account keys. Servers may accept the key
for another 30 seconds.`,
		RunE: p.onAccount(p.removeKey),
	}
	cmd.AddCommand(add, remove)
	return cmd
}

// addKey links the key in the file that the argument names to the account; without one, in defaultKey's.
func (p *program) addKey(ctx context.Context, c *client.Client, _ *pb.Player, args []string) error {
	file := first(args)
	if file == "" {
		var err error
		if file, err = defaultKey(filepath.Join(p.getenv("HOME"), ".ssh")); err != nil {
			return err
		}
	}
	_, comment, _ := readKey(file) // without a public key file, there is no comment
	signature, err := p.signWith(ctx, file, c.PlayerID())
	if err != nil {
		return err
	}
	reply, err := c.Players.AddKey(ctx, &pb.AddKeyRequest{Signature: signature, Comment: client.CleanText(comment, maxKeyComment)})
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return p.printKey(reply.GetKey(), "linked")
}

// defaultKey returns the public key file in a directory such as ~/.ssh whose key ssh offers first, unless an
// agent or a setting of ssh names others.
func defaultKey(directory string) (string, error) {
	for _, kind := range []string{"rsa", "ecdsa", "ecdsa_sk", "ed25519", "ed25519_sk"} {
		file := filepath.Join(directory, "id_"+kind+".pub")
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", missingf("no public key was found in %s; name the file of a key, also of one in an agent, or create one with: ssh-keygen -t ed25519", directory)
}

// readKey returns the public key, with its comment, that is in a file or, unless its name ends with .pub, in the file
// beside it.
func readKey(file string) (key ssh.PublicKey, comment string, err error) {
	text, err := os.ReadFile(strings.TrimSuffix(file, ".pub") + ".pub")
	if err != nil {
		return nil, "", err
	}
	key, comment, _, _, err = ssh.ParseAuthorizedKey(text)
	return key, comment, err
}

// signWith returns the signature of a message by the key in a file. ssh-keygen makes it: with the private
// key, for which it may ask for a passphrase on the terminal, or through the SSH agent.
func (p *program) signWith(ctx context.Context, file, message string) (string, error) {
	keygen := exec.CommandContext(ctx, "ssh-keygen", "-q", "-Y", "sign", "-n", "gridstand", "-f", file)
	keygen.Stdin, keygen.Stderr, keygen.Env = strings.NewReader(message), p.err, p.env
	keygen.Cancel = func() error { return keygen.Process.Signal(os.Interrupt) } // lets it turn echo on again
	keygen.WaitDelay = keygenStop
	signature, err := keygen.Output()
	if err != nil {
		return "", fmt.Errorf("ssh-keygen did not sign with %s (%w): it must be the file of a key, "+
			"and ssh-keygen that of OpenSSH 8.1 or later", file, err)
	}
	return string(signature), nil
}

// keygenStop limits how long an interrupted ssh-keygen may run.
const keygenStop = time.Second

const (
	// maxKeyComment is the maximum length of a comment that a server accepts, in
	// characters.
	maxKeyComment  = 64
	maxFingerprint = 64 // maximum length of a fingerprint shown to the user
)

func (p *program) printKey(key *pb.Key, what string) error {
	words := append([]string{clean(key.GetFingerprint(), maxFingerprint)}, strings.Fields(clean(key.GetComment(), maxKeyComment))...)
	return p.printEither(key, "%s: %s\n", strings.Join(words, " "), what)
}

func (p *program) listKeys(ctx context.Context, c *client.Client, _ *pb.Player, _ []string) error {
	reply, err := c.Players.ListKeys(ctx, &pb.ListKeysRequest{})
	if err != nil {
		return err
	}
	return list[*pb.Key]{
		all:     reply.GetKeys(),
		empty:   "Your account has no SSH keys. Link one: " + p.typed("account", "keys", "add"),
		columns: []string{"FINGERPRINT", "ADDED", "COMMENT"},
		row: func(key *pb.Key) []string {
			return []string{clean(key.GetFingerprint(), maxFingerprint), p.ago(key.GetCreateTime()), clean(key.GetComment(), maxKeyComment)}
		},
	}.print(p)
}

// removeKey removes the key of the account whose fingerprint, or whose file, is the argument.
func (p *program) removeKey(ctx context.Context, c *client.Client, _ *pb.Player, args []string) error {
	fingerprint := args[0]
	if !strings.HasPrefix(fingerprint, "SHA256:") {
		key, _, err := readKey(fingerprint)
		if err != nil {
			return usage.Errorf("%s is neither a fingerprint nor the file of a key: %w. To list your keys: %s",
				clean(fingerprint, maxNameShown), err, p.typed("account", "keys"))
		}
		fingerprint = ssh.FingerprintSHA256(key)
	}
	if _, err := c.Players.RemoveKey(ctx, &pb.RemoveKeyRequest{Fingerprint: fingerprint}); err != nil {
		return err
	}
	return p.printKey(&pb.Key{Fingerprint: fingerprint}, "removed")
}
