-- Lists and statistics read these columns of every session. They are stored in small blocks, and ZSTD takes longer to begin
-- one than to unpack it: LZ4 needs a half of the time for 1,000,000 sessions, and 30 bytes more for each. Parts that are there
-- already change when they are merged.
ALTER TABLE sessions[[local]] [[on_cluster]]
    MODIFY COLUMN session_id CODEC(LZ4),
    MODIFY COLUMN version CODEC(LZ4),
    MODIFY COLUMN started_at CODEC(Delta(8), LZ4),
    MODIFY COLUMN ended_at CODEC(Delta(8), LZ4),
    MODIFY COLUMN last_heard_at CODEC(Delta(8), LZ4),
    MODIFY COLUMN tags CODEC(LZ4),
    MODIFY COLUMN usage CODEC(LZ4),
    MODIFY COLUMN cost CODEC(LZ4),
    MODIFY COLUMN unpriced_models CODEC(LZ4),
    MODIFY COLUMN step_count CODEC(LZ4),
    MODIFY COLUMN error_count CODEC(LZ4),
    MODIFY COLUMN models CODEC(LZ4),
    MODIFY COLUMN agents CODEC(LZ4),
    MODIFY COLUMN tools CODEC(LZ4),
    MODIFY COLUMN parent_id CODEC(LZ4),
    MODIFY COLUMN score_names CODEC(LZ4),
    MODIFY COLUMN score_numbers CODEC(LZ4),
    MODIFY COLUMN score_words CODEC(LZ4);
