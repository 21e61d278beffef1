-- Traces that link to other traces, and the session that each belongs to: its own as long as none of the others arrived.
-- Derived from the steps whenever some of them arrive.
CREATE TABLE IF NOT EXISTS joined_traces [[on_cluster]]
(
    project    LowCardinality(String),
    trace_id   String CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    linked_ids Array(String) CODEC(ZSTD(1)),
    version    UInt64 CODEC(ZSTD(1))
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY (project, trace_id);
