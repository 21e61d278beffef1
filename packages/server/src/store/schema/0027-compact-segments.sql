-- A segment of the log becomes a part with one file for all columns: with a file or three for each, creating and buffering them
-- took an eighth of the time of an insert. What several segments were merged into has a file for each column, as before.
ALTER TABLE steps[[local]] [[on_cluster]]
    MODIFY SETTING min_bytes_for_wide_part = 134217728, merge_selector_base = 10;

-- With 2.5 (0024), a session was merged six times in half a minute of load, and 200 files were created each time.
ALTER TABLE sessions[[local]] [[on_cluster]]
    MODIFY SETTING min_bytes_for_wide_part = 67108864, merge_selector_base = 4;
