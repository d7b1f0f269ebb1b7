package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// Every way to end comes as 200 and a result, in every language.
func TestExecute(t *testing.T) {
	for _, c := range []struct {
		name            string
		request         api.Request
		status          api.Status
		stdout, message string
	}{
		{"python", api.Request{Code: "print(6*7)"}, api.StatusOK, "^42\n$", "^$"},
		{"javascript", api.Request{Language: "js", Code: "console.log(6*7)"}, api.StatusOK, "^42\n$", "^$"},
		{"typescript", api.Request{Language: "ts", Code: "const n: number = 42; console.log(n)"}, api.StatusOK, "^42\n$", "^$"},
		{"go", api.Request{Language: "go", Code: "package main\nfunc main() { println(1); print() }"}, api.StatusOK, "^$", "^$"},
		{"rust", api.Request{Language: "rust", Code: `fn main() { println!("{}", 6*7) }`}, api.StatusOK, "^42\n$", "^$"},
		{"java", api.Request{Language: "java", Code: "class M { public static void main(String[] a) { System.out.println(6*7); } }"}, api.StatusOK, "^42\n$", "^$"},
		{"unicode", api.Request{Code: "import sys; print('héllo 你好 🦀', sys.argv[1], input(), open('ü.txt').read())", Args: []string{"🦀"}, Stdin: "你好\n",
			Files: map[string]api.InputFile{"ü.txt": {Content: "ß"}}}, api.StatusOK, "^héllo 你好 🦀 🦀 你好 ß\n$", "^$"},
		{"environment", api.Request{Code: "import os; print(os.environ['A'], os.environ['HOME'])", Env: map[string]string{"A": "b"}}, api.StatusOK, "^b (/.*/sandbox-run-i.*)?/workspace\n$", "^$"},
		{"exec", api.Request{Language: "exec", Args: []string{"/bin/echo", "hi"}}, api.StatusOK, "^hi\n$", "^$"},
		{"the strongest walls", api.Request{Code: "print(1)", Isolation: "auto"}, api.StatusOK, "^1\n$", "^$"},
		{"exit code", api.Request{Code: "print('before'); raise SystemExit(3)"}, api.StatusRuntimeError, "^before\n$", "exit code 3"},
		{"uncaught", api.Request{Code: "1/0"}, api.StatusRuntimeError, "^$", "ZeroDivisionError"},
		{"syntax", api.Request{Code: "def"}, api.StatusCompileError, "^$", "^Python syntax error: "},
		{"compile error", api.Request{Language: "go", Code: "package main\nfunc main() { x }"}, api.StatusCompileError, "^$", "^Go compile error: "},
		{"signal", api.Request{Code: "import os; os.kill(os.getpid(), 9)"}, api.StatusSignaled, "^$", "."},
		{"timeout", api.Request{Code: "print('before', flush=True)\nwhile True: pass", TimeoutSeconds: 0.5}, api.StatusTimeout, "^before\n$", "^Code execution timed out after 0.5s$"},
		{"cpu", api.Request{Code: "while True: pass", Limits: &api.RequestLimits{CPUSeconds: 0.2}}, api.StatusCPULimit, "^$", "."},
		{"memory", api.Request{Code: "x = bytearray(300 << 20)", Limits: &api.RequestLimits{MemoryMB: 64}}, api.StatusMemoryLimit, "^$", "^Memory limit of 64 MiB exceeded$"},
		{"output", api.Request{Code: "while True: print('x' * 1000)", Limits: &api.RequestLimits{StreamMB: 1}}, api.StatusOutputLimit, "x", "."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := shared.run(t, c.request)
			if r.Status != c.status || r.Success != (c.status == api.StatusOK) {
				t.Errorf("status %s, want %s: %s\n%s", r.Status, c.status, r.Message, r.Stderr)
			}
			for _, m := range []struct{ got, want string }{{r.Stdout, c.stdout}, {r.Message, c.message}} {
				if !regexp.MustCompile(m.want).MatchString(m.got) {
					t.Errorf("%.300q does not match %q", m.got, m.want)
				}
			}
		})
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	r := shared.run(t, api.Request{
		Code: "import os\nopen('out/a.txt','w').write(open('in/b.bin','rb').read().hex())\nopen('c.bin','wb').write(b'\\xff')\nos.symlink('/etc/passwd','out/link')",
		Files: map[string]api.InputFile{
			"in/b.bin": {Content: "AAH/", Encoding: api.EncodingBase64}, "out/keep": {Content: ""}},
		Collect: &[]string{"out/*", "*.bin"},
	})
	if r.Files["out/a.txt"].Content != "0001ff" || r.Files["c.bin"].Content != "/w==" || r.Files["c.bin"].Encoding != "base64" {
		t.Errorf("%+v %s", r.Files, r.Stderr)
	}
	if len(r.FilesSkipped) != 1 || r.FilesSkipped[0].Path != "out/link" {
		t.Errorf("skipped %+v", r.FilesSkipped)
	}
}

