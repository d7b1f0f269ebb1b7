// Making change: number of ways, fewest coins, and subset sums.
package main

import "fmt"

func ways(coins []int, amount int) int {
	w := make([]int, amount+1)
	w[0] = 1
	for _, c := range coins {
		for a := c; a <= amount; a++ {
			w[a] += w[a-c]
		}
	}
	return w[amount]
}

func fewest(coins []int, amount int) (used map[int]int, ok bool) {
	const never = 1 << 30
	best, last := make([]int, amount+1), make([]int, amount+1)
	for a := 1; a <= amount; a++ {
		best[a] = never
		for _, c := range coins {
			if c <= a && best[a-c]+1 < best[a] {
				best[a], last[a] = best[a-c]+1, c
			}
		}
	}
	if best[amount] >= never {
		return nil, false
	}
	used = map[int]int{}
	for a := amount; a > 0; a -= last[a] {
		used[last[a]]++
	}
	return used, true
}

func subsets(nums []int, target int) (found [][]int) {
	var try func(i, sum int, picked []int)
	try = func(i, sum int, picked []int) {
		if sum == target {
			found = append(found, append([]int(nil), picked...))
		}
		for ; i < len(nums) && sum+nums[i] <= target; i++ {
			try(i+1, sum+nums[i], append(picked, nums[i]))
		}
	}
	try(0, 0, nil)
	return found
}

func main() {
	euro := []int{1, 2, 5, 10, 20, 50, 100, 200}
	for _, a := range []int{5, 100, 200, 1000} {
		used, _ := fewest(euro, a-1)
		fmt.Println(a, "in", ways(euro, a), "ways;", a-1, "needs", used)
	}
	used, ok := fewest([]int{1, 3, 4}, 6)
	fmt.Println("greedy would need three:", used, ok)
	used, ok = fewest([]int{6, 10, 15}, 29)
	fmt.Println(used, ok)
	for _, s := range subsets([]int{3, 5, 7, 9, 11, 13, 17, 19, 23}, 40) {
		fmt.Println(s)
	}
}
