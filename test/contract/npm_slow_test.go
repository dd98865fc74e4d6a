//go:build slow

package contract

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// install installs the packages of npm/package.json into a folder and copies the program there. If that
// is not possible, it skips the test.
func install(t *testing.T) (program string) {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "clients.mjs"} {
		data, err := os.ReadFile(filepath.Join("npm", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install the clients: %v\n%s", err, out)
	}
	return filepath.Join(dir, "clients.mjs")
}

// descriptors writes the descriptors of the contract and of its error details to a file.
func descriptors(t *testing.T) string {
	t.Helper()
	set, seen := &descriptorpb.FileDescriptorSet{}, map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	}
	for _, file := range []protoreflect.FileDescriptor{
		pb.File_gridstand_v1_challenge_proto, pb.File_gridstand_v1_game_proto, pb.File_gridstand_v1_leaderboard_proto, pb.File_gridstand_v1_player_proto,
		errdetails.File_google_rpc_error_details_proto, statuspb.File_google_rpc_status_proto,
	} {
		add(file)
	}
	data, err := proto.Marshal(set)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "contract.binpb")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// Ensure that the clients for TypeScript can play a game and a rematch of it, receive errors with
// their details, watch the game to its end, and watch a race.
func TestNPM(t *testing.T) {
	t.Parallel()
	program, contract := install(t), descriptors(t)
	server, _ := servertest.Start(t, servertest.Config(t).Unlimited())
	source, err := os.ReadFile(filepath.Join("npm", "clients.mjs"))
	require.NoError(t, err)
	clients := regexp.MustCompile(`(?m)^  '([^'\n]+)': (connect\(|google,)`).FindAllStringSubmatch(string(source), -1)
	require.Greater(t, len(clients), 5)
	for _, client := range clients {
		t.Run(client[1], func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			out, err := exec.CommandContext(ctx, "node", program, server.Addr().String(), contract, client[1]).CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Regexp(t, `: \d+ versions\n$`, string(out))
		})
	}
}
