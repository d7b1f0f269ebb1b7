package local_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
)

func TestHello(t *testing.T) {
	rt, err := local.New(local.Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	c, err := rt.Create(context.Background(), sandbox.Spec{Level: sandbox.LevelFull, Disk: sandbox.DiskLimit{Bytes: 64 << 20, Inodes: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Delete(context.Background())
	var out, errs bytes.Buffer
	p, err := c.Start(context.Background(), sandbox.Process{
		Args: []string{"/bin/sh", "-c", "id; cat /proc/self/status | grep -E 'Cap|Seccomp|NoNew'; cat /proc/self/mountinfo; ls -la / /dev /proc; cat /proc/self/cgroup; hostname; ls -la /proc/self/fd; touch /workspace/x && ls -la /workspace; cat /proc/self/uid_map; unshare -U true; ip addr"},
		Env:  []string{"PATH=/usr/bin:/bin", "HOME=/workspace"}, Stdout: &out, Stderr: &errs,
		Limits: sandbox.Limits{MemoryBytes: 64 << 20, Processes: 20, CPUs: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait()
	t.Logf("%+v %v\n%s\n%s", exit, err, out.String(), errs.String())
}
