module example.test/adventure

go 1.21
