-- The scores that count for a session, one of each name: a number (yes is 1), a word, or both. Scores arrive as spans and log
-- records, and this is computed from them.
ALTER TABLE sessions[[local]] [[on_cluster]]
    ADD COLUMN IF NOT EXISTS score_names Array(LowCardinality(String)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS score_numbers Array(Nullable(Float64)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS score_words Array(LowCardinality(String)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS scores String CODEC(ZSTD(3));

ALTER TABLE sessions [[on_cluster]]
    ADD COLUMN IF NOT EXISTS score_names Array(LowCardinality(String)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS score_numbers Array(Nullable(Float64)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS score_words Array(LowCardinality(String)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS scores String CODEC(ZSTD(3));
