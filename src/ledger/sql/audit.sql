-- The audit: each function returns one row for each thing that does not agree, and none when all
-- does.

-- How far the chain has been read without a finding. In one statement with nothing else, so that
-- book and entries are of one snapshot.
create or replace function ledger_audit_mark() returns void language sql volatile as $$
  insert into audit_marks (book_id, seq, balance, day)
  select b.id, b.seq, b.available + b.held - b.debt,
    coalesce((select e.day from entries e where e.book_id = b.id and e.seq = b.seq
      and e.day >= coalesce(m.day, '-infinity')), m.day, '-infinity')
  from books b left join audit_marks m on m.book_id = b.id
  where b.seq <> coalesce(m.seq, 0)
  on conflict (book_id) do update
  set seq = excluded.seq, balance = excluded.balance, day = excluded.day
$$;

-- Entries: of known books, on their own day, with the contra account of their kind.
create or replace function ledger_audit_entries() returns setof finding language sql stable as $$
  select ('book_missing', e.book_id, format('entry %s', e.seq))::finding
  from entries e where not exists (select from books b where b.id = e.book_id)
  union all
  select ('entry_day', e.book_id, format('entry %s of %s stands on %s', e.seq, e.at,
    e.day))::finding
  from entries e where e.day <> (e.at at time zone 'UTC')::date
  union all
  select ('contra', e.book_id, format('entry %s: %s against %s', e.seq, e.kind, e.contra))::finding
  from entries e
  where (e.kind = 'charge') <> (e.contra = 'revenue') or (e.kind = 'void') <> (e.contra = 'none')
  union all
  select ('void_and_hold_differ', e.book_id, format('entry %s, hold %s', e.seq, e.hold_id))::finding
  from entries e join holds h on h.id = e.hold_id
  where e.kind = 'void' and (h.book_id <> e.book_id
    or (h.state = 'voided' and h.entry_seq is distinct from e.seq) or h.state = 'open')
$$;

-- The chain: seq without gaps, each balance the one before plus the amount, the last one the book.
-- From the marks of the continuous audit, or (p_all) from the checkpoints. A mark that a checkpoint
-- has overtaken counts for nothing: the entries between them are gone.
create or replace function ledger_audit_chain(p_all boolean)
returns setof finding language sql stable as $$
  with due as materialized (
    select b.id, b.seq, b.available + b.held - b.debt as balance,
      coalesce(m.seq, c.seq, 0) as from_seq,
      coalesce(m.balance, c.balance, 0) as from_balance,
      coalesce(m.day, c.day, '-infinity') as from_day
    from books b
    left join checkpoints c on c.book_id = b.id
    left join audit_marks m on m.book_id = b.id and not p_all and m.seq >= coalesce(c.seq, 0)
    where p_all or b.seq <> coalesce(m.seq, c.seq, 0)
      or b.available + b.held - b.debt <> coalesce(m.balance, c.balance, 0)
  ), chain as (
    select d.id, e.seq, e.amount, e.balance,
      lag(e.seq, 1, d.from_seq) over w as seq_before,
      lag(e.balance, 1, d.from_balance) over w as balance_before,
      row_number() over (partition by d.id order by e.seq desc) as from_end,
      d.seq as book_seq, d.balance as book_balance
    from due d
    left join entries e on e.book_id = d.id and e.seq > d.from_seq and e.day >= d.from_day
    window w as (partition by d.id order by e.seq)
  )
  select ('seq_gap', id, format('entry %s follows %s', seq, seq_before))::finding
  from chain where seq is not null and seq <> seq_before + 1
  union all
  select ('balance_chain', id, format('entry %s: %s + %s is not %s', seq, balance_before, amount,
    balance))::finding
  from chain where seq is not null and balance_before + amount <> balance
  union all
  select ('book_seq', id, format('the book says %s, its last entry %s', book_seq,
    coalesce(seq, seq_before)))::finding
  from chain where from_end = 1 and book_seq <> coalesce(seq, seq_before)
  union all
  select ('book_balance', id, format('the book says %s, its last entry %s', book_balance,
    coalesce(balance, balance_before)))::finding
  from chain where from_end = 1 and book_balance <> coalesce(balance, balance_before)
$$;

