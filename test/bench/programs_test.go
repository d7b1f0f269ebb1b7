package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// program is one that is measured.
type program struct {
	name, language string
	file           string // on the host
	source         string // with a place for a number that no other has
	// bare are the commands on the host: of the program itself, never of a shim.
	bare func(dir string) ([][]string, error)
}

func programs() []program {
	return []program{
		{"python hello", "python", "f.py", "print('hello', %d)\n", one("python3", "-c", "import os, sys; print(os.path.realpath(sys.executable))", "f.py")},
		{"python imports", "python", "g.py", "import json, re, datetime, collections, random, math\nprint('hello', %d)\n", one("python3", "-c", "import os, sys; print(os.path.realpath(sys.executable))", "g.py")},
		{"javascript hello", "javascript", "f.js", "console.log('hello', %d);\n", one("node", "-p", "fs.realpathSync(process.execPath)", "f.js")},
		{"java hello", "java", "Main.java", "public class Main { public static void main(String[] args) { System.out.println(\"hello \" + %dL); } }\n", java},
		{"go hello", "go", "main.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\", %d) }\n", golang},
		{"rust hello", "rust", "main.rs", "fn main() { println!(\"hello {}\", %du64); }\n", rust},
	}
}

// asked is what a program says of itself.
func asked(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out)), err
}

// one is a command of a program that is asked where it is.
func one(name, flag, question, file string) func(string) ([][]string, error) {
	return func(string) ([][]string, error) {
		path, err := asked(name, flag, question)
		return [][]string{{path, file}}, err
	}
}

func java(string) ([][]string, error) {
	path, err := exec.LookPath("java")
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	return [][]string{{path, "Main.java"}}, err
}

func golang(dir string) ([][]string, error) {
	root, err := asked("go", "env", "GOROOT")
	return [][]string{{filepath.Join(root, "bin/go"), "build", "-o", filepath.Join(dir, "go-hello"), "main.go"}, {filepath.Join(dir, "go-hello")}}, err
}

func rust(dir string) ([][]string, error) {
	root, err := asked("rustc", "--print", "sysroot")
	if err != nil {
		return nil, fmt.Errorf("rustc: %w", err)
	}
	return [][]string{{filepath.Join(root, "bin/rustc"), "-o", filepath.Join(dir, "rust-hello"), "main.rs"}, {filepath.Join(dir, "rust-hello")}}, nil
}
