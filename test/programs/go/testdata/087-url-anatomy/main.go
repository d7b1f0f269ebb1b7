// Takes URLs apart, resolves references and builds queries.
package main

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strings"
)

func main() {
	for _, raw := range []string{
		"https://user:p%40ss@example.test:8443/a/b%20c/../d;x=1?q=héllo+你好&q=2&empty=#frag%20ment",
		"mailto:crab@example.test",
		"/relative/path?x=%F0%9F%A6%80",
		"http://[2001:db8::1]:80/",
		"http://bad host/",
		"%zz",
		"//cdn.example.test/lib.js",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		pass, hasPass := u.User.Password()
		fmt.Printf("%s\n  scheme=%q opaque=%q host=%q port=%q path=%q raw=%q\n", u, u.Scheme, u.Opaque, u.Hostname(), u.Port(), u.Path, u.RawPath)
		if hasPass {
			fmt.Printf("  user=%q pass=%q redacted=%s\n", u.User.Username(), pass, u.Redacted())
		}
		if q := u.Query(); len(q) > 0 {
			fmt.Printf("  query=%q encoded=%s fragment=%q\n", q, q.Encode(), u.Fragment)
		}
	}
	base, _ := url.Parse("http://a.test/b/c/d?q")
	for _, ref := range strings.Fields("g ./g ../g ../../g /g //h.test ?y #s g;x=1/../y ../../../g") {
		r, _ := base.Parse(ref)
		fmt.Printf("%-12s %s\n", ref, r)
	}
	fmt.Println(path.Join("a", "../b", "/c"), path.Clean("/../x//y/./z/.."), path.Base("/p/q.tar.gz"), path.Ext("q.tar.gz"))
	ok, err := path.Match("*.[ch]", "main.c")
	fmt.Println(ok, err)

	prefix := netip.MustParsePrefix("192.168.16.0/20")
	for _, s := range []string{"192.168.31.255", "192.168.32.0", "::ffff:192.168.17.1", "fe80::1%eth0", "300.1.1.1"} {
		a, err := netip.ParseAddr(s)
		fmt.Println(s, prefix.Contains(a), a.Unmap().Is4(), a.IsPrivate(), err)
	}
}
