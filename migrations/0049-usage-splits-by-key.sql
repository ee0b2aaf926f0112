-- An index of the sums by split that begins with their key.
--
-- Why: a chart reads the sums of at most 12 sessions or labels. The primary key has the key last,
-- so PostgreSQL 15 read all sums of the period once for each of the 12.
--
-- Safe while an older version runs: nothing else changes. The job that adds usage up waits while
-- the index is built, some seconds per million rows; nobody else writes to this table.

create index usage_split_sums_by_key on usage_split_sums (book_id, split, key, minutes, at);
