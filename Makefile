# Shorthands; what they run stands in Go and in .ci/run.
.PHONY: apps build test short race lint ci demo slt corpus enginetest rewrite bench

build:
	CGO_ENABLED=0 go build -o sqlots ./cmd/sqlots

test:
	go test ./...

short:
	go test -short ./...

race:
	go test -race -short ./storage/... ./mysqlwire/... ./sql/engine/... ./sql/statement/... ./sql/session/... ./sql/mdl/... ./sql/exec/... ./server/... ./test/sqllogic

lint:
	go vet ./...
	go test ./internal/lint
	go build -C tools -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	./bin/staticcheck ./...

ci:
	.ci/run

demo:
	go run ./cmd/sqlots demo

slt:
	go test ./test/sqllogic

# SQLite's sqllogictest corpus: make corpus CORPUS=folder-or-archive
corpus:
	SQLOTS_SLT_CORPUS=$(abspath $(CORPUS)) SQLOTS_SLT_SHARE=1 go test ./test/sqllogic -run TestCorpus -count=1 -v -timeout 2h

# go-mysql-server's query corpus
enginetest:
	cd test/engine && go vet -tags gms_pure_go ./... && CGO_ENABLED=0 go test -tags gms_pure_go -count=1 ./...

# Generated documents and plans; read the differences before you commit them.
rewrite:
	go test ./internal/lint -update
	go test ./cmd/sqlots -run TestDocuments -update

bench:
	go test -run '^$$' -bench . -benchmem ./storage/... ./sql/expr ./mysqlwire

# Schemas, applications and suites of client libraries, with MariaDB for comparison
apps:
	go run ./test/apps
