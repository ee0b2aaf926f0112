-- The audit accepts a correction against revenue.
--
-- Why: closing an account that has credits left, and `op adjust --contra revenue`, write such an
-- entry. The audit reported each of them in every run, for ever, so that a true finding would have
-- been one line among many.
--
-- Safe while an older version runs: the function has the same name, parameters and result.

-- Entries: of known books, on no day before their time, with the contra account of their kind: a
-- correction may have any, also revenue, when a closed account forfeits credits or a charge was too
-- high. A day may be later than the time: a book's day never goes back, and the clock may.
create or replace function ledger_audit_entries_of(p_from int8, p_until int8)
returns setof finding language sql stable as $$
  with some_entries as materialized (
    select e.book_id, e.seq, e.day, e.at, e.kind, e.contra, e.hold_id
    from ledger_audited_entries() e where e.book_id >= p_from and e.book_id < p_until
  )
  select ('book_missing', e.book_id, format('entry %s', e.seq))::finding
  from some_entries e where not exists (select from books b where b.id = e.book_id)
  union all
  select ('entry_day', e.book_id, format('entry %s of %s stands on %s', e.seq, e.at,
    e.day))::finding
  from some_entries e where e.day < (e.at at time zone 'UTC')::date
  union all
  select ('contra', e.book_id, format('entry %s: %s against %s', e.seq, e.kind, e.contra))::finding
  from some_entries e
  where (e.kind = 'charge' and e.contra <> 'revenue') or (e.kind = 'void') <> (e.contra = 'none')
    or (e.contra = 'revenue' and e.kind not in ('charge', 'adjust'))
  union all
  select ('void_and_hold_differ', e.book_id, format('entry %s, hold %s', e.seq, e.hold_id))::finding
  from some_entries e
  cross join lateral (select h.book_id, h.state, h.entry_seq from holds h
    where h.day = ledger_hold_day(e.hold_id) and h.id = e.hold_id limit 1) h
  where e.kind = 'void' and (h.book_id <> e.book_id
    or (h.state = 'voided' and h.entry_seq is distinct from e.seq) or h.state = 'open')
$$;
