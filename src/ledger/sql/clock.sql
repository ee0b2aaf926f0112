-- The only clock that counts for money: every time the ledger writes or compares comes from it. A
-- function of its own, so that tests can turn it.

create or replace function ledger_now() returns timestamptz
language sql volatile as 'select clock_timestamp()';
