package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// update changes the limits of a running container.
func (r *Runtime) update(ctx context.Context, id string, limits *container.Resources) error {
	if !r.info.podman {
		_, err := r.client.ContainerUpdate(ctx, id, client.ContainerUpdateOptions{Resources: limits})
		return err
	}
	return r.updatePodman(ctx, id, limits)
}

// podmanLimits are limits as Podman's own interface takes them: a part of an OCI
// runtime's configuration (LinuxResources of opencontainers/runtime-spec 1.0).
type podmanLimits struct {
	Memory struct {
		Limit int64 `json:"limit,omitzero"`
		Swap  int64 `json:"swap,omitzero"` // memory and swap together
	} `json:"memory,omitzero"`
	CPU struct {
		Quota  int64  `json:"quota"`
		Period uint64 `json:"period"`
	} `json:"cpu,omitzero"`
	Pids struct {
		Limit int64 `json:"limit"`
	} `json:"pids,omitzero"`
}

func (i engineInfo) podmanLimits(limits *container.Resources) (l podmanLimits) {
	if i.memory {
		l.Memory.Limit = limits.Memory
	}
	if i.memory && i.swap {
		l.Memory.Swap = limits.MemorySwap
	}
	if i.cpu {
		l.CPU.Quota, l.CPU.Period = limits.CPUQuota, uint64(limits.CPUPeriod)
	}
	if i.pids {
		l.Pids.Limit = *limits.PidsLimit
	}
	return l
}

// updatePodman asks by Podman's own interface, which knows it since 4.3: the one that
// it shares with Docker got it with 5. Unlike Docker, it fails with limits that it cannot
// hold, so those are left out.
func (r *Runtime) updatePodman(ctx context.Context, id string, limits *container.Resources) error {
	l := r.info.podmanLimits(limits)
	if l == (podmanLimits{}) {
		return nil
	}
	body, err := json.Marshal(l)
	if err != nil {
		return err
	}
	// The host is nobody's: the dialer knows the engine.
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://podman/v4.0.0/libpod/containers/"+url.PathEscape(id)+"/update", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	dial := r.client.Dialer()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }, DisableKeepAlives: true}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	const most = 4 << 10
	said, err := io.ReadAll(io.LimitReader(answer.Body, most))
	switch {
	case err != nil:
		return err
	case answer.StatusCode/100 == 2:
		return nil
	case answer.StatusCode == http.StatusNotFound && !strings.Contains(string(said), id[:12]): // not the container, then
		return fmt.Errorf("podman %s cannot change them; 4.3 and later can", r.info.version)
	}
	var problem struct{ Message string }
	if json.Unmarshal(said, &problem) != nil || problem.Message == "" {
		problem.Message = answer.Status
	}
	return fmt.Errorf("podman: %s", problem.Message)
}

// removeContainer removes a container, whatever runs in it. One that is just ending
// by itself Podman can neither kill nor remove for a moment.
func (r *Runtime) removeContainer(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		_, err := r.client.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err == nil || !r.info.podman || !strings.Contains(err.Error(), "container state improper") || wait > time.Second {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
