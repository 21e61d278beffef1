-- The servers that share this store. Each writes a row every few seconds, with the time of the store, so that their own clocks
-- do not matter. An embedded store has one server and no rows.
CREATE TABLE IF NOT EXISTS nodes [[on_cluster]]
(
    id         String,
    url        String,
    started_at DateTime64(3, 'UTC'),
    seen_at    DateTime64(3, 'UTC'),
    is_gone    UInt8,
    version    UInt64
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY id
TTL toDateTime(seen_at) + INTERVAL 7 DAY;