func TestUpload(t *testing.T) {
	t.Parallel()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("request", `{"code":"print(len(open('data/large.bin','rb').read()))"}`); err != nil {
		t.Fatal(err)
	}
	file, err := form.CreateFormFile("files", "data/large.bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	form.Close()
	r := shared.send(t, "POST", "/execute", &body, "Content-Type", form.FormDataContentType()).result(t)
	if r.Stdout != fmt.Sprintln(8<<20) {
		t.Errorf("%q %s", r.Stdout, r.Stderr)
	}
}

// What cannot be run says why, and where.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
		pointer    string
		detail     string
	}{
		{"not JSON", "print(1)", 400, "", "cannot be read"},
		{"duplicate", `{"code":"1","code":"2"}`, 400, "", "duplicate"},
		{"trailing", `{"code":"1"}{}`, 400, "", "follows"},
		{"deep", strings.Repeat("[", 100_000), 400, "", "nested"},
		{"invalid UTF-8", "{\"code\":\"\xff\"}", 400, "", "UTF-8"},
		{"unknown field", `{"code":"1","timeout":3}`, 422, "/timeout", "unexpected"},
		{"no source", `{}`, 422, "/code", "no source"},
		{"unknown language", `{"code":"1","language":"pyton"}`, 422, "/language", "python"},
		{"unknown version", `{"code":"1","version":"1.5"}`, 422, "/language", "1.5"},
		{"over the ceiling", `{"code":"1","timeout_seconds":301}`, 422, "/timeout_seconds", "300"},
		{"too little memory", `{"code":"1","limits":{"memory_mb":0.5}}`, 422, "/limits/memory_mb", "least"},
		{"above", `{"code":"1","files":{"../x":""}}`, 422, "/files/..~1x", "relative"},
		{"absolute", `{"code":"1","files":{"/etc/passwd":""}}`, 422, "/files/~1etc~1passwd", "relative"},
		{"NUL in a name", `{"code":"1","files":{"a\u0000b":""}}`, 422, "/files/a\x00b", "name"},
		{"long name", `{"code":"1","files":{"` + strings.Repeat("a", 4096) + `":""}}`, 422, "/files/" + strings.Repeat("a", 4096), "4096 bytes"},
		{"a name of a megabyte", `{"code":"1","files":{"` + strings.Repeat("/", 1<<20) + `":""}}`, 422, "/files/" + strings.Repeat("~1", 4092) + "~…", "1048576 bytes"},
		{"a language of a megabyte", `{"code":"1","language":"` + strings.Repeat("a", 1<<20) + `"}`, 422, "/language", "64"},
		{"a field of a megabyte", `{"` + strings.Repeat("a", 1<<20) + `":null}`, 422, "/" + strings.Repeat("a", 8191) + "…", "aaa"},
		{"not base64", `{"code":"1","files":{"a":{"content":"!","encoding":"base64"}}}`, 422, "/files/a", "base64"},
		{"a file as directory", `{"code":"1","files":{"a":"","a/b":""}}`, 422, "/files/a~1b", "directory"},
		{"NUL in an argument", `{"code":"1","args":["a\u0000b"]}`, 422, "/args/0", "NUL"},
		{"name of a variable", `{"code":"1","env":{"A=B":"c"}}`, 422, "/env/A=B", "name"},
		{"no walls at all", `{"code":"1","isolation":"none"}`, 403, "/isolation", "weaker"},
		{"weaker walls", `{"code":"1","isolation":"restricted"}`, 403, "/isolation", "weaker"},
		{"a laxer import policy", `{"code":"1","policy":{"imports":"off"}}`, 403, "/policy/imports", "laxer than this server's, which is warn"},
		{"an unknown import policy", `{"code":"1","policy":{"imports":"never"}}`, 422, "/policy/imports", "block"},
		{"no module to block", `{"code":"1","policy":{"blocked_imports":["a b"]}}`, 422, "/policy/blocked_imports/0", "no name of a module"},
		{"imports that cannot be told", `{"code":"1","language":"bash","policy":{"imports":"block"}}`, 422, "/policy/imports", "cannot be checked"},
		{"an unknown level", `{"code":"1","isolation":"vm"}`, 422, "/isolation", "full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := shared.execute(t, c.body).problem(t, c.status)
			if !strings.Contains(p.Detail, c.detail) {
				t.Errorf("%.500q does not speak of %q", p.Detail, c.detail)
			}
			if c.pointer != "" && (len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer) {
				t.Errorf("errors %.500q, want one at %.200q", fmt.Sprint(p.Errors), c.pointer)
			}
		})
	}
}

