package engine

import (
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/storage/sorter"
)

// sortShare is the part of the memory of all statements that one bulk load or
// index build may take.
const sortShare = 4

// searchShare is the part that search indexes have of it, while there are any.
const searchShare = 4

// SortMemory is the memory, in bytes, of one bulk load or index build.
func (e *Engine) SortMemory() int64 { return e.Memory.Limit() / sortShare }

// SortBudget makes the budget of a bulk load or index build: memory is that of
// all statements, files are made and counted as those of queries.
func (e *Engine) SortBudget() sorter.Budget {
	if e.Spill == nil {
		return nil
	}
	return sortBudget{exec.NewBudget(e.Memory, "sort"), e.Spill}
}

type sortBudget struct {
	*exec.Budget
	disk *spill.Disk
}

// Create implements sorter.Budget.
func (b sortBudget) Create() (sorter.File, error) {
	f, err := b.disk.NewFile()
	if err != nil {
		return nil, err
	}
	return sortFile{f}, nil
}

type sortFile struct{ *spill.File }

// Close implements io.Closer.
func (f sortFile) Close() error {
	f.File.Close()
	return nil
}
