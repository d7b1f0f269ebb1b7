module example.test/bank

go 1.21
