// Hexadecimal, base 32, base 64, base 85 and percent encodings.
package main

import (
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/url"
	"strings"
)

func main() {
	text := []byte("héllo 你好 🦀?>")
	std, web := base64.StdEncoding.EncodeToString(text), base64.RawURLEncoding.EncodeToString(text)
	fmt.Println(std)
	fmt.Println(web)
	fmt.Println(base32.StdEncoding.EncodeToString(text))
	fmt.Println(hex.EncodeToString(text))
	buf := make([]byte, ascii85.MaxEncodedLen(len(text)))
	fmt.Println(string(buf[:ascii85.Encode(buf, text)]))
	fmt.Println(url.QueryEscape(string(text)), url.PathEscape(string(text)))
	fmt.Print(hex.Dump(text))
	fmt.Print(string(pem.EncodeToMemory(&pem.Block{Type: "GREETING", Headers: map[string]string{"Lang": "mixed"}, Bytes: text})))

	for _, s := range []string{std, web, "not base64!"} {
		b, err := base64.StdEncoding.DecodeString(s)
		fmt.Printf("%q %v\n", b, err)
	}
	_, err := hex.DecodeString("abc")
	fmt.Println(err)
	var sb strings.Builder
	w := base64.NewEncoder(base64.StdEncoding, &sb)
	for i := 0; i < 5; i++ {
		fmt.Fprintf(w, "part %d;", i)
	}
	w.Close()
	fmt.Println(sb.String())
}
