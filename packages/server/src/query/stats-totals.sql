-- One row for each bucket and one total, in one pass.
SELECT
    formatDateTime(bucket_start, '%Y-%m-%dT%H:%i:%SZ', 'UTC') AS key,
    grouping(bucket_start) AS is_total,
    count() AS total,
    countIf(state = 'success') AS success,
    countIf(state = 'fail') AS fail,
    countIf(state = 'indeterminate') AS indeterminate,
    countIf(state = 'running') AS running,
    countIf(state = 'lost') AS lost,
    sum(cost) AS cost,
    sumMap(usage) AS usage,
    arrayMap(value -> if(isNaN(value), NULL, value), quantiles(0.5, 0.95, 0.99)(duration)) AS durations,
    groupUniqArrayArray(100)(unpriced_models) AS unpriced_models,
    countIf(score_number IS NOT NULL OR score_word != '') AS scored,
    avg(score_number) AS score_mean,
    sumMapIf(map(score_word, toUInt64(1)), score_word != '') AS score_words
FROM
(
    SELECT started_at, cost, usage, unpriced_models, [[state]] AS state, [[duration]] AS duration,
        [[score_number]] AS score_number, [[score_word]] AS score_word
    FROM sessions FINAL
    WHERE [[conditions]]
)
GROUP BY [[bucket_start]] AS bucket_start WITH ROLLUP
ORDER BY is_total DESC, key
