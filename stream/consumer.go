package stream

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
)

// Consumer is a reader of a stream that remembers its position.
type Consumer struct {
	Name   string          `json:"name"`
	Stream schema.StreamID `json:"stream"`
	// Seq and Ordinal are the Position after which the consumer continues.
	Seq     uint64 `json:"seq"`
	Ordinal uint32 `json:"ordinal"`
	// At is when that was said, microseconds since 1970.
	At int64 `json:"at"`
}

// Position is the checkpoint.
func (c *Consumer) Position() Position { return Position{Seq: c.Seq, Ordinal: c.Ordinal} }

// MaxConsumerName is the most bytes of a consumer's name.
const MaxConsumerName = 256

func consumerKey(name string) []byte { return append(systemKey('c'), name...) }

// FindConsumer reads a consumer; nil if it does not exist.
func FindConsumer(ctx context.Context, kv storage.Reader, name string) (*Consumer, error) {
	v, err := kv.Get(ctx, consumerKey(name), nil)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseConsumer(name, v)
}

func parseConsumer(name string, v []byte) (*Consumer, error) {
	c := &Consumer{}
	if err := json.Unmarshal(v, c); err != nil {
		return nil, corrupt(consumerKey(name), err.Error())
	}
	return c, nil
}

// LockConsumer locks a name to the end of the transaction and reads its latest
// state; nil if the consumer does not exist.
func LockConsumer(ctx context.Context, txn storage.Txn, name string) (*Consumer, error) {
	got, err := txn.Lock(ctx, [][]byte{consumerKey(name)}, storage.LockOptions{})
	if err != nil || got[0].Value == nil {
		return nil, err
	}
	return parseConsumer(name, got[0].Value)
}

// PutConsumer writes a consumer, whose name is locked.
func PutConsumer(ctx context.Context, txn storage.Txn, c *Consumer) error {
	return putJSON(ctx, txn, consumerKey(c.Name), c)
}

// DropConsumer removes a consumer, whose name is locked.
func DropConsumer(ctx context.Context, txn storage.Txn, name string) error {
	return txn.Delete(ctx, consumerKey(name))
}

// Consumers are all consumers by name.
func Consumers(ctx context.Context, kv storage.Reader) ([]Consumer, error) {
	var out []Consumer
	err := eachJSON(ctx, kv, systemKey('c'), func(_ []byte, c Consumer) { out = append(out, c) })
	return out, err
}
