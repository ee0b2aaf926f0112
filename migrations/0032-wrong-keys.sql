-- Wrong keys by sender, shared by all processes.
--
-- Why: each process counted the wrong keys of an address for itself, so a fleet of twenty processes
-- accepted twenty times as many guesses.
--
-- Safe while an older version runs: it does not know the table, and goes on counting for itself.

-- A table of fixed size: a sender's digest chooses its row, and a newer sender replaces an older
-- one, so that nothing has to be cleaned up. Unlogged: after a crash of the database counts begin
-- anew. Every second update finds room on its page, so that it needs no new index entry.
create unlogged table wrong_keys (
  slot int4 primary key check (slot between 0 and 65535),
  -- A keyed digest of the address: the table shows nobody's address.
  sender bytea not null,
  wrong int4 not null,
  ends_at timestamptz not null
) with (fillfactor = 50);
