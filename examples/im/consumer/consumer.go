package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

const page = 30

func main() {
	dsn := flag.String("dsn", "root@tcp(127.0.0.1:4000)/example_im", "address of the server")
	queue := flag.String("queue", "user_1", "the queue to read")
	follow := flag.Bool("follow", false, "wait for more at the end")
	flag.Parse()
	db, err := sql.Open("mysql", *dsn)
	if err != nil {
		log.Fatal(err)
	}
	for {
		n, err := consume(context.Background(), db, *queue)
		if err != nil {
			log.Fatal(err)
		}
		switch {
		case n == page:
		case !*follow:
			return
		default:
			time.Sleep(200 * time.Millisecond)
		}
	}
}

// consume handles a page and says so in one transaction. A reader that dies on
// the way leaves the checkpoint where it was.
func consume(ctx context.Context, db *sql.DB, queue string) (n int, err error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return 0, err
	}
	defer func() {
		if n == 0 || err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	var seen int64
	if err := tx.QueryRowContext(ctx, "SELECT sequence_id FROM im_checkpoint_table WHERE timeline_id = ? FOR UPDATE", queue).Scan(&seen); err != nil {
		return 0, fmt.Errorf("checkpoint of %s: %w", queue, err)
	}
	rows, err := tx.QueryContext(ctx, "SELECT sequence_id, conversation, sender, text FROM im_timeline_sync_table WHERE timeline_id = ? AND sequence_id > ? ORDER BY sequence_id LIMIT ?", queue, seen, page)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var conversation, sender, text string
		if err := rows.Scan(&seen, &conversation, &sender, &text); err != nil {
			return 0, err
		}
		fmt.Printf("%s\t%s: %s\n", conversation, sender, text)
		n++
	}
	if err := rows.Err(); err != nil || n == 0 {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE im_checkpoint_table SET sequence_id = ? WHERE timeline_id = ?", seen, queue); err != nil {
		return 0, err
	}
	return n, tx.Commit()
}
