package infoschema

import (
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// replicationShows are the SHOW statements about binary logs and replication,
// which sqlots does not have: empty, or 1381, as on a MySQL without them.
func replicationShows() []*show {
	events := "Log_name s64, Pos i, Event_type s64, Server_id u, End_log_pos i, Info t"
	client, replica := needs(priv.Super|priv.ReplicationClient), needs(priv.ReplicationSlave)
	return []*show{
		newShow("binary_logs", "Log_name s255, File_size i, Encrypted s3", func(*query) error { return sqlerr.NoBinaryLogging() }).checked(client),
		newShow("binary_log_status", "File s255, Position i, Binlog_Do_DB s255, Binlog_Ignore_DB s255, Executed_Gtid_Set t", nil).checked(client),
		newShow("binlog_events", events, nil).checked(replica),
		newShow("relaylog_events", events, nil).checked(replica),
		newShow("replicas", "Server_Id i, Host s60, Port i, Source_Id i, Replica_UUID s36", nil).checked(replica),
		newShow("replica_status", "Replica_IO_State s14, Source_Host s60, Source_User s16, Source_Port i, Connect_Retry i, Source_Log_File s512, Read_Source_Log_Pos i, Relay_Log_File s512, Relay_Log_Pos i, Relay_Source_Log_File s512, Replica_IO_Running s3, Replica_SQL_Running s3, Replicate_Do_DB s20, Replicate_Ignore_DB s20, Replicate_Do_Table s20, Replicate_Ignore_Table s23, Replicate_Wild_Do_Table s24, Replicate_Wild_Ignore_Table s28, Last_Errno i, Last_Error s20, Skip_Counter i, Exec_Source_Log_Pos i, Relay_Log_Space i, Until_Condition s6, Until_Log_File s512, Until_Log_Pos i, Source_SSL_Allowed s7, Source_SSL_CA_File s512, Source_SSL_CA_Path s512, Source_SSL_Cert s512, Source_SSL_Cipher s512, Source_SSL_Key s512, Seconds_Behind_Source i?, Source_SSL_Verify_Server_Cert s3, Last_IO_Errno i, Last_IO_Error s20, Last_SQL_Errno i, Last_SQL_Error s20, Replicate_Ignore_Server_Ids s512, Source_Server_Id i, Source_UUID s36, Source_Info_File s1024, SQL_Delay i, SQL_Remaining_Delay i?, Replica_SQL_Running_State s20, Source_Retry_Count i, Source_Bind s60, Last_IO_Error_Timestamp s20, Last_SQL_Error_Timestamp s20, Source_SSL_Crl s512, Source_SSL_Crlpath s512, Retrieved_Gtid_Set t, Executed_Gtid_Set t, Auto_Position i, Replicate_Rewrite_DB s24, Channel_Name s64, Source_TLS_Version s255, Source_public_key_path s512, Get_Source_public_key i, Network_Namespace s64", nil).checked(client),
		newShow("profile", "Status s30, Duration f", nil),
	}
}
