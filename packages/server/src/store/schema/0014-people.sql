-- People who log in with OpenID Connect. The id is derived from issuer and subject, so that two servers write the same row.
-- `roles` is JSON: a role for each project, or for all of them ("*").
CREATE TABLE IF NOT EXISTS people [[on_cluster]]
(
    id            String,
    issuer        String,
    subject       String,
    email         String,
    name          String,
    roles         String,
    is_disabled   UInt8,
    created_at    DateTime64(3, 'UTC'),
    last_login_at DateTime64(3, 'UTC'),
    version       UInt64
)
ENGINE = [[everywhere(ReplacingMergeTree(version))]]
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Empty for a login with the password.
ALTER TABLE logins [[on_cluster]] ADD COLUMN IF NOT EXISTS person_id String AFTER device;
