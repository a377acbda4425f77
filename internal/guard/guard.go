package guard

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Panic is the error of a task that panicked.
type Panic struct {
	Value any
	Stack []byte
}

// Error implements error; the stack is for logs.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap is the error that the task panicked with, if it is one.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Run calls task. A panic is a Panic, and so is a fault in the memory of a mapped
// file.
func Run(task func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &Panic{Value: r, Stack: debug.Stack()}
		}
	}()
	return task()
}

// Do calls task, and logs its panic under a name.
func Do(log *slog.Logger, name string, task func()) {
	Log(log, name, Run(func() error { task(); return nil }))
}

// Log logs the panic that err has, if it has one.
func Log(log *slog.Logger, name string, err error) {
	var p *Panic
	if errors.As(err, &p) {
		log.Error("panic in a task", "event", "panic", "task", name, "panic", fmt.Sprint(p.Value), "stack", string(p.Stack))
	}
}
