-- Counts of refused requests, by account, day and reason.
--
-- Why: a request that is refused before its hold leaves no entry, so neither the owner nor an
-- operator could see how often, and why, requests got 402 or 400.
--
-- Safe while an older version runs: it neither reads nor writes the new table.
--
-- A row is written every few seconds while requests are refused, so it has room for updates in
-- place, and no index on a column that they change. There are at most as many rows as days kept
-- (90) times reasons (a closed list of about 30) for each book.

create table refused_requests (
  book_id int8 not null,
  -- The day in UTC on which the requests were refused.
  day date not null,
  reason text not null collate "C",
  requests int8 not null,
  last_at timestamptz not null,
  primary key (book_id, day, reason),
  constraint refused_requests_are_counted check (requests > 0),
  constraint refused_requests_have_a_code check (reason ~ '^[a-z][a-z0-9_]{0,39}$')
) with (fillfactor = 80);

-- For the job that removes old days, and for an operator's look at all accounts.
create index refused_requests_by_day on refused_requests (day);
