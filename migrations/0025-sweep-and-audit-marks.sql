-- What the sweeper remembers between two workers.
--
-- Why: the sweeper read every hold of the last three hours every five seconds, 0.65 s at two
-- million holds. Now it looks at each hold once, when the hold has become old, and a new worker
-- continues where the last one stopped.
--
-- Safe while an older version runs: it does not read the table. Its sweeper finds overdue holds as
-- before, and holds that it has voided are closed for the new one.

create table sweep_marks (
  is_only boolean primary key default true constraint sweep_marks_are_one_row check (is_only),
  -- Every hold created before this time is closed.
  closed_before timestamptz not null
);

-- Functions of the audit, for some books at a time. Those without a range call them for all books.
create or replace function ledger_hold_day(p_id uuid) returns int4 language sql immutable as $$
  select (('x' || left(translate(p_id::text, '-', ''), 12))::bit(48)::int8 / 86400000)::int4
$$;

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
  where (e.kind = 'charge') <> (e.contra = 'revenue') or (e.kind = 'void') <> (e.contra = 'none')
  union all
  select ('void_and_hold_differ', e.book_id, format('entry %s, hold %s', e.seq, e.hold_id))::finding
  from some_entries e
  cross join lateral (select h.book_id, h.state, h.entry_seq from holds h
    where h.day = ledger_hold_day(e.hold_id) and h.id = e.hold_id limit 1) h
  where e.kind = 'void' and (h.book_id <> e.book_id
    or (h.state = 'voided' and h.entry_seq is distinct from e.seq) or h.state = 'open')
$$;

create or replace function ledger_audit_entries() returns setof finding language sql stable as $$
  select f from ledger_audit_entries_of(-9223372036854775808, 9223372036854775807) f
$$;

create or replace function ledger_audit_chain_of(p_all boolean, p_from int8, p_until int8)
returns setof finding language sql stable as $$
  with due as materialized (
    select b.id, b.seq, b.available + b.held - b.debt as balance,
      coalesce(m.seq, c.seq, 0) as from_seq,
      coalesce(m.balance, c.balance, 0) as from_balance,
      coalesce(m.day, c.day, '-infinity') as from_day
    from books b
    left join checkpoints c on c.book_id = b.id
    left join audit_marks m on m.book_id = b.id and not p_all and m.seq >= coalesce(c.seq, 0)
    where b.id >= p_from and b.id < p_until
      and (p_all or b.seq <> coalesce(m.seq, c.seq, 0)
        or b.available + b.held - b.debt <> coalesce(m.balance, c.balance, 0))
  ), chain as (
    select d.id, e.seq, e.amount, e.balance, e.day, lag(e.day, 1, d.from_day) over w as day_before,
      lag(e.seq, 1, d.from_seq) over w as seq_before,
      lag(e.balance, 1, d.from_balance) over w as balance_before,
      row_number() over (partition by d.id order by e.seq desc) as from_end,
      d.seq as book_seq, d.balance as book_balance
    from due d
    -- The range of books again: the join alone would read every entry.
    left join ledger_audited_entries() e on e.book_id = d.id and e.seq > d.from_seq
      and e.day >= d.from_day - 1 and e.book_id >= p_from and e.book_id < p_until
    window w as (partition by d.id order by e.seq)
  )
  select ('seq_gap', id, format('entry %s follows %s', seq, seq_before))::finding
  from chain where seq is not null and seq <> seq_before + 1
  union all
  select ('balance_chain', id, format('entry %s: %s + %s is not %s', seq, balance_before, amount,
    balance))::finding
  from chain where seq is not null and balance_before + amount <> balance
  union all
  select ('day_back', id, format('entry %s: %s follows %s', seq, day, day_before))::finding
  from chain where p_all and day < day_before
  union all
  select ('book_seq', id, format('the book says %s, its last entry %s', book_seq,
    coalesce(seq, seq_before)))::finding
  from chain where from_end = 1 and book_seq <> coalesce(seq, seq_before)
  union all
  select ('book_balance', id, format('the book says %s, its last entry %s', book_balance,
    coalesce(balance, balance_before)))::finding
  from chain where from_end = 1 and book_balance <> coalesce(balance, balance_before)
$$;

create or replace function ledger_audit_chain(p_all boolean)
returns setof finding language sql stable as $$
  select f from ledger_audit_chain_of(p_all, -9223372036854775808, 9223372036854775807) f
