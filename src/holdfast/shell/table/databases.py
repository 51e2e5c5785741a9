"""Databases and message queues."""

# ruff: noqa: E501 - one program a line, as in a table

_CLIENT = {
    "-h": "val",
    "-H": "val",
    "-U": "val",
    "-u": "val",
    "-p": "?val",
    "-P": "val",
    "-d": "val",
    "-D": "val",
    "--host": "val",
    "--user": "val",
    "--password": "?val",
    "--port": "val",
    "--database": "val",
    "--dbname": "val",
    "--username": "val",
}
_KAFKA = {
    "pos": "text",
    "ro": True,
    "fx": ["network"],
    "opts": {
        "--bootstrap-server": "val",
        "--zookeeper": "val",
        "--topic": "val",
        "--group": "val",
        "--broker-list": "val",
        "--entity-type": "val",
        "--entity-name": "val",
        "--command-config": "read",
        "--partitions": "val",
        "--replication-factor": "val",
        "--operation": "val",
        "--delete-config": "val",
        "--add-config": "val",
        "--config": "val",
    },
    "when": [
        [
            "--create|--alter|--add|--reset-offsets|--execute|--election-type",
            {"ro": False, "risk": "caution", "why": "it changes the message broker", "fx": ["external_state:queue"]},
        ],
        [
            "--delete|--remove|--delete-config|--delete-offsets",
            {
                "ro": False,
                "risk": "dangerous",
                "why": "it deletes from the message broker",
                "fx": ["external_state:queue"],
            },
        ],
    ],
}

