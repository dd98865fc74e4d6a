package operator

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/server"
)

func sshCredential() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ssh-credential",
		Short: "Create, list and revoke the credentials of SSH hosts",
		Long: `Creates, lists and revokes the service credentials with which SSH hosts
("gridstand ssh-host") act for the players of SSH keys. A host with a credential
can play for every player who has a key, but cannot read or replace tokens. Give
each host its own credential, and add the host's address to the servers'
--proxies. Servers may keep running.`,
	}
	var file string
	create := command(&cobra.Command{
		Use:   "create <name>",
		Short: "Create a credential and print it once",
		Long: `Creates a credential and prints it. The store keeps only a digest: it cannot be
printed again. Keep it in a file that only the SSH host can read:

    gridstand-server ssh-credential create host-1 --file ssh-credential`,
	}, false, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
		if file != "" {
			return createInto(cmd, operator, args[0], file)
		}
		return createCredential(cmd, operator, args[0], func(credential string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), credential)
			return err
		})
	})
	create.Flags().StringVar(&file, "file", "", "write the credential to this `file`, which only its owner can read; keep one that the store accepts")
	cmd.AddCommand(
		create,
		command(&cobra.Command{
			Use:   "list",
			Short: "List the credentials by name",
		}, false, func(cmd *cobra.Command, operator *server.Operator, _ []string) error {
			all, err := operator.Credentials.List(cmd.Context())
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, c := range all {
				fmt.Fprintf(table, "%s\tcreated %s\n", c.Name, c.Created.Format(time.RFC3339))
			}
			note(cmd, operator, "%s", english.Plural(len(all), "credential", ""))
			return table.Flush()
		}),
		command(&cobra.Command{
			Use:   "revoke <name>",
			Short: "Revoke a credential",
			Long: `Revokes a credential. Running servers stop accepting it within two seconds, but
games that are already being watched with it remain visible until the watcher
leaves.`,
		}, false, func(cmd *cobra.Command, operator *server.Operator, args []string) error {
			err := operator.Credentials.Revoke(cmd.Context(), args[0])
			if err == nil {
				note(cmd, operator, "%s: revoked", args[0])
			}
			return err
		}),
	)
	return cmd
}

// createInto creates a credential and writes it to a file. If the file has a credential that the store accepts,
// createInto leaves it unchanged, so the command is safe to run every time a container starts. A credential that
// was revoked, or is of a store that no longer exists, is replaced; any other file is not.
func createInto(cmd *cobra.Command, operator *server.Operator, name, file string) error {
	previous, _ := os.ReadFile(file) // createFile refuses a file that cannot be read.
	credential := strings.TrimSpace(string(previous))
	if _, err := operator.Credentials.Verify(cmd.Context(), credential); err == nil {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), file+": already exists")
		return err
	}
	return createCredential(cmd, operator, name, func(created string) error {
		if strings.HasPrefix(credential, "gridstand_ssh_") {
			_ = os.Remove(file) // If that fails, createFile refuses the file.
		}
		return createFile(file, func(f *os.File) error {
			_, err := fmt.Fprintln(f, created)
			return err
		})
	})
}

// createCredential creates a credential and passes it to write. If write fails, the credential could
// never be used, so createCredential revokes it.
func createCredential(cmd *cobra.Command, operator *server.Operator, name string, write func(credential string) error) error {
	credential, err := operator.Credentials.Create(cmd.Context(), name)
	if err != nil {
		return err
	}
	if err := write(credential); err != nil {
		if left := operator.Credentials.Revoke(cmd.Context(), name); left != nil {
			return fmt.Errorf("%s: created, but neither written (%w) nor revoked (%w); revoke it", name, err, left)
		}
		return fmt.Errorf("%s: not created, because the credential could not be written: %w", name, err)
	}
	note(cmd, operator, "%s: created", name)
	return nil
}
