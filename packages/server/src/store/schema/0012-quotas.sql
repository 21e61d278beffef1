-- How much a project may send a day; NULL for as much as it likes.
ALTER TABLE projects [[on_cluster]] ADD COLUMN IF NOT EXISTS daily_spans Nullable(UInt64) AFTER retention_days;
ALTER TABLE projects [[on_cluster]] ADD COLUMN IF NOT EXISTS daily_bytes Nullable(UInt64) AFTER daily_spans;

-- What each server received for a project on a day (UTC). A server that restarts begins another row; the sum counts.
CREATE TABLE IF NOT EXISTS daily_usage [[on_cluster]]
(
    project String,
    day     Date,
    node    String,
    spans   UInt64,
    bytes   UInt64
)
ENGINE = [[everywhere(ReplacingMergeTree(bytes))]]
ORDER BY (project, day, node)
TTL day + INTERVAL 40 DAY;
