-- Tags that people added to sessions or removed from them. Unlike the tags in `sessions`, these are not derived from steps.
CREATE TABLE IF NOT EXISTS session_tags [[on_cluster]]
(
    project    LowCardinality(String),
    session_id String CODEC(ZSTD(1)),
    tag        String CODEC(ZSTD(1)),
    is_added   UInt8,
    version    UInt64 CODEC(ZSTD(1))
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY (project, session_id, tag)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
