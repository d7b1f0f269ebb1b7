package language

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Bounds on what is read of the compiler's output to find the main class.
const (
	maxClassFiles = 20_000
	maxClassBytes = 8 << 20  // of one file
	maxClassTotal = 64 << 20 // of all of them
)

// findMainClass reads the classes that the compiler made and returns the one to
// run: the first of order that has a main method, else the first of the others
// by name, top-level classes before nested ones. With flexible, instance main
// methods count (JEP 512).
func findMainClass(tree sandbox.FileTree, order []string, flexible bool) (string, error) {
	mains, err := mainClasses(tree, flexible)
	if err != nil {
		return "", err
	}
	for _, class := range order {
		if slices.Contains(mains, class) {
			return class, nil
		}
	}
	if len(mains) == 0 {
		return "", NothingToRun("no class has a main method: add public static void main(String[] args)")
	}
	slices.SortFunc(mains, func(a, b string) int {
		if nested := strings.Count(a, "$") - strings.Count(b, "$"); nested != 0 {
			return nested
		}
		return strings.Compare(a, b)
	})
	return mains[0], nil
}

// mainClasses lists the classes below classes/ that can be started.
func mainClasses(tree sandbox.FileTree, flexible bool) ([]string, error) {
	var mains []string
	left := int64(maxClassTotal)
	err := tree.Walk(maxClassFiles, func(info sandbox.FileInfo) error {
		inside := strings.HasPrefix(info.Path, "classes/") && strings.HasSuffix(info.Path, ".class")
		if !inside || !info.Mode.IsRegular() || info.Size > min(maxClassBytes, left) {
			return nil
		}
		data, err := readClass(tree, info.Path)
		if err != nil {
			return fmt.Errorf("reading %s: %w", info.Path, err)
		}
		left -= int64(len(data))
		if class, err := parseClass(data); err == nil && class.startable(flexible) {
			mains = append(mains, class.Name)
		}
		return nil
	})
	return mains, err
}

// readClass reads one file, which may have grown since it was listed.
func readClass(tree sandbox.FileTree, name string) ([]byte, error) {
	file, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxClassBytes))
}

// startable tells whether the java command can start a class: by public static
// void main(String[]), or, with flexible, by any main that is not private, with
// or without arguments, for which an instance can be made.
func (c classFile) startable(flexible bool) bool {
	for _, m := range c.Methods {
		if m.Name != "main" {
			continue
		}
		static := m.Access&accStatic != 0
		if static && m.Access&accPublic != 0 && m.Descriptor == stringArguments {
			return true
		}
		if flexible && m.Access&accPrivate == 0 && (static || c.instantiable()) {
			return true
		}
	}
	return false
}

// instantiable tells whether the launcher can make an instance.
func (c classFile) instantiable() bool {
	return c.Access&accAbstract == 0 && slices.ContainsFunc(c.Methods, func(m classMethod) bool {
		return m.Name == "<init>" && m.Descriptor == noArguments && m.Access&accPrivate == 0
	})
}
