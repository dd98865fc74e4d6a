//go:build slow

package compose

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSingle: with one server and its Redis, a game survives the SIGKILL and the restart of each, and
// the removal of their containers. The containers can do no more than they must.
func TestSingle(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	with := settings{"GRIDSTAND_METRICS": ":9090"}
	s.up(with, "--build")
	server := s.containers("server")[0]
	harmless(t, "server", server, []int{2048, 9090})
	harmless(t, "redis", s.containers("redis")[0], []int{6379}, "/data")
	assert.JSONEq(t, `{"2048/tcp": [{"HostIp": "127.0.0.1", "HostPort": "`+s.port+`"}]}`,
		docker(t, "inspect", "-f", "{{json .NetworkSettings.Ports}}", server), "published ports")

	p := begin(t, s.address())
	p.goesOn("begin")
	survives(t, s, p, "server", "redis")
	p.end()
	p.check(s.address())
	s.compose("down")
	s.up(with)
	p.check(s.address())
}

// TestScaled covers docker-compose.scale.yml: several servers behind a proxy.
func TestScaled(t *testing.T) {
	t.Parallel()
	s := newStack(t, "docker-compose.scale.yml")
	s.up(nil, "--build", "--scale", "server=1")
	p := begin(t, s.address())
	p.goesOn("begin with one server")
	s.up(nil, "--scale", "server=3")
	require.Len(t, s.containers("server"), 3)
	p.goesOn("scaled to three servers")

	for _, id := range s.containers("server") {
		harmless(t, "server", id, []int{2048})
		assert.JSONEq(t, `{"2048/tcp": null}`, docker(t, "inspect", "-f", "{{json .NetworkSettings.Ports}}", id), "published ports")
	}
	harmless(t, "redis", s.containers("redis")[0], []int{6379}, "/data")
	harmless(t, "proxy", s.containers("proxy")[0], []int{2048})

	for _, id := range s.containers("server") {
		docker(t, "kill", "-s", "KILL", id)
		p.goesOn("one of three servers killed")
		docker(t, "start", id)
	}
	s.healthy("server")
	for _, id := range s.containers("server") {
		docker(t, "restart", id)
		p.goesOn("restart of one of three servers")
	}
	survives(t, s, p, "redis", "proxy")

	p.end()
	var servers []string
	for _, id := range s.containers("server") {
		servers = append(servers, s.reach(id, "2048"))
	}
	p.check(append(servers, s.address())...)
}

// survives kills and restarts the container of each service. Players must be able to continue
// after each.
func survives(t *testing.T, s *stack, p *party, services ...string) {
	t.Helper()
	for _, service := range services {
		id := s.containers(service)[0]
		docker(t, "kill", "-s", "KILL", id)
		docker(t, "start", id)
		p.goesOn("SIGKILL of " + service)
		docker(t, "restart", id)
		p.goesOn("restart of " + service)
	}
}
