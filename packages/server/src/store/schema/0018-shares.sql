-- Links that show one session to people without a login. Only a hash of the link's token is stored.
CREATE TABLE IF NOT EXISTS shares [[on_cluster]]
(
    id          String,
    project     LowCardinality(String),
    session_id  String,
    hash        String,
    has_content UInt8,
    created_by  String,
    created_at  DateTime64(3, 'UTC'),
    expires_at  DateTime64(3, 'UTC'),
    revoked_at  Nullable(DateTime64(3, 'UTC')),
    version     UInt64
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY id
TTL toDateTime(expires_at) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- How often each server saw a link being opened, and when it last did.
CREATE TABLE IF NOT EXISTS share_opens [[on_cluster]]
(
    share_id  String,
    node      String,
    opens     UInt64,
    opened_at DateTime64(3, 'UTC')
)
ENGINE = [[everywhere(ReplacingMergeTree(opens))]]
ORDER BY (share_id, node)
TTL toDateTime(opened_at) + INTERVAL 800 DAY;
