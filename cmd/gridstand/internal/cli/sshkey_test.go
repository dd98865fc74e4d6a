package cli

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// newKeyFile writes a new key and its public key to files, and returns the fingerprint.
func newKeyFile(t *testing.T, file, comment string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(private, comment)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	key, err := ssh.NewPublicKey(public)
	require.NoError(t, err)
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " " + comment + "\n"
	require.NoError(t, os.WriteFile(file+".pub", []byte(line), 0o600))
	return ssh.FingerprintSHA256(key)
}

// requireKeygen skips the test if ssh-keygen is not installed.
func requireKeygen(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
}

// Ensure that account keys links, lists and removes the keys in files, and says which program it needs.
func TestSSHKey_File(t *testing.T) {
	t.Parallel()
	requireKeygen(t)
	server, home := someServer(t), t.TempDir()
	ada, bob := newUser(t, server, "ada"), newUser(t, server, "bob")
	ada.env, bob.env = []string{"HOME=" + home}, []string{"HOME=" + home}
	ada.fails(exitMissing, "gridstand account new", "account", "keys", "add")
	ada.ok("account", "new", "ada")
	bob.ok("account", "new", "bob")
	ada.fails(exitMissing, "ssh-keygen -t ed25519", "account", "keys", "add")

	usual := newKeyFile(t, filepath.Join(home, ".ssh", "id_ed25519"), "ada@laptop")
	other := filepath.Join(home, "other")
	second := newKeyFile(t, other, "a \x1b[31mred one")
	assert.Equal(t, usual+" ada@laptop: linked\n", ada.ok("account", "keys", "add"))
	assert.Equal(t, second+" a [31mred one: linked\n", ada.ok("account", "keys", "add", other+".pub"))
	assert.Regexp(t, `^FINGERPRINT +ADDED +COMMENT\n`+`SHA256:\S+ +\S.* ada@laptop\n`, ada.ok("account", "keys"))
	keys := lines(t, ada.ok("account", "keys", "--json"), func() *pb.Key { return new(pb.Key) })
	require.Len(t, keys, 2)
	assert.Equal(t, usual, keys[0].GetFingerprint())
	bob.fails(exitFailed, "linked to another account", "account", "keys", "add")
	_, note, code := bob.run("account", "keys", "add", filepath.Join(home, "none"))
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, note, "No such file")
	assert.Contains(t, note, "gridstand: ssh-keygen did not sign with "+filepath.Join(home, "none"))
	remove := func(what, fingerprint string) {
		t.Helper()
		assert.Equal(t, fingerprint+": removed\n", ada.ok("account", "keys", "remove", what))
	}
	private := filepath.Join(home, ".ssh", "id_ed25519")
	for _, what := range []string{private, private + ".pub", usual} {
		remove(what, usual)
		ada.ok("account", "keys", "add")
	}
	for _, what := range []string{usual[7:], filepath.Join(home, "none"), home} {
		ada.fails(exitUsage, "To list your keys: gridstand account keys", "account", "keys", "remove", what)
	}
	ada.fails(exitUsage, "43 characters of base64", "account", "keys", "remove", usual[:20])
	ada.fails(exitUsage, "remove needs a file or fingerprint", "account", "keys", "remove")
	remove(usual, usual)
	remove(second, second)
	_, note, _ = ada.run("account", "keys")
	assert.Contains(t, note, "Your account has no SSH keys. Link one: gridstand account keys add")
	ada.fails(exitMissing, "not linked to your account", "account", "keys", "remove", second)
	bob.ok("account", "keys", "add")
}

// Ensure that account keys add links a key that only the agent has.
func TestSSHKey_Agent(t *testing.T) {
	t.Parallel()
	requireKeygen(t)
	file, socket := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "agent")
	key := newKeyFile(t, file, "comment of one")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.Remove(file)) // Now only the agent has the key.
	private, err := ssh.ParseRawPrivateKey(text)
	require.NoError(t, err)
	ring := agent.NewKeyring()
	require.NoError(t, ring.Add(agent.AddedKey{PrivateKey: private}))
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			_ = agent.ServeAgent(ring, conn)
			_ = conn.Close()
		}
	}()
	ada := newUser(t, someServer(t), "ada")
	ada.env = []string{"SSH_AUTH_SOCK=" + socket}
	ada.ok("account", "new", ada.name)
	assert.Equal(t, key+" comment of one: linked\n", ada.ok("account", "keys", "add", file+".pub"))
}
