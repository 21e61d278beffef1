-- The words of a session, so that a search finds it by them: one row for each session and batch of steps that the words were
-- collected from (word-builder.ts). Derived from `steps`. A row twice does no harm. `bucket` is as in `sessions`, of the latest
-- step of the batch: never earlier than the start of the session.
CREATE TABLE IF NOT EXISTS words[[local]] [[on_cluster]]
(
    project     LowCardinality(String),
    bucket      UInt32 CODEC(Delta(4), ZSTD(1)),
    session_id  String CODEC(ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    batch       UInt64 CODEC(ZSTD(1)),
    words       Array(String) CODEC(ZSTD(1)),
    INDEX words_index words TYPE text(tokenizer = 'array')
)
ENGINE = [[sharded(MergeTree)]]
PARTITION BY toMonday(received_at)
ORDER BY (project, bucket, session_id)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480;

[[distribute(words, sipHash64(project, session_id))]];

-- How far the words of new steps are built: of each range of segment ids (each server has its own), the last segment.
CREATE TABLE IF NOT EXISTS word_marks [[on_cluster]]
(
    range   UInt32,
    segment UInt64
)
ENGINE = [[everywhere(ReplacingMergeTree(segment))]]
ORDER BY range
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- How far the words of steps from before this table are built, week by week backwards: all that were received before `before`
-- are missing, except in its last week those up to `session_id` of `project`. WordMarks writes the first row.
CREATE TABLE IF NOT EXISTS word_backlog [[on_cluster]]
(
    id         UInt8,
    before     DateTime64(3, 'UTC'),
    project    String,
    session_id String,
    version    UInt64
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
