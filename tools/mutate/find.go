package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"strings"
)

func (f *finder) read(file *ast.File) error {
	f.file = f.p.Fset.Position(file.Pos()).Filename
	src, err := os.ReadFile(f.file)
	if err != nil {
		return err
	}
	f.src[f.file] = src
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			f.stack = f.stack[:len(f.stack)-1]
			return true
		}
		if f.skips(n) {
			return false
		}
		f.look(n)
		f.stack = append(f.stack, n)
		return true
	})
	f.stack = nil
	return nil
}

// skips reports nodes in which constants are wanted, or nothing is run, or whose changes
// are known to make no difference.
func (f *finder) skips(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return true // also variables of packages, which tests may not make again
	case *ast.FuncDecl:
		name := n.Name.Name
		return n.Body == nil || name == "String" || name == "Close" || name == "doc"
	case *ast.ArrayType, *ast.CompositeLit, *ast.StructType:
		_, isLit := n.(*ast.CompositeLit)
		return !isLit
	case *ast.CallExpr:
		if f.isCapacity(n) {
			return true
		}
		// The texts of messages are not what is tested.
		if s, ok := n.Fun.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && (x.Name == "fmt" || x.Name == "errors" || x.Name == "sqlerr" && s.Sel.Name == "Internal") {
				return true
			}
		}
	}
	return false
}

// isCapacity reports calls that say how much room there is, which only costs time.
func (f *finder) isCapacity(n *ast.CallExpr) bool {
	switch fn := n.Fun.(type) {
	case *ast.Ident:
		return fn.Name == "cap" || fn.Name == "make" && len(n.Args) == 3
	case *ast.SelectorExpr:
		return fn.Sel.Name == "Grow"
	}
	return false
}

// nextToError reports an expression that is returned together with an error, which
// callers do not look at.
func (f *finder) nextToError(n ast.Node) bool {
	for i := len(f.stack) - 1; i >= 0; i-- {
		switch up := f.stack[i].(type) {
		case *ast.ReturnStmt:
			last := up.Results[len(up.Results)-1]
			return n.Pos() < last.Pos() && f.isError(last, i)
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		}
	}
	return false
}

// isError reports the result of the return at f.stack[at] that is an error for certain.
func (f *finder) isError(last ast.Expr, at int) bool {
	text := f.text(last)
	if strings.HasPrefix(text, "sqlerr.") || strings.HasPrefix(text, "fmt.Errorf(") || strings.HasPrefix(text, "errors.New(") {
		return true
	}
	if _, ok := last.(*ast.Ident); !ok || at < 2 {
		return false
	}
	up, ok := f.stack[at-2].(*ast.IfStmt)
	return ok && f.text(up.Cond) == text+" != nil"
}

func (f *finder) text(n ast.Node) string {
	return string(f.src[f.file][f.p.Fset.Position(n.Pos()).Offset:f.p.Fset.Position(n.End()).Offset])
}

func (f *finder) add(k kind, n ast.Node, now, text string) {
	p := f.p.Fset.Position(n.Pos())
	f.sites = append(f.sites, site{file: f.file, pkg: f.p.Name, line: p.Line, kind: k, from: p.Offset, to: f.p.Fset.Position(n.End()).Offset, was: f.text(n), now: now, text: text})
}

// other are the operators that replace an operator.
var other = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR}, token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL}, token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
}

func (f *finder) look(n ast.Node) {
	if f.nextToError(n) {
		return
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.Ident:
		if n.Name == "true" && f.p.TypesInfo.Uses[n] == types.Universe.Lookup("true") {
			f.add(constant, n, "false", "!MUTANT")
		}
		if n.Name == "false" && f.p.TypesInfo.Uses[n] == types.Universe.Lookup("false") {
			f.add(constant, n, "true", "MUTANT")
		}
	case *ast.ExprStmt:
		if f.inBlock() && !f.givesBack(n) {
			f.add(statement, n, "nothing", "if !MUTANT {\n"+f.text(n)+"\n}")
		}
	case *ast.UnaryExpr:
		if f.p.TypesInfo.Types[n].Value == nil && n.Op == token.SUB {
			f.function(sign, n, f.text(n.X))
		}
	case *ast.IncDecStmt:
		if f.inBlock() {
			back := f.text(n.X) + map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]
			f.add(step, n, back, "if MUTANT {\n"+back+"\n} else {\n"+f.text(n)+"\n}")
			f.add(statement, n, "nothing", "if !MUTANT {\n"+f.text(n)+"\n}")
		}
	case *ast.AssignStmt:
		if f.frees(n) {
			return
		}
		if n.Tok != token.DEFINE && f.inBlock() && f.text(n.Lhs[0]) != "_" {
			f.add(statement, n, "nothing", "if !MUTANT {\n"+f.text(n)+"\n}")
		}
	case *ast.BranchStmt:
		if n.Tok == token.CONTINUE && n.Label == nil && f.inBlock() {
			f.add(loop, n, "break", "if MUTANT {\nbreak\n}\ncontinue")
		}
		if n.Tok == token.BREAK && n.Label == nil && f.inBlock() && f.leavesLoop() {
			f.add(loop, n, "continue", "if MUTANT {\ncontinue\n}\nbreak")
		}
	}
}

