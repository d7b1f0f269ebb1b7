// Package lint breaks the rules of .golangci.yml, one in each line that says so;
// scripts/lint.sh holds the linter against it before it believes the rest.
package lint

import (
	"archive/tar" // want depguard
	"context"
	"encoding/gob" // want depguard
	"fmt"
	"io/ioutil"        // want depguard
	"log"              // want depguard
	"math/rand"        // want depguard
	"net/http"         //nolint:misspell // want nolintlint
	_ "net/http/pprof" // want depguard
	"os"
	"os/exec" // want depguard
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe" // want depguard

	"golang.org/x/sys/unix"
)

func Undocumented() {} // want revive

func trees(name string) {
	os.Chmod(name, 0o600)           // want forbidigo
	os.Chown(name, 0, 0)            // want forbidigo
	os.Lchown(name, 0, 0)           // want forbidigo
	os.RemoveAll(name)              // want forbidigo
	os.Symlink(name, name)          // want forbidigo
	filepath.Walk(name, nil)        // want forbidigo
	filepath.WalkDir(name, nil)     // want forbidigo
	filepath.EvalSymlinks(name)     // want forbidigo
	_ = strings.HasPrefix(name, "") // want forbidigo
	ioutil.ReadFile(name)           // want errcheck
	filepath.Walk(name, func(path string, _ os.FileInfo, _ error) error {
		return os.Remove(path) // want gosec
	})
}

func process() {
	unix.Dup(1)            // want forbidigo
	syscall.Open("", 0, 0) // want forbidigo
	unix.Umask(0)          // want forbidigo
	unix.Unshare(0)        // want forbidigo
	os.Setenv("", "")      // want forbidigo
	os.Getenv("")          // want forbidigo
	os.Environ()           // want forbidigo
	os.Exit(1)             // want forbidigo
	log.Fatal()            // want forbidigo
	panic("")              // want forbidigo
}

func waiting() {
	_ = context.Background() // want forbidigo
	_ = exec.Command("true") // want noctx
	time.Sleep(1)            // want forbidigo
	fmt.Println()            // want forbidigo
	println()                // want forbidigo
	_ = unsafe.Sizeof(rand.Int())
	_, _ = tar.Reader{}, gob.Decoder{}
}

func web() {
	http.Get("")                 // want forbidigo
	http.DefaultClient.Get("")   // want forbidigo
	http.ListenAndServe("", nil) // want forbidigo
	http.HandleFunc("/", nil)    // want forbidigo
	_ = &http.Server{}           // want gosec
	key := any(0).(string)       // want forcetypeassert
	_ = key
}

func admin(isаdmin bool) bool { return isаdmin } // want asciicheck
