(define (map f l) (if (null? l) '() (cons (f (car l)) (map f (cdr l)))))
(define (fold f acc l) (if (null? l) acc (fold f (f acc (car l)) (cdr l))))
(define (range a b) (if (< a b) (cons a (range (+ a 1) b)) '()))
(define (compose f g) (lambda (x) (f (g x))))
