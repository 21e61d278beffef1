-- Models of calls that reported no usage, beside models without a price: their calls are missing from `cost` too.
ALTER TABLE sessions[[local]] [[on_cluster]]
    ADD COLUMN IF NOT EXISTS models_without_usage Array(LowCardinality(String)) CODEC(ZSTD(1)) AFTER unpriced_models;

ALTER TABLE sessions [[on_cluster]]
    ADD COLUMN IF NOT EXISTS models_without_usage Array(LowCardinality(String)) AFTER unpriced_models;
