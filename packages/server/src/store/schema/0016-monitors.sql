-- What people want to be told about, as JSON.
CREATE TABLE IF NOT EXISTS monitors [[on_cluster]]
(
    project    LowCardinality(String),
    id         String CODEC(ZSTD(1)),
    definition String CODEC(ZSTD(3)),
    is_deleted UInt8,
    version    UInt64 CODEC(ZSTD(1))
)
ENGINE = [[everywhere(ReplacingMergeTree(version, is_deleted))]]
ORDER BY (project, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The state of each monitor, so that a restart or another node goes on from it.
CREATE TABLE IF NOT EXISTS monitor_states [[on_cluster]]
(
    project    LowCardinality(String),
    id         String CODEC(ZSTD(1)),
    status     String CODEC(ZSTD(3)),
    version    UInt64 CODEC(ZSTD(1))
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY (project, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The sessions that broke a rule, and the step that shows it. A session that no longer breaks it has is_broken = 0.
CREATE TABLE IF NOT EXISTS rule_results[[local]] [[on_cluster]]
(
    project    LowCardinality(String),
    monitor_id String CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    at         DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    is_broken  UInt8,
    step_id    String CODEC(ZSTD(1)),
    message    String CODEC(ZSTD(3)),
    version    UInt64 CODEC(ZSTD(1))
)
ENGINE = [[sharded(ReplacingMergeTree(version))]]
ORDER BY (project, monitor_id, session_id);

[[distribute(rule_results, sipHash64(project, session_id))]];
