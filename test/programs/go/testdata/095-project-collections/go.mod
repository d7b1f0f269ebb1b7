module example.test/collections

go 1.21