func TestManyFilesAreRefused(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 100_000 {
		files = append(files, fmt.Sprintf(`"%d":""`, i))
	}
	shared.execute(t, `{"code":"1","files":{`+strings.Join(files, ",")+`}}`).problem(t, 400)
	shared.execute(t, `{"code":"1","files":{`+strings.Join(files[:20_000], ",")+`}}`).problem(t, 422)
}

func TestBodies(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 17<<20)
	shared.execute(t, large).problem(t, 413)
	// Without a length it is known only when it has come.
	shared.send(t, "POST", "/execute", struct{ *strings.Reader }{strings.NewReader(large)}, "Content-Type", "application/json").problem(t, 413)
	shared.send(t, "POST", "/execute", strings.NewReader(`{"code":"1"}`), "Content-Type", "text/plain").problem(t, 415)
	shared.send(t, "POST", "/execute", strings.NewReader(`{"code":"1"}`)).problem(t, 415)
	shared.send(t, "GET", "/execute", nil).problem(t, 405)
	shared.send(t, "GET", "/nothing", nil).problem(t, 404)
}

// A page in a browser on this machine reaches nothing.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	for _, header := range [][]string{
		{"Host", "evil.example"}, {"Host", "evil.example:80"}, {"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", "http://127.0.0.1:1"},
	} {
		if p := shared.execute(t, `{"code":"1"}`, header...).problem(t, 403); p.Type != "urn:sandbox-run:problem:forbidden" {
			t.Errorf("%v: %s", header, p.Type)
		}
	}
	if r := shared.execute(t, `{"code":"print(1)"}`, "Origin", shared.URL).result(t); !r.Success {
		t.Error(r.Message)
	}
}

// What is kept for another server's containers has a name that it gives: none leads anywhere.
func TestStrangeNamesOfWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"..%2f..%2fetc%2fpasswd", "%2e%2e", "%2e%2e%2fkeys", "a%2fb", "a%00b", ".hidden", "%ff%fe", strings.Repeat("x", 5000)} {
		for _, method := range []string{"GET", "PUT"} {
			t.Run(method+" "+name[:min(len(name), 30)], func(t *testing.T) {
				req, err := http.NewRequestWithContext(t.Context(), method, shared.URL+"/v1/runtime/kept/"+name, strings.NewReader("no archive"))
				if err != nil {
					t.Fatal(err)
				}
				answer, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				body, _ := io.ReadAll(answer.Body)
				if answer.StatusCode != 422 || !strings.Contains(string(body), "is named by") {
					t.Errorf("%d %.300s", answer.StatusCode, body)
				}
			})
		}
	}
}
