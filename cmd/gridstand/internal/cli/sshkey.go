package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/sshkeys"
	"github.com/gridstand/gridstand/internal/sshsig"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "List, link and remove SSH keys, to play over SSH",
		Long: `List the SSH keys that are linked to your account on this server. If you connect
to one of its SSH hosts with such a key, you play with this account. An account
can have 8 keys; a key belongs to one account.

An account that was created over SSH belongs to its key alone: it has no token,
so this program cannot use it or link other keys to it. To use one account both
here and over SSH, link the key before you use it over SSH for the first time.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withAccount(cmd.Context(), func(c *client.Client, _ *pb.Player) error { return p.listKeys(cmd.Context(), c) })
		},
	}
	add := &cobra.Command{
		Use:   "add [file]",
		Short: "Link an SSH key to your account",
		Long: `Link an SSH key to your account. The file contains a private key, or the public
key (.pub) of a private key in the SSH agent. Without a file, link all keys of
the agent, since ssh may offer any of them, or the key in ~/.ssh if the agent
has none.

The private key does not leave this machine: it only signs your player id.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withAccount(cmd.Context(), func(c *client.Client, _ *pb.Player) error { return p.addKeys(cmd.Context(), c, first(args)) })
		},
	}
	remove := &cobra.Command{
		Use:   "remove <fingerprint>",
		Short: "Remove (revoke) an SSH key of your account",
		Long: `Remove an SSH key from your account, given by its fingerprint in
` + name + ` account keys. Servers may accept the key for another 30 seconds.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withAccount(cmd.Context(), func(c *client.Client, _ *pb.Player) error { return p.removeKey(cmd.Context(), c, args[0]) })
		},
	}
	cmd.AddCommand(add, remove)
	return cmd
}

// addKeys links the key in a file or, if file is empty, all keys that it finds. If the
// server refuses a key, it continues with the next one.
func (p *program) addKeys(ctx context.Context, c *client.Client, file string) error {
	keys, done, err := p.findKeys(ctx, file)
	if err != nil {
		return err
	}
	defer done()
	var failed []error
	for _, key := range keys {
		added, err := p.addKey(ctx, c, key)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", key.Fingerprint(), err))
			continue
		}
		if err := p.printKey(added, "linked"); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

// findKeys returns the key in a file. If file is empty, it returns all of the agent's keys
// or, if the agent has no keys, the key in ~/.ssh. The keys are usable until done is
// called.
func (p *program) findKeys(ctx context.Context, file string) (keys []sshkeys.Key, done func(), err error) {
	var agent *sshkeys.Agent
	done = func() {}
	if socket := p.getenv("SSH_AUTH_SOCK"); socket != "" {
		agent, err = sshkeys.OpenAgent(ctx, socket)
		if err != nil {
			p.notef("%v", err) // continue: the key may be in a file
		} else {
			done = agent.Close
		}
	}
	if file == "" && agent != nil && len(agent.Keys) > 0 {
		return agent.Keys, done, nil
	}
	var key sshkeys.Key
	if file != "" {
		key, err = sshkeys.Load(file, agent)
	} else {
		directory := filepath.Join(p.getenv("HOME"), ".ssh")
		key, err = sshkeys.Default(directory, agent)
		if errors.Is(err, sshkeys.ErrNone) {
			err = missingf("no SSH key was found in an SSH agent or in %s; create one with: ssh-keygen -t ed25519", directory)
		}
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return []sshkeys.Key{key}, done, nil
}

// addKey links a key to the account.
func (p *program) addKey(ctx context.Context, c *client.Client, key sshkeys.Key) (*pb.Key, error) {
	signature, err := sshsig.Sign(key, "gridstand", c.PlayerID())
	if err != nil {
		return nil, err
	}
	reply, err := c.Players.AddKey(ctx, &pb.AddKeyRequest{Signature: signature, Comment: client.CleanText(key.Comment, maxKeyComment)})
	return reply.GetKey(), err
}

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

func (p *program) listKeys(ctx context.Context, c *client.Client) error {
	reply, err := c.Players.ListKeys(ctx, &pb.ListKeysRequest{})
	if err != nil {
		return err
	}
	return list[*pb.Key]{
		all:     reply.GetKeys(),
		empty:   "Your account has no SSH keys. Link one: " + p.typed("account", "keys", "add"),
		columns: []column{{title: "FINGERPRINT"}, {title: "ADDED"}, {title: "COMMENT"}},
		row: func(key *pb.Key) []string {
			return []string{clean(key.GetFingerprint(), maxFingerprint), p.ago(key.GetCreateTime()), clean(key.GetComment(), maxKeyComment)}
		},
	}.print(p)
}

func (p *program) removeKey(ctx context.Context, c *client.Client, fingerprint string) error {
	if _, err := c.Players.RemoveKey(ctx, &pb.RemoveKeyRequest{Fingerprint: fingerprint}); err != nil {
		return err
	}
	return p.printKey(&pb.Key{Fingerprint: fingerprint}, "removed")
}
