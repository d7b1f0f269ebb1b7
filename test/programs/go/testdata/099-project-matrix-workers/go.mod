module example.test/matrix

go 1.21