$$;

create or replace function ledger_audit_charges_of(p_from int8, p_until int8)
returns setof finding language sql stable as $$
  with charges as materialized (
    select e.book_id, e.seq, e.hold_id, e.amount, e.tariff, e.priced, e.written_off, e.input,
      e.output, e.cache_read, e.cache_write_5m, e.cache_write_1h, e.ending, h.id as found,
      (h.state, h.entry_seq, h.charged, h.book_id, h.tariff, h.ending) is distinct from
        ('settled'::hold_state, e.seq, -e.amount, e.book_id, e.tariff, e.ending) as differs
    from ledger_audited_entries() e
    left join lateral (select h.* from holds h
      where h.day = ledger_hold_day(e.hold_id) and h.id = e.hold_id limit 1) h on true
    where e.kind = 'charge' and e.book_id >= p_from and e.book_id < p_until
  )
  -- Of a hold that was charged in two books, one charge differs from its hold.
  select ('charged_twice', book_id, format('hold %s has %s charges', hold_id, count(*)))::finding
  from charges group by book_id, hold_id having count(*) > 1
  union all
  select ('charge_and_hold_differ', c.book_id, format('entry %s, hold %s', c.seq,
    c.hold_id))::finding
  from charges c where c.found is not null and c.differs
  union all
  select ('charge_without_hold', c.book_id, format('entry %s, hold %s', c.seq, c.hold_id))::finding
  -- The week inside the id names the partition of its hold; one that was dropped proves nothing.
  from charges c
  where c.found is null and to_regclass('holds_' || ledger_hold_day(c.hold_id) / 7) is not null
  union all
  select ('price', c.book_id, format('entry %s is priced %s', c.seq, c.priced))::finding
  from charges c left join tariffs t on t.id = c.tariff
  where c.priced is distinct from c.input * 1000000 + c.output * t.coefficient
    + c.cache_read * t.cache_read + c.cache_write_5m * t.cache_write_5m
    + c.cache_write_1h * t.cache_write_1h
  union all
  select ('written_off', c.book_id, format('entry %s', c.seq))::finding
  from charges c where c.priced <> c.written_off - c.amount or c.written_off < 0 or c.amount > 0
$$;

create or replace function ledger_audit_settled_of(p_day int4, p_after uuid, p_last uuid)
returns setof finding language sql stable as $$
  select ('charge_missing', h.book_id, format('hold %s is settled without an entry', h.id))::finding
  from holds h
  where h.day = p_day and h.id > p_after and h.id <= p_last and h.state = 'settled'
    -- Usually the entry stands on the day of the settle; other days are read only if it does not.
    and (select e.seq from entries e where e.book_id = h.book_id and e.seq = h.entry_seq
      and e.day = (h.closed_at at time zone 'UTC')::date and e.hold_id = h.id and e.kind = 'charge'
      limit 1) is null
    and (select e.seq from ledger_audited_entries() e where e.book_id = h.book_id
      and e.seq = h.entry_seq and e.hold_id = h.id and e.kind = 'charge' limit 1) is null
    and not exists (select from checkpoints k where k.book_id = h.book_id and k.seq >= h.entry_seq)
$$;

create or replace function ledger_audit_charges() returns setof finding language sql stable as $$
  select f from ledger_audit_charges_of(-9223372036854775808, 9223372036854775807) f
  union all
  select f from (select distinct day from holds) d
  cross join lateral ledger_audit_settled_of(d.day, '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff') f
$$;