-- Charges: each belongs to one hold that says the same, once, at the price it names.
create or replace function ledger_audit_charges() returns setof finding language sql stable as $$
  with charges as materialized (
    select e.book_id, e.seq, e.hold_id, e.amount, e.tariff, e.priced, e.written_off, e.input,
      e.output, e.cache_read, e.cache_write_5m, e.cache_write_1h, e.day, e.at, e.ending
    from entries e where e.kind = 'charge'
  ), held as materialized (
    select h.id, h.book_id, h.state, h.entry_seq, h.charged, h.granted, h.tariff, h.ending,
      h.closed_at
    from holds h
  )
  select ('charged_twice', min(book_id), format('hold %s has %s charges', hold_id,
    count(*)))::finding
  from charges group by hold_id having count(*) > 1
  union all
  select ('charge_and_hold_differ', c.book_id, format('entry %s, hold %s', c.seq,
    c.hold_id))::finding
  from charges c join held h on h.id = c.hold_id
  where (h.state, h.entry_seq, h.charged, h.book_id, h.tariff, h.ending) is distinct from
    ('settled'::hold_state, c.seq, -c.amount, c.book_id, c.tariff, c.ending)
  union all
  select ('charge_missing', h.book_id, format('hold %s is settled without an entry', h.id))::finding
  from held h
  where h.state = 'settled' and not exists (select from charges c where c.hold_id = h.id)
    and not exists (select from checkpoints k where k.book_id = h.book_id and k.seq >= h.entry_seq)
  union all
  select ('charge_without_hold', c.book_id, format('entry %s, hold %s', c.seq, c.hold_id))::finding
  from charges c
  -- The week inside the id names the partition of its hold; one that was dropped proves nothing.
  where not exists (select from holds h where h.id = c.hold_id)
    and to_regclass('holds_'
      || ('x' || left(translate(c.hold_id::text, '-', ''), 12))::bit(48)::int8 / 604800000)
      is not null
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

-- Holds: what a book holds is the sum of its open holds, and none of them is forgotten.
create or replace function ledger_audit_holds() returns setof finding language sql stable as $$
  with open_holds as (
    select h.book_id, sum(h.granted)::int8 as granted from holds h where h.state = 'open'
    group by h.book_id
  )
  select ('held', coalesce(b.id, o.book_id), format('the book holds %s, its open holds %s',
    b.held, coalesce(o.granted, 0)))::finding
  from books b full join open_holds o on o.book_id = b.id
  where b.held is distinct from coalesce(o.granted, 0)
  union all
  select ('hold_overdue', book_id, format('hold %s is open since %s', id, created_at))::finding
  from holds where state = 'open' and deadline_at < ledger_now() - interval '120 seconds'
$$;

-- Rare entries: each has its posting, each posting its entry, each credit its lot.
create or replace function ledger_audit_postings() returns setof finding language sql stable as $$
  select ('posting_without_entry', p.book_id, format('%s %s', p.kind, p.ref))::finding
  from postings p
  left join entries e on e.book_id = p.book_id and e.seq = p.seq
    and (e.kind, e.ref, e.amount) = (p.kind, p.ref, p.amount)
  left join checkpoints c on c.book_id = p.book_id
  where e.seq is null and p.seq > coalesce(c.seq, 0)
  union all
  select ('entry_without_posting', e.book_id, format('entry %s: %s %s', e.seq, e.kind,
    e.ref))::finding
  from entries e left join postings p on p.kind = e.kind and p.ref = e.ref and p.seq = e.seq
  where e.kind not in ('charge', 'void') and p.ref is null
  union all
  select ('lot', p.book_id, format('%s %s of %s has a lot of %s', p.kind, p.ref, p.amount,
    l.credited))::finding
  from postings p left join lots l on l.kind = p.kind and l.ref = p.ref
  where p.amount > 0 and p.kind <> 'refund_reversal'
    and (l.credited, l.book_id, l.seq) is distinct from (p.amount, p.book_id, p.seq)
  union all
  select ('taken_back', l.book_id, format('lots gave back %s, entries %s', l.taken,
    p.taken))::finding
  from (select book_id, sum(taken_back) as taken from lots group by book_id) l
  join (
    select book_id, -sum(amount) as taken, bool_or(kind = 'forced_debit') as is_forced
    from postings where kind in ('refund', 'refund_reversal', 'forced_debit') group by book_id
    union all
    select b.id, 0, false from books b where not exists (select from postings p
      where p.book_id = b.id and p.kind in ('refund', 'refund_reversal', 'forced_debit'))
  ) p on p.book_id = l.book_id
  where l.taken > p.taken or (l.taken < p.taken and not p.is_forced)
$$;

-- Sums: what a book counted is what its entries say, with what the checkpoints remember.
create or replace function ledger_audit_sums() returns setof finding language sql stable as $$
  with sums as (
    select x.book_id, sum(x.requests) as requests, sum(x.spent) as spent, sum(x.amount) as amount,
      sum(x.today) as today
    from (
      select e.book_id, count(*) filter (where e.kind = 'charge') as requests,
        coalesce(-sum(e.amount) filter (where e.kind = 'charge'), 0) as spent,
        sum(e.amount) as amount,
        coalesce(-sum(e.amount) filter (where e.kind = 'charge' and e.day = b.day), 0) as today
      from entries e join books b on b.id = e.book_id group by e.book_id
      union all
      select k.book_id, sum(k.entries) filter (where k.kind = 'charge'),
        -sum(k.amount) filter (where k.kind = 'charge'), sum(k.amount), 0
      from checkpoint_sums k group by k.book_id
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
  where v.said <> v.summed
  union all
  select ('checkpoint', c.book_id, format('says %s after %s entries, its sums %s after %s',
    c.balance, c.seq, s.amount, s.entries))::finding
  from checkpoints c
  left join (select book_id, sum(amount) as amount, sum(entries) as entries
    from checkpoint_sums group by book_id) s on s.book_id = c.book_id
  where (c.balance, c.seq) is distinct from (s.amount, s.entries)
$$;
