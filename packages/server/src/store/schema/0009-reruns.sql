-- What a session that was run again says about itself: the session and step that it began at, its lane, and its edit as JSON.
ALTER TABLE sessions[[local]] [[on_cluster]]
    ADD COLUMN IF NOT EXISTS parent_id String CODEC(ZSTD(1)) AFTER metadata,
    ADD COLUMN IF NOT EXISTS parent_step_id String CODEC(ZSTD(1)) AFTER parent_id,
    ADD COLUMN IF NOT EXISTS lane LowCardinality(String) AFTER parent_step_id,
    ADD COLUMN IF NOT EXISTS edit String CODEC(ZSTD(1)) AFTER lane;

ALTER TABLE sessions [[on_cluster]]
    ADD COLUMN IF NOT EXISTS parent_id String AFTER metadata,
    ADD COLUMN IF NOT EXISTS parent_step_id String AFTER parent_id,
    ADD COLUMN IF NOT EXISTS lane LowCardinality(String) AFTER parent_step_id,
    ADD COLUMN IF NOT EXISTS edit String AFTER lane;