TABLE = {
    "psql|pgcli|cockroach-sql|vsql|gsql": {"pos": "val", "fx": ["network:database"], "opts": {**_CLIENT, "-c": "sql", "--command": "sql", "-f": "sqlfile", "--file": "sqlfile", "-o": "write", "--output": "write", "-v": "val", "--set": "val", "-F": "val", "-R": "val", "-L": "write", "-P": "val"}, "handler": "sql_client",
                                       "when": [["-l|--list|-V|--version", {"ro": True, "fx": []}]]},
    "mysql|mariadb|mycli|mysqlsh|tidb|litecli|clickhouse-client|clickhouse|clickhouse-local|duckdb|sqlcmd|tsql|isql|osql|bcp|sqlplus|sqlcl|db2|hive|beeline|impala-shell|presto|trino|spark-sql|cqlsh|ksql|influx|questdb|snowsql|bsql|usql|sql|rqlite|dolt|isql-fb|ij|sql-cli|mssql-cli|athenacli": {
        "pos": "val", "fx": ["network:database"], "opts": {**_CLIENT, "-e": "sql", "--execute": "sql", "-q": "sql", "--query": "sql", "-Q": "sql", "-c": "sql", "-f": "sqlfile", "-i": "sqlfile", "--file": "sqlfile", "--tee": "write", "-o": "write", "--output": "write", "-S": "val", "-s": "?val", "-execute": "sql"}, "handler": "sql_client"},
    "mysql|mariadb": {"pos": "val", "fx": ["network:database"], "opts": {**_CLIENT, "-e": "sql", "--execute": "sql", "--tee": "write", "-S": "val", "--pager": "shell", "--init-command": "sql", "--socket": "val", "--defaults-file": "read", "--defaults-extra-file": "read", "--ssl-ca": "read"}, "handler": "sql_client"},
    "sqlite3|sqlite|litecli|sqlcipher|duckdb": {"pos": ["db", "sql"], "ro": True, "style": "dash", "opts": {"-cmd": "sql", "-init": "sqlfile", "-separator": "val", "-newline": "val", "-nullvalue": "val", "-c": "sql", "-s": "sql"}, "handler": "sql_client", "target": "file"},
    "mongosh|mongo": {"pos": "val", "fx": ["network:database"], "opts": {"--eval": "sql", "--host": "val", "--port": "val", "-u": "val", "-p": "?val", "--username": "val", "--password": "?val", "--authenticationDatabase": "val", "-f": "sqlfile", "--file": "sqlfile", "--db": "val"}, "handler": "sql_client"},
    "redis-cli|valkey-cli|keydb-cli|iredis|dragonfly-cli": {"pos": "redis", "fx": ["network:database"], "opts": {"-h": "val", "-p": "val", "-a": "val", "-n": "val", "-u": "val", "--user": "val", "--pass": "val", "-s": "val", "-r": "val", "-i": "val", "--eval": "script", "-x": "?val", "--pattern": "val", "--rdb": "write", "-d": "val"}, "stop": True, "handler": "redis"},
    "memcached-tool|memcstat|memcflush|memccat|memcrm|telnet-memcached": {"pos": "text", "risk": "caution", "why": "it talks to a cache", "fx": ["network"], "when": [["arg~^flush", {"risk": "dangerous", "why": "it empties the cache"}]]},
    "memcflush|memcrm": {"pos": "text", "risk": "dangerous", "why": "it empties the cache"},
    "pg_dump|pg_dumpall|mysqldump|mariadb-dump|mongoexport|mongodump|sqlite3-dump|pg_basebackup|mysqlpump|mydumper|cockroach-dump|influxd-dump|expdp|exp|neo4j-dump|dynamodump|pg_receivewal|redis-dump": {
        "pos": "text", "fx": ["network:database"], "risk": "caution", "why": "it copies a database", "opts": {**_CLIENT, "-f": "write", "--file": "write", "-o": "write", "--out": "write", "-r": "write", "--result-file": "write", "-t": "val", "-n": "val", "-T": "val", "-F": "val", "-c": "val", "-q": "val", "--archive": "?val"}, "out": "secret_db"},
    "pg_restore|mysqlimport|mongorestore|mongoimport|impdp|imp|pgloader|neo4j-load|psql-restore|myloader": {
        "pos": "read", "fx": ["external_state:database"], "risk": "caution", "why": "it changes a database", "opts": {**_CLIENT, "-f": "write", "-t": "val", "-n": "val", "-c": "val", "--collection": "val", "--file": "read", "-F": "val", "-j": "val"},
        "when": [["--clean|--drop|--delete", {"risk": "dangerous", "why": "it drops what is there before restoring"}], ["-l|--list", {"ro": True, "risk": "safe", "fx": [], "only": True}]]},
    "createdb|createuser|createlang|vacuumdb|reindexdb|clusterdb|pg_ctl|pg_ctlcluster|pg_createcluster|initdb|pg_upgrade|pg_rewind|pg_archivecleanup|mysql_install_db|mysqld|mysqld_safe|mariadbd|postgres|mongod|mongos|redis-server|memcached|etcd|cassandra|neo4j|influxd|clickhouse-server|mysql_upgrade|mysqlcheck|myisamchk|aria_chk|mysql_secure_installation|pgbench|mysqlslap|redis-benchmark|sysbench|nodetool|cassandra-stress|sstabletool|pt-table-sync|pt-online-schema-change|gh-ost|pg_repack": {
        "pos": "text", "fx": ["external_state:database"], "risk": "caution", "why": "it changes or starts a database", "opts": {**_CLIENT, "-D": "val"}, "when": [["arg0~^(?:status|version|info|ring|tpstats|cfstats|describecluster|gossipinfo)$", {"ro": True, "risk": "safe", "fx": [], "only": True}]]},
    "dropdb|dropuser|droplang|pg_dropcluster|pg_resetwal|pg_resetxlog|mysql-drop": {"pos": "text", "fx": ["external_state:database"], "risk": "dangerous", "why": "it deletes a database or a user", "opts": _CLIENT},
    "mysqladmin|mariadb-admin": {"pos": "text", "fx": ["external_state:database"], "risk": "caution", "why": "it manages a database server", "opts": _CLIENT, "when": [["arg~^(?:status|ping|version|variables|processlist|extended-status)$", {"ro": True, "risk": "safe", "fx": ["network"], "only": True}], ["arg~^(?:drop|shutdown|kill|password)$", {"risk": "dangerous", "why": "it deletes a database or stops the server"}]]},
    "pg_isready|mysqlshow|pg_config|mysql_config|mysqlbinlog|pg_controldata|pg_waldump|pg_lsclusters|pg_verifybackup|redis-check-aof|redis-check-rdb|mongostat|mongotop|bsondump|mytop|innotop|pg_top|pg_activity|db_stat|pt-query-digest|mysqltuner|mysqlreport": {"ro": True, "pos": "text", "opts": _CLIENT, "fx": ["network"]},
    "etcdctl|zkCli.sh|zkcli|consul-kv": {"verbs": "database", "opts": {"--endpoints": "val", "-server": "val", "--cert": "val", "--key": "val", "--cacert": "val"}, "destroys": "del rmr deleteall compact defrag remove delete", "reads": "get ls stat endpoint member watch snapshot"},
    "consul": {"verbs": "service registry", "destroys": "delete leave force-leave deregister destroy remove", "reads": "members catalog info monitor"},
    "kafka-topics|kafka-topics.sh|kafka-consumer-groups|kafka-consumer-groups.sh|kafka-acls|kafka-acls.sh|kafka-configs|kafka-configs.sh|kafka-reassign-partitions|kafka-reassign-partitions.sh|kafka-broker-api-versions|kafka-broker-api-versions.sh|kafka-log-dirs|kafka-log-dirs.sh|kafka-leader-election|kafka-leader-election.sh|kafka-get-offsets|kafka-get-offsets.sh|kafka-metadata-quorum|kafka-cluster|kafka-features|kafka-transactions": _KAFKA,
    "kafka-delete-records|kafka-delete-records.sh|kafka-streams-application-reset|kafka-streams-application-reset.sh": {"pos": "text", "risk": "dangerous", "why": "it deletes records from the message broker", "fx": ["external_state:queue"], "opts": {"--offset-json-file": "read", "--bootstrap-server": "val"}},
    "kafka-console-consumer|kafka-console-consumer.sh|kcat|kafkacat": {"ro": True, "pos": "text", "fx": ["network"], "opts": {"--bootstrap-server": "val", "--topic": "val", "-b": "val", "-t": "val", "-o": "val", "-c": "val"}, "when": [["-P|--delete", {"ro": False, "risk": "caution", "why": "it sends messages"}]]},
    "kafka-console-producer|kafka-console-producer.sh|kafka-producer-perf-test|kafka-server-start|kafka-server-start.sh|kafka-server-stop|kafka-server-stop.sh|kafka-storage|zookeeper-server-start|zookeeper-server-stop": {"pos": "text", "risk": "caution", "why": "it changes the message broker", "fx": ["external_state:queue"]},
    "rabbitmqctl|rabbitmqadmin|rabbitmq-queues|rabbitmq-diagnostics|rabbitmq-plugins|rabbitmq-upgrade|rabbitmq-streams": {
        "verbs": "queue", "opts": {"-n": "val", "-p": "val", "-q": "?val", "-u": "val", "-H": "val", "--vhost": "val", "-V": "val"}, "destroys": "clear_permissions clear_password purge_queue force_reset reset forget_cluster_node stop_app close_connection delete_queue", "reads": "cluster_status status list_users ping environment report"},
    "nats|nsc|jetstream": {"verbs": "queue", "opts": {"-s": "val", "--server": "val", "--context": "val"}, "destroys": "rm del purge delete", "reads": "sub info ls report account"},
    "mosquitto_sub|mosquitto_pub|amqp-consume|amqp-publish|amqp-get|stomp|nsqadmin": {"pos": "text", "risk": "caution", "why": "it talks to a message broker", "fx": ["network"], "opts": {"-h": "val", "-t": "val", "-m": "val", "-f": "upload", "-u": "val", "-P": "val"}},
    "prisma|knex|sequelize|sequelize-cli|typeorm|drizzle-kit|alembic|flyway|liquibase|goose|migrate|dbmate|sqlx|diesel|sqitch|atlas|phinx|doctrine|yoyo|ecto|skeema|sqldef|mysqldef|psqldef|bytebase|node-pg-migrate|umzug|golang-migrate|refinery|sea-orm-cli|schemacrawler|hasura|graphile-migrate|postgrator|rambler|bun-migrate": {
        "pos": "text", "risk": "caution", "why": "it changes a database by the project's migrations", "fx": ["external_state:database"], "unknown": "it runs the project's migrations", "opts": {"--url": "val", "--database": "val", "-path": "val", "-database": "val", "-d": "val"},
        "when": [["arg~^(?:status|current|history|heads|show|validate|info|version|list|format|generate|studio|check|diff|branches)$", {"fx": [], "risk": "caution", "only": True}],
                 ["arg~^(?:reset|drop|clean|down|undo|rollback|downgrade|force|fresh|wipe|drop-all|dropAll|drop-all-tables|db:drop|db:migrate:undo|db:migrate:undo:all|migrate:rollback|revert|redo|migrate:fresh|migrate:reset|schema:drop|nuke)$", {"risk": "dangerous", "why": "it undoes or drops tables with their data"}],
                 ["--force-reset|--accept-data-loss", {"risk": "dangerous", "why": "it throws data away"}]]},
    "ldapsearch|ldapwhoami|ldapcompare": {"ro": True, "pos": "text", "fx": ["network"], "opts": {"-H": "val", "-b": "val", "-D": "val", "-w": "val", "-x": "?val", "-f": "read", "-y": "read", "-s": "val"}},
    "ldapadd|ldapmodify|ldappasswd|slapadd|slappasswd": {"pos": "text", "risk": "caution", "why": "it changes the directory", "fx": ["external_state:directory"], "opts": {"-H": "val", "-D": "val", "-w": "val", "-f": "read", "-y": "read"}},
    "ldapdelete|ldapmodrdn": {"pos": "text", "risk": "dangerous", "why": "it deletes from the directory", "fx": ["external_state:directory"], "opts": {"-H": "val", "-D": "val", "-w": "val", "-f": "read"}},
}  # fmt: skip
