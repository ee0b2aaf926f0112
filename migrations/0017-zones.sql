-- The owner's time zone, for letters and statements.
--
-- Why: it lived in the browser alone, so letters named times in UTC.
--
-- Safe while an older version runs: the column may be null and nobody else reads it; its check
-- looks at every account once.

-- As the browser of the owner names it, such as Europe/Moscow; null until one was chosen: UTC.
alter table accounts add column zone text
  constraint accounts_zones_are_names
    check (length(zone) <= 64 and zone ~ '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$');
