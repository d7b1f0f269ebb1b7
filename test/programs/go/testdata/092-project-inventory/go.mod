module example.test/inventory

go 1.21
