// Configuration from the environment, with defaults and expansion.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
)

func get(name, fallback string) string {
	if v, ok := os.LookupEnv(name); ok {
		return v
	}
	return fallback
}

func main() {
	port, err := strconv.Atoi(get("APP_PORT", "8080"))
	fmt.Println("port:", port, err)
	_, err = strconv.ParseBool(get("APP_DEBUG", "false"))
	fmt.Println("debug:", err)
	fmt.Println("greeting:", get("APP_GREETING", "hello"))
	v, set := os.LookupEnv("APP_EMPTY")
	fmt.Printf("empty: %q set=%v\n", v, set)
	fmt.Println("absent:", get("APP_ABSENT", "(default)"))
	fmt.Println(os.Expand("${user}@${APP_HOST}:$APP_PORT", func(n string) string {
		if n == "user" {
			return "somebody"
		}
		return os.Getenv(n)
	}))

	os.Setenv("APP_ADDED", "at run time")
	os.Unsetenv("APP_DEBUG")
	var mine []string
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "APP_") {
			mine = append(mine, kv)
		}
	}
	sort.Strings(mine)
	fmt.Println(strings.Join(mine, "\n"))
	fmt.Println("zone:", os.Getenv("TZ"), "lang:", os.Getenv("LANG"))
}