create or replace function ledger_audit_postings_of(p_from int8, p_until int8)
returns setof finding language sql stable as $$
  select ('posting_without_entry', p.book_id, format('%s %s', p.kind, p.ref))::finding
  from postings p
  left join ledger_audited_entries() e on e.book_id = p.book_id and e.seq = p.seq
    and (e.kind, e.ref, e.amount) = (p.kind, p.ref, p.amount)
    and e.book_id >= p_from and e.book_id < p_until
  left join checkpoints c on c.book_id = p.book_id
  where e.seq is null and p.seq > coalesce(c.seq, 0)
    and p.book_id >= p_from and p.book_id < p_until
  union all
  select ('entry_without_posting', e.book_id, format('entry %s: %s %s', e.seq, e.kind,
    e.ref))::finding
  from ledger_audited_entries() e
  left join postings p on p.kind = e.kind and p.ref = e.ref and p.seq = e.seq
  where e.kind not in ('charge', 'void') and p.ref is null
    and e.book_id >= p_from and e.book_id < p_until
  union all
  select ('lot', p.book_id, format('%s %s of %s has a lot of %s', p.kind, p.ref, p.amount,
    l.credited))::finding
  from postings p left join lots l on l.kind = p.kind and l.ref = p.ref
  where p.amount > 0 and p.kind <> 'refund_reversal'
    and p.book_id >= p_from and p.book_id < p_until
    and (l.credited, l.book_id, l.seq) is distinct from (p.amount, p.book_id, p.seq)
  union all
  select ('taken_back', l.book_id, format('lots gave back %s, entries %s', l.taken,
    p.taken))::finding
  from (select book_id, sum(taken_back) as taken from lots
    where book_id >= p_from and book_id < p_until group by book_id) l
  join (
    select book_id, -sum(amount) as taken, bool_or(kind = 'forced_debit') as is_forced
    from postings where kind in ('refund', 'refund_reversal', 'forced_debit')
      and book_id >= p_from and book_id < p_until group by book_id
    union all
    select b.id, 0, false from books b where b.id >= p_from and b.id < p_until
      and not exists (select from postings p where p.book_id = b.id
        and p.kind in ('refund', 'refund_reversal', 'forced_debit'))
  ) p on p.book_id = l.book_id
  where l.taken > p.taken or (l.taken < p.taken and not p.is_forced)
$$;

create or replace function ledger_audit_postings() returns setof finding language sql stable as $$
  select f from ledger_audit_postings_of(-9223372036854775808, 9223372036854775807) f
$$;

create or replace function ledger_audit_sums_of(p_from int8, p_until int8)
returns setof finding language sql stable as $$
  with sums as (
    select x.book_id, sum(x.requests) as requests, sum(x.spent) as spent, sum(x.amount) as amount,
      sum(x.today) as today
    from (
      select e.book_id, count(*) filter (where e.kind = 'charge') as requests,
        coalesce(-sum(e.amount) filter (where e.kind = 'charge'), 0) as spent,
        sum(e.amount) as amount,
        coalesce(-sum(e.amount) filter (where e.kind = 'charge' and e.day = b.day), 0) as today
      from ledger_audited_entries() e join books b on b.id = e.book_id
      left join checkpoints c on c.book_id = e.book_id
      where e.seq > coalesce(c.seq, 0) and e.book_id >= p_from and e.book_id < p_until
      group by e.book_id
      union all
      select k.book_id, sum(k.entries) filter (where k.kind = 'charge'),
        -sum(k.amount) filter (where k.kind = 'charge'), sum(k.amount), 0
      from checkpoint_sums k where k.book_id >= p_from and k.book_id < p_until group by k.book_id
    ) x group by x.book_id
  )
  select (v.rule, b.id, format('the book says %s, its entries %s', v.said, v.summed))::finding
  from books b left join sums s on s.book_id = b.id
  left join checkpoints c on c.book_id = b.id
  cross join lateral (values
    ('spent_total', b.spent_total, coalesce(s.spent, 0)),
    ('requests', b.requests, coalesce(s.requests, 0)),
    ('sum_of_entries', b.available + b.held - b.debt, coalesce(s.amount, 0)),
    ('day_spent', case when b.day > coalesce(c.day, '-infinity') then b.day_spent end, s.today)
  ) v (rule, said, summed)
  where v.said <> v.summed and b.id >= p_from and b.id < p_until
  union all
  select ('checkpoint', c.book_id, format('says %s after %s entries, its sums %s after %s',
    c.balance, c.seq, s.amount, s.entries))::finding
  from checkpoints c
  left join (select book_id, sum(amount) as amount, sum(entries) as entries
    from checkpoint_sums where book_id >= p_from and book_id < p_until group by book_id) s
    on s.book_id = c.book_id
  where (c.balance, c.seq) is distinct from (s.amount, s.entries)
    and c.book_id >= p_from and c.book_id < p_until
$$;

create or replace function ledger_audit_sums() returns setof finding language sql stable as $$
  select f from ledger_audit_sums_of(-9223372036854775808, 9223372036854775807) f
$$;
