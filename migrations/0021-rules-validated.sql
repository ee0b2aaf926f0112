-- Validates the rules of books, holds and entries, which 0018 added `not valid`.
--
-- Why: PostgreSQL checks a rule that is not validated for new rows only, so nothing says that the
-- old ones keep it.
--
-- Safe while an older version runs: PostgreSQL takes SHARE UPDATE EXCLUSIVE on the three tables and
-- their partitions, which stops no read and no write, and reads the rows of before 0018 once: 1.5 s
-- for a million, measured on one processor. Partitions made since then are valid already. The locks
-- stay until the end. At 00:07 UTC the job `partitions` makes a day and needs an exclusive lock: it
-- would wait for this migration, and every settle behind it, for at most 5 s. A large installation
-- migrates at another hour.
--
-- All pending migrations are one transaction. A large database of before 0018 is therefore migrated
-- first by a version that has 0018 and not yet this migration; otherwise PostgreSQL reads the rows
-- under the exclusive locks of 0018.
--
-- Before 0018 the same rules were checks of the tables, so only a superuser who removed a check can
-- have written a row that breaks one. Then `migrate` changes nothing and fails with, for example,
-- `a hold breaks holds_charge_no_more_than_they_hold`, and the older version goes on. The condition
-- of that rule in src/ledger/sql/rules.sql, written after `where`, finds the rows.

alter table books validate constraint books_keep_their_rules;
alter table holds validate constraint holds_keep_their_rules;
alter table entries validate constraint entries_keep_their_rules;
