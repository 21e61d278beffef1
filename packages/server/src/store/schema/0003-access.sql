-- Who did what to the server. A retried insert writes the same (at, id), and counts once.
CREATE TABLE IF NOT EXISTS audit [[on_cluster]]
(
    at          DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id          String CODEC(ZSTD(1)),
    action      LowCardinality(String),
    project     LowCardinality(String),
    caller_kind LowCardinality(String),
    caller_id   String CODEC(ZSTD(1)),
    caller_name String CODEC(ZSTD(1)),
    address     String CODEC(ZSTD(1)),
    subject     String CODEC(ZSTD(1)),
    detail      String CODEC(ZSTD(1))
)
ENGINE = [[everywhere(ReplacingMergeTree)]]
PARTITION BY toYYYYMM(at)
ORDER BY (at, id)
TTL toDateTime(at) + INTERVAL 400 DAY
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- Logins of people. `is_ended` is the version: an ended login stays ended, whatever the clock says.
CREATE TABLE IF NOT EXISTS logins [[on_cluster]]
(
    id         String,
    created_at DateTime64(3, 'UTC'),
    expires_at DateTime64(3, 'UTC'),
    address    String,
    device     String,
    proof      String,
    is_ended   UInt8
)
ENGINE = [[everywhere(ReplacingMergeTree(is_ended))]]
ORDER BY id
TTL toDateTime(expires_at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- When a key or a login was last used, to the minute.
CREATE TABLE IF NOT EXISTS last_uses [[on_cluster]]
(
    id      String,
    used_at DateTime64(3, 'UTC')
)
ENGINE = [[everywhere(ReplacingMergeTree(used_at))]]
ORDER BY id;

ALTER TABLE keys [[on_cluster]]
    ADD COLUMN IF NOT EXISTS expires_at Nullable(DateTime64(3, 'UTC')) AFTER created_at;
