-- Models of calls that reported no output tokens: `cost` contains only their input.
ALTER TABLE sessions[[local]] [[on_cluster]]
    ADD COLUMN IF NOT EXISTS models_without_output Array(LowCardinality(String)) CODEC(ZSTD(1)) AFTER models_without_usage;

ALTER TABLE sessions [[on_cluster]]
    ADD COLUMN IF NOT EXISTS models_without_output Array(LowCardinality(String)) AFTER models_without_usage;
