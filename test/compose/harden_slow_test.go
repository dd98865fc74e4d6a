//go:build slow

package compose

import (
	"cmp"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// inside returns the kernel's data about a container's first process: the lines of the files in its
// /proc directory, keyed by name. A helper container reads them, because the container itself may
// have no program to do so.
func inside(t *testing.T, container string) map[string][]string {
	t.Helper()
	const read = `cd /proc/1 && for file; do echo "$file:" && cat "$file"; done`
	names := []string{"status", "mountinfo", "net/tcp", "net/tcp6"}
	args := []string{
		"run", "--rm", "--pid", "container:" + container, "--user", "0", "--cap-add", "SYS_PTRACE",
		"--entrypoint", "sh", cmp.Or(os.Getenv("REDIS_IMAGE"), "redis:8"), "-euc", read, "sh",
	}
	files, file := map[string][]string{}, ""
	for line := range strings.Lines(docker(t, append(args, names...)...)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutSuffix(line, ":"); ok && slices.Contains(names, name) {
			file = name
			continue
		}
		files[file] = append(files[file], line)
	}
	return files
}

// harmless checks the permissions of a container, and that it accepts connections only on the
// given ports and can write only to the given paths.
func harmless(t *testing.T, service, container string, ports []int, writable ...string) {
	t.Helper()
	files := inside(t, container)
	status := map[string][]string{}
	for _, line := range files["status"] {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.Fields(value)
	}
	for _, ids := range []string{"Uid", "Gid"} {
		require.Len(t, status[ids], 4, "%s: %s", service, ids)
		assert.NotContains(t, status[ids], "0", "%s: %s", service, ids)
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		assert.Equal(t, []string{"0000000000000000"}, status[set], "%s: %s", service, set)
	}
	assert.Equal(t, []string{"1"}, status["NoNewPrivs"], "%s: NoNewPrivs", service)

	var places []string
	var root bool
	for _, line := range files["mountinfo"] {
		fields := strings.Fields(line)
		require.Greater(t, len(fields), 5)
		at, options := fields[4], strings.Split(fields[5], ",")
		root = root || at == "/"
		switch top, _, _ := strings.Cut(at[1:], "/"); top {
		case "proc", "sys", "dev": // the kernel's own
			continue
		}
		if !slices.Contains(options, "ro") {
			places = append(places, at)
		}
	}
	assert.True(t, root, "%s: the root is not among the mounts", service)
	assert.ElementsMatch(t, writable, places, "%s: writable paths", service)
	assert.ElementsMatch(t, ports, listening(t, files), "%s: open ports", service)
}

// listening returns the TCP ports on which a container accepts connections, except that of Docker's
// DNS server.
func listening(t *testing.T, files map[string][]string) []int {
	t.Helper()
	const listen, nameServer = "0A", "0B00007F"
	found := map[int]bool{}
	for _, line := range append(files["net/tcp"], files["net/tcp6"]...) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != listen {
			continue
		}
		host, port, _ := strings.Cut(fields[1], ":")
		if host == nameServer {
			continue
		}
		n, err := strconv.ParseInt(port, 16, 32)
		require.NoError(t, err)
		found[int(n)] = true
	}
	return slices.Collect(maps.Keys(found))
}

// operators lists pages that only operators may see.
var operators = []string{"/metrics", "/healthz", "/debug/pprof/", "/debug/pprof/heap", "/debug/vars"}

// silent checks that an address serves none of the operators' pages over any version of HTTP.
func silent(t *testing.T, address string) {
	t.Helper()
	for name, transport := range overHTTP(t) {
		for _, page := range operators {
			response, err := get(t, transport, address, page)
			if err != nil {
				continue // The server closed the connection.
			}
			assert.GreaterOrEqual(t, response, 400, "%s over %s of %s", page, name, address)
		}
	}
}

func overHTTP(t *testing.T) map[string]*http.Transport {
	t.Helper()
	var one, two http.Protocols
	one.SetHTTP1(true)
	two.SetUnencryptedHTTP2(true)
	transports := map[string]*http.Transport{"HTTP/1.1": {Protocols: &one}, "HTTP/2": {Protocols: &two}}
	for _, transport := range transports {
		t.Cleanup(transport.CloseIdleConnections)
	}
	return transports
}

func get(t *testing.T, transport *http.Transport, address, page string) (code int, _ error) {
	t.Helper()
	client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
	response, err := client.Get("http://" + address + page)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return response.StatusCode, nil
}

// notFooled checks that a caller cannot evade the limit on new accounts by claiming a different
// address in each call. The limit must be a few accounts per minute.
func notFooled(t *testing.T, address string) {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	players := pb.NewPlayerServiceClient(conn)
	for n := range 100 {
		elsewhere := net.IPv4(203, 0, 113, byte(n)).String()
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-for", elsewhere, "x-real-ip", elsewhere,
			"forwarded", "for="+elsewhere)
		_, err := players.CreatePlayer(ctx, &pb.CreatePlayerRequest{Name: "nobody-" + strconv.Itoa(n), Secret: client.NewSecret()},
			grpc.WaitForReady(true))
		if status.Code(err) == codes.ResourceExhausted {
			return
		}
		require.NoError(t, err)
	}
	require.Fail(t, "the server believed a claimed address")
}
