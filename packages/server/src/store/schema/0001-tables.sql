-- One template for a single node and for a cluster; migrate.ts fills in what differs:
--   [[local]]            nothing, or _local: the table on each shard
--   [[on_cluster]]       nothing, or ON CLUSTER name
--   [[sharded(E)]]       the engine E, or its replicated form, one copy of the data per shard
--   [[everywhere(E)]]    the engine E, or its replicated form, the same data on every node
--   [[distribute(t, k)]] nothing, or the Distributed table t over t_local, sharded by k
--   [[search_text]]      the text that full-text search looks at

-- One row for each thing an agent did, as it arrived and as it was read. Append-only: a start event, a richer copy of the
-- same span and a re-derived reading are rows of their own, and the highest version counts.
CREATE TABLE IF NOT EXISTS steps[[local]] [[on_cluster]]
(
    project            LowCardinality(String),
    session_id         String CODEC(ZSTD(1)),
    step_id            String CODEC(ZSTD(1)),
    parent_id          String CODEC(ZSTD(1)),
    version            UInt64 CODEC(ZSTD(1)),
    segment            UInt64 CODEC(Delta(8), ZSTD(1)),
    received_at        DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    started_at         DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    ended_at           Nullable(DateTime64(9, 'UTC')) CODEC(Delta(8), ZSTD(1)),
    kind               LowCardinality(String),
    name               String CODEC(ZSTD(1)),
    dialect            LowCardinality(String),
    status             LowCardinality(String),
    error_type         LowCardinality(String),
    error_message      String CODEC(ZSTD(1)),
    model              LowCardinality(String),
    provider           LowCardinality(String),
    tool               LowCardinality(String),
    agent              LowCardinality(String),
    effect             LowCardinality(String),
    response_id        String CODEC(ZSTD(1)),
    usage              Map(LowCardinality(String), UInt64) CODEC(ZSTD(1)),
    cost               Nullable(Float64) CODEC(ZSTD(1)),
    cost_source        LowCardinality(String),
    first_token_ms     Nullable(Float64) CODEC(ZSTD(1)),
    input_preview      String CODEC(ZSTD(3)),
    output_preview     String CODEC(ZSTD(3)),
    outline            String CODEC(ZSTD(1)),
    normalizer_version UInt16,
    span_name          String CODEC(ZSTD(1)),
    span_kind          UInt8,
    status_code        UInt8,
    status_message     String CODEC(ZSTD(1)),
    scope_name         LowCardinality(String),
    scope_version      LowCardinality(String),
    attributes         String CODEC(ZSTD(3)),
    events             String CODEC(ZSTD(3)),
    links              String CODEC(ZSTD(1)),
    resource           String CODEC(ZSTD(1)),
    INDEX segment_index segment TYPE minmax GRANULARITY 1,
    INDEX text_index [[search_text]] TYPE text(tokenizer = 'splitByNonAlpha')
)
ENGINE = [[sharded(ReplacingMergeTree(version))]]
PARTITION BY toMonday(received_at)
ORDER BY (project, session_id, started_at, step_id)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, materialize_skip_indexes_on_merge = 1;

[[distribute(steps, sipHash64(project, session_id))]];

