-- Which server makes an attempt to deliver a message: one row for each server that wants to, so that two of them see each other.
CREATE TABLE IF NOT EXISTS delivery_claims [[on_cluster]]
(
    delivery_id String CODEC(ZSTD(1)),
    attempt     UInt16,
    node_id     String CODEC(ZSTD(1)),
    at          DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    is_released UInt8,
    version     UInt64 CODEC(ZSTD(1))
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY (delivery_id, attempt, node_id)
TTL toDateTime(at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
