package docs

import "embed"

// Files are the pages of this folder.
//
//go:embed *.md search/*.md decisions/*.md
var Files embed.FS
