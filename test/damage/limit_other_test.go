//go:build !linux

package damage

func limitAddressSpace() {}
