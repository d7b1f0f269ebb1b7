//go:build !linux

package image

import (
	"os/exec"
	"syscall"
)

func ownGroup(*exec.Cmd) {}

func signalGroup(*exec.Cmd, syscall.Signal) error { return supported() }
