-- The version of the program that a session ran: `service.version`.
ALTER TABLE sessions[[local]] [[on_cluster]]
    ADD COLUMN IF NOT EXISTS service_version LowCardinality(String) AFTER environment;

ALTER TABLE sessions [[on_cluster]]
    ADD COLUMN IF NOT EXISTS service_version LowCardinality(String) AFTER environment;

-- What went wrong in each session that has ended, computed from its steps. `stamp` tells which steps these were.
CREATE TABLE IF NOT EXISTS session_findings[[local]] [[on_cluster]]
(
    project           LowCardinality(String),
    session_id        String CODEC(ZSTD(1)),
    version           UInt64 CODEC(ZSTD(1)),
    is_deleted        UInt8,
    stamp             String CODEC(ZSTD(1)),
    diagnosis_version UInt32,
    started_at        DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    name              String CODEC(ZSTD(1)),
    user_id           String CODEC(ZSTD(1)),
    end_state         LowCardinality(String),
    service_version   LowCardinality(String),
    duration_ms       Nullable(Float64) CODEC(ZSTD(1)),
    cost              Nullable(Float64) CODEC(ZSTD(1)),
    step_count        UInt32 CODEC(ZSTD(1)),
    kinds             Array(LowCardinality(String)) CODEC(ZSTD(1)),
    suspect_names     Array(String) CODEC(ZSTD(1)),
    suspect_kinds     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    suspect_steps     Array(String) CODEC(ZSTD(1)),
    sentence          String CODEC(ZSTD(3)),
    issue_id          String CODEC(ZSTD(1)),
    issue_kind        LowCardinality(String),
    issue_title       String CODEC(ZSTD(3)),
    nodes             Array(LowCardinality(String)) CODEC(ZSTD(1)),
    findings          String CODEC(ZSTD(3))
)
ENGINE = [[sharded(ReplacingMergeTree(version, is_deleted))]]
ORDER BY (project, session_id);

[[distribute(session_findings, sipHash64(project, session_id))]];

-- What people decided about an issue. Everything else about it is counted from session_findings.
CREATE TABLE IF NOT EXISTS issues [[on_cluster]]
(
    project          LowCardinality(String),
    id               String CODEC(ZSTD(1)),
    state            LowCardinality(String),
    resolved_version String CODEC(ZSTD(1)),
    decided_at       DateTime64(3, 'UTC'),
    ignored_until    UInt64,
    note             String CODEC(ZSTD(3)),
    version          UInt64 CODEC(ZSTD(1))
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY (project, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