// leavesLoop reports whether a break at this place ends a loop.
func (f *finder) leavesLoop() bool {
	for i := len(f.stack) - 1; i >= 0; i-- {
		switch f.stack[i].(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			return false
		}
	}
	return false
}

// frees reports that memory is put where it is kept for its next use.
func (f *finder) frees(n *ast.AssignStmt) bool {
	to, ok := n.Lhs[0].(*ast.SelectorExpr)
	call, isCall := n.Rhs[0].(*ast.CallExpr)
	return ok && isCall && (to.Sel.Name == "free" || strings.HasSuffix(to.Sel.Name, "Free")) && f.text(call.Fun) == "append" && f.text(call.Args[0]) == f.text(to)
}

// givesBack reports a call that puts memory where it is kept for its next use: into a
// sync.Pool, or vectors, batches and selections into the lists of their context.
func (f *finder) givesBack(n *ast.ExprStmt) bool {
	call, ok := n.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	if id, ok := call.Fun.(*ast.Ident); ok {
		return f.p.Name == "exec" && id.Name == "release"
	}
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch t := strings.TrimPrefix(types.TypeString(f.p.TypesInfo.TypeOf(fn.X), nil), "*"); fn.Sel.Name {
	case "Put":
		return t == "sync.Pool"
	case "Release":
		return strings.HasSuffix(t, "/sql/expr.Ctx")
	case "putSel", "putBatch":
		return true
	}
	return false
}

// inBlock reports whether the parent is a list of statements.
func (f *finder) inBlock() bool {
	switch f.stack[len(f.stack)-1].(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	}
	return false
}

func (f *finder) binary(n *ast.BinaryExpr) {
	for i, op := range other[n.Op] {
		k := negation
		switch {
		case n.Op == token.LAND || n.Op == token.LOR:
			k = logic
		case n.Op == token.ADD || n.Op == token.SUB || n.Op == token.MUL || n.Op == token.QUO || n.Op == token.REM:
			k = arithmetic
		case isNil(f, n):
			k = errorCheck
		case i == 0 && len(other[n.Op]) == 2:
			k = boundary
		}
		if k == boundary && f.isFloat(n.X) || strings.HasPrefix(f.text(n.X), "cap(") {
			continue // whether two estimates are equal to the last bit
		}
		f.function(k, n, f.text(n.X)+" "+op.String()+" "+f.text(n.Y))
	}
}

// function replaces an expression of a basic type that is no text.
func (f *finder) function(k kind, n ast.Expr, now string) {
	tv := f.p.TypesInfo.Types[n]
	t, ok := tv.Type.Underlying().(*types.Basic)
	if !ok || tv.Value != nil || t.Info()&types.IsString != 0 {
		return
	}
	name := types.TypeString(tv.Type, func(p *types.Package) string { return p.Name() })
	if t.Kind() == types.UntypedBool {
		name = "bool"
	}
	name = strings.TrimPrefix(name, f.p.Name+".")
	f.add(k, n, now, "func() "+name+" {\nif MUTANT {\nreturn "+now+"\n}\nreturn "+f.text(n)+"\n}()")
}

func (f *finder) isFloat(e ast.Expr) bool {
	t, ok := f.p.TypesInfo.TypeOf(e).Underlying().(*types.Basic)
	return ok && t.Info()&types.IsFloat != 0
}

// isNil reports a comparison of an error with nil, whose negation any test finds.
func isNil(f *finder, n *ast.BinaryExpr) bool {
	id, ok := n.Y.(*ast.Ident)
	return ok && id.Name == "nil" && f.text(n.X) == "err"
}
