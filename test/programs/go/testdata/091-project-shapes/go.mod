module example.test/shapes

go 1.21
