-- Where alerts go. `definition` is JSON without what is secret; `secrets` has the rest, which no response contains, and a backup only if asked.
CREATE TABLE IF NOT EXISTS destinations [[on_cluster]]
(
    project    LowCardinality(String),
    id         String CODEC(ZSTD(1)),
    definition String CODEC(ZSTD(3)),
    secrets    String CODEC(ZSTD(1)),
    is_deleted UInt8,
    version    UInt64 CODEC(ZSTD(1))
)
ENGINE = [[everywhere(ReplacingMergeTree(version, is_deleted))]]
ORDER BY (project, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The outbox and the log of it: each message, and each attempt to deliver it. `covers` says what the receiver was told about:
-- pairs of a monitor and the time since when it fires, 0 for resolved.
CREATE TABLE IF NOT EXISTS deliveries [[on_cluster]]
(
    project        LowCardinality(String),
    destination_id String CODEC(ZSTD(1)),
    created_at     DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id             String CODEC(ZSTD(1)),
    state          LowCardinality(String),
    covers         Array(Tuple(String, UInt64)) CODEC(ZSTD(1)),
    record         String CODEC(ZSTD(3)),
    version        UInt64 CODEC(ZSTD(1))
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY (project, created_at, id)
TTL toDateTime(created_at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