-- One row for each log record that belongs to a session.
CREATE TABLE IF NOT EXISTS logs[[local]] [[on_cluster]]
(
    project       LowCardinality(String),
    session_id    String CODEC(ZSTD(1)),
    step_id       String CODEC(ZSTD(1)),
    log_id        String CODEC(ZSTD(1)),
    segment       UInt64 CODEC(Delta(8), ZSTD(1)),
    received_at   DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    logged_at     DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    severity      LowCardinality(String),
    name          LowCardinality(String),
    outline       String CODEC(ZSTD(1)),
    body          String CODEC(ZSTD(3)),
    attributes    String CODEC(ZSTD(3)),
    resource      String CODEC(ZSTD(1)),
    scope_name    LowCardinality(String),
    scope_version LowCardinality(String),
    INDEX segment_index segment TYPE minmax GRANULARITY 1
)
ENGINE = [[sharded(ReplacingMergeTree(received_at))]]
PARTITION BY toMonday(received_at)
ORDER BY (project, session_id, logged_at, log_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480;

[[distribute(logs, sipHash64(project, session_id))]];

-- What lists and statistics read: one row a session, computed from its steps whenever some of them arrived. `bucket`
-- counts hours backwards, so that the newest sessions come first in the order of the table. Small blocks, since a page of a
-- list in another order is a row here and a row there, and a block is unpacked whole for each.
CREATE TABLE IF NOT EXISTS sessions[[local]] [[on_cluster]]
(
    project          LowCardinality(String),
    bucket           UInt32 CODEC(Delta(4), ZSTD(1)),
    session_id       String CODEC(ZSTD(1)),
    version          UInt64 CODEC(ZSTD(1)),
    is_deleted       UInt8,
    started_at       DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    ended_at         Nullable(DateTime64(9, 'UTC')) CODEC(Delta(8), ZSTD(1)),
    last_heard_at    DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    is_open          UInt8,
    settled_state    LowCardinality(String),
    end_state_reason String CODEC(ZSTD(1)),
    name             String CODEC(ZSTD(1)),
    input_preview    String CODEC(ZSTD(3)),
    tags             Array(LowCardinality(String)) CODEC(ZSTD(1)),
    usage            Map(LowCardinality(String), UInt64) CODEC(ZSTD(1)),
    cost             Nullable(Float64) CODEC(ZSTD(1)),
    unpriced_models  Array(LowCardinality(String)) CODEC(ZSTD(1)),
    step_count       UInt32 CODEC(ZSTD(1)),
    llm_call_count   UInt32 CODEC(ZSTD(1)),
    action_count     UInt32 CODEC(ZSTD(1)),
    error_count      UInt32 CODEC(ZSTD(1)),
    models           Array(LowCardinality(String)) CODEC(ZSTD(1)),
    agents           Array(LowCardinality(String)) CODEC(ZSTD(1)),
    tools            Array(LowCardinality(String)) CODEC(ZSTD(1)),
    user_id          String CODEC(ZSTD(1)),
    thread_id        String CODEC(ZSTD(1)),
    environment      LowCardinality(String),
    test_file        LowCardinality(String),
    test_suite       LowCardinality(String),
    test_name        LowCardinality(String),
    test_attempt     Nullable(UInt32),
    test_variant     String CODEC(ZSTD(1)),
    test_run_id      String CODEC(ZSTD(1)),
    branch           LowCardinality(String),
    commit           LowCardinality(String),
    metadata         String CODEC(ZSTD(1)),
    demo             UInt8,
    error_types      Array(LowCardinality(String)) CODEC(ZSTD(1)),
    error_messages   Array(String) CODEC(ZSTD(1)),
    error_prints     Array(String) CODEC(ZSTD(1)),
    call_models      Array(LowCardinality(String)) CODEC(ZSTD(1)),
    call_costs       Array(Nullable(Float64)) CODEC(ZSTD(1)),
    call_inputs      Array(Nullable(UInt64)) CODEC(ZSTD(1)),
    call_outputs     Array(Nullable(UInt64)) CODEC(ZSTD(1)),
    call_durations   Array(Nullable(Float32)) CODEC(ZSTD(1)),
    call_failed      Array(UInt8) CODEC(ZSTD(1)),
    action_names     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    action_durations Array(Nullable(Float32)) CODEC(ZSTD(1)),
    action_failed    Array(UInt8) CODEC(ZSTD(1)),
    INDEX session_index session_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = [[sharded(ReplacingMergeTree(version, is_deleted))]]
ORDER BY (project, bucket, session_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, min_compress_block_size = 16384, max_compress_block_size = 65536;

[[distribute(sessions, sipHash64(project, session_id))]];

-- Calls that two instrumentations reported in two sessions: the session named here does not count its copy.
CREATE TABLE IF NOT EXISTS duplicate_calls[[local]] [[on_cluster]]
(
    project         LowCardinality(String),
    session_id      String,
    step_id         String,
    response_id     String,
    kept_session_id String,
    is_duplicate    UInt8,
    version         UInt64
)
ENGINE = [[sharded(ReplacingMergeTree(version))]]
ORDER BY (project, session_id, step_id);

[[distribute(duplicate_calls, sipHash64(project, session_id))]];

CREATE TABLE IF NOT EXISTS projects [[on_cluster]]
(
    id              String,
    name            String,
    created_at      DateTime64(3, 'UTC'),
    retention_days  Nullable(UInt32),
    price_overrides String,
    price_revision  UInt32,
    version         UInt64,
    is_deleted      UInt8
)
ENGINE = [[everywhere(ReplacingMergeTree(version, is_deleted))]]
ORDER BY id;

CREATE TABLE IF NOT EXISTS keys [[on_cluster]]
(
    id         String,
    project    String,
    name       String,
    hash       String,
    hint       String,
    scopes     Array(LowCardinality(String)),
    created_at DateTime64(3, 'UTC'),
    revoked_at Nullable(DateTime64(3, 'UTC')),
    version    UInt64
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY id;
