// Command uivendor makes the libraries of the console: one ES module each under
// console/ui/vendor, with their licences and SOURCES.json. npm fetches the packages of
// package-lock.json, esbuild bundles them.
//
//	go -C tools run ./uivendor
//
// What it writes is committed: neither a build nor a run of sqlots needs it.
package main
