module sandgate/gocell

go 1.22
