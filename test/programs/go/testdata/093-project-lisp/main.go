// A small Lisp: reader, evaluator and environment in their own files.
package main

import (
	"fmt"
	"strings"
)

const source = `
(define square (lambda (x) (* x x)))
(square 12)
(define fact (lambda (n) (if (< n 2) 1 (* n (fact (- n 1))))))
(fact 20)
(define map (lambda (f l) (if (null? l) '() (cons (f (car l)) (map f (cdr l))))))
(map square '(1 2 3 4 5))
(define compose (lambda (f g) (lambda (x) (f (g x)))))
((compose square square) 3)
(define counter (let ((n 0)) (lambda () (set! n (+ n 1)) n)))
(counter)
(counter)
(list 'héllo "你好 🦀" (quote (a (b c))))
(car '())
(undefined 1)
(+ 1
`

func main() {
	env := globals()
	r := &reader{tokens: tokenize(source)}
	for {
		form, err := r.next()
		if err != nil {
			fmt.Println("reader:", err)
			break
		}
		if form == nil {
			break
		}
		v, err := evalSafely(form, env)
		text := show(form)
		if strings.HasPrefix(text, "(define") {
			text = text[:strings.LastIndex(text[:20], " ")] + " ...)"
		}
		fmt.Printf("%s\n  => %s", text, show(v))
		if err != nil {
			fmt.Print("error: ", err)
		}
		fmt.Println()
	}
}
