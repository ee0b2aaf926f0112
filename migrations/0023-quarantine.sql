-- Settles that the database refused, and where processes keep their spools.
--
-- Safe while an older version runs: a new table, and columns that an older version leaves null.

-- A settle that was refused: one line of text as in a spool file. It is sent again until it is
-- charged or an operator writes it off; then the row stays, closed, as the record of that.
create table quarantine (
  hold_id uuid not null,
  settle text not null,
  book_id int8 not null,
  priced int8 not null,
  reason text not null,
  refused_at timestamptz not null,
  tried_at timestamptz not null,
  attempts int4 not null default 0,
  -- The newest migration at the last attempt: the settle is sent again after the next one.
  tried_after text,
  closed_at timestamptz,
  outcome text
    constraint quarantine_outcomes_are_known check (outcome in ('charged', 'written_off')),
  constraint quarantine_closes_with_an_outcome check ((closed_at is null) = (outcome is null))
);
-- By its digest: the text of a settle with many passes is longer than an index entry may be.
create unique index quarantine_has_a_settle_once on quarantine (hold_id, md5(settle));
create index quarantine_waiting on quarantine (refused_at) where closed_at is null;

-- Where a process spools; null once another process has claimed its files or it left none. A
-- process that was lost while this says something may have charges out of reach.
alter table instances
  add column host text,
  add column spool_directory text,
  add column lost_at timestamptz;
