-- An index of postings by time, for the settlement watch of migration 0036.
--
-- Why a migration of its own: it takes about a second per million rows, in which new postings wait.
-- In one transaction with a change of orders, nobody could read an order meanwhile.
--
-- Safe while an older version runs: nothing else changes.

create index postings_by_time on postings (kind, at, ref);
