// Package docs holds the documentation, for the page Help of the web console.
package docs
