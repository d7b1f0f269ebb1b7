module example.test/initorder

go 1.21
