// Reads web-server log lines with a regular expression and summarises them.
package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strconv"
)

var line = regexp.MustCompile(`^(?P<host>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] "(?P<method>[A-Z]+) (?P<path>\S+)[^"]*" (?P<status>\d{3}) (?P<size>\d+|-)$`)

func main() {
	status := map[string]int{}
	bytes := map[string]int{}
	bad := 0
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		m := line.FindStringSubmatch(sc.Text())
		if m == nil {
			bad++
			continue
		}
		status[m[line.SubexpIndex("status")]]++
		n, _ := strconv.Atoi(m[line.SubexpIndex("size")])
		bytes[m[line.SubexpIndex("path")]] += n
	}
	report("status", status)
	report("bytes by path", bytes)
	fmt.Println("unreadable lines:", bad)

	mask := regexp.MustCompile(`\b(\d+\.\d+)\.\d+\.\d+\b`)
	fmt.Println(mask.ReplaceAllString("10.1.2.3 met 192.168.0.77", "$1.x.x"))
	fmt.Println(regexp.MustCompile(`\p{Han}+`).FindAllString("héllo 你好 🦀 世界", -1))
}

func report(title string, m map[string]int) {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	fmt.Println(title)
	for _, k := range keys {
		fmt.Printf("  %-16s %d\n", k, m[k])
	}
}
