// Command consumer reads a queue of example_im page by page and prints what it
// finds. Any number may run on one queue: the checkpoint's row is locked while
// a page is worked on, and each message is handled by one of them.
package main
