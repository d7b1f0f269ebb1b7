//go:build !linux

package daemon

func watchSeldom() {}
