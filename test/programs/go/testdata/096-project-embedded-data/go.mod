module example.test/embedded

go 1.21
