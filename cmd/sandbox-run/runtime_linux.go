package main

import (
	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
)

func openRuntime(config.Config) (sandbox.Runtime, error) { return local.New(local.Options{}) }

func reclaim() ([]string, error) { return local.Reclaim(local.Options{}) }
