module example.test/lisp

go 1.21
