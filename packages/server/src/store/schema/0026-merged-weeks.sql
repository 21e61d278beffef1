-- Whoever reads a session opens every part of `steps`, and whoever searches every part of `words`. An hour after its last insert a
-- week is merged into one part each. A week that is written to stays as it is.
ALTER TABLE steps[[local]] [[on_cluster]]
    MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE words[[local]] [[on_cluster]]
    MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
