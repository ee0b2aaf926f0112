-- The audit: each function returns one row for each thing that does not agree, and none when all
-- does. The functions that end in `_of` check the books from p_from to before p_until, whatever
-- those books are; each reads only the entries of these books, so that an audit of millions of
-- charges consists of short statements. All rules but one concern one book; ledger_audit_holds()
-- reads all open holds at once. Look-ups of a hold or entry stand in subqueries with a limit:
-- PostgreSQL then finds each by its key, whatever it expects of the tables.

-- Every entry that the audit reads: the ledger's, and those of days that left it although their
-- book did not verify. While such a day is still attached, its rows are read from the ledger.
-- PostgreSQL puts this text in place of the call.
create or replace function ledger_audited_entries() returns setof entries
language sql stable as $$
  select * from entries
  union all
  select u.* from entries_unverified u
  where not exists (select from days d where d.day = u.day and d.state = 'checkpointed')
$$;

-- The day inside the id of a hold, which names its partition.
create or replace function ledger_hold_day(p_id uuid) returns int4 language sql immutable as $$
  select (('x' || left(translate(p_id::text, '-', ''), 12))::bit(48)::int8 / 86400000)::int4
$$;

-- Only the previous version calls it and the functions without parameters below.
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

create or replace function ledger_audit_entries() returns setof finding language sql stable as $$
  select f from ledger_audit_entries_of(-9223372036854775808, 9223372036854775807) f
$$;

-- The chain: seq without gaps, each balance the one before plus the amount, the last one the book.
-- From the marks of the continuous audit, or (p_all) from the checkpoints. A mark that a checkpoint
-- has overtaken counts for nothing: the entries between them are gone. It reads one day more than
-- it needs, and only p_all reports a day that goes back: before migration 0024 a clock that stepped
-- back over midnight wrote such days, and they must not stop the marks.
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

-- Counts times prices, both as JSON arrays in the order of src/ledger/parts.ts.
create or replace function ledger_cost(p_counts jsonb, p_price jsonb) returns numeric
language sql immutable as $$
  select sum(o.tokens::numeric * o.each::numeric)
  from rows from (jsonb_array_elements_text(p_counts), jsonb_array_elements_text(p_price))
    as o (tokens, each)
$$;

-- What a charge with parts costs: its own counts at the price of the model that answered or else
-- of its tariff (p_own), the passes that its counts do not include, and the uses of tools.
create or replace function ledger_parts_priced(p_parts jsonb, p_own int8, p_counts int8[])
returns numeric language sql immutable as $$
  select coalesce(ledger_cost(to_jsonb(p_counts), p_parts #> '{served,price}'), p_own)
    + coalesce((select sum(ledger_cost(p -> 'counts', p -> 'price'))
        from jsonb_array_elements(p_parts -> 'passes') as p), 0)
    + coalesce((select sum((u ->> 'count')::numeric * (u ->> 'each')::numeric)
        from jsonb_array_elements(p_parts -> 'uses') as u), 0)
$$;

-- Charges: each belongs to one hold that says the same, once, at the price it names. The charge may
-- name another price list than the hold, of the same model in the same version of the catalogue.
create or replace function ledger_audit_charges_of(p_from int8, p_until int8)
returns setof finding language sql stable as $$
  with charges as materialized (
    select e.book_id, e.seq, e.hold_id, e.amount, e.tariff, e.priced, e.written_off, e.input,
      e.output, e.cache_read, e.cache_write_5m, e.cache_write_1h, e.ending, e.parts,
      h.id as found, h.tariff as held_tariff,
      (h.state, h.entry_seq, h.charged, h.book_id, h.ending) is distinct from
        ('settled'::hold_state, e.seq, -e.amount, e.book_id, e.ending) as differs
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
  from charges c
  where c.found is not null and (c.differs or (c.tariff is distinct from c.held_tariff
    and not exists (select from tariffs t
      join tariffs o on (o.catalogue_version, o.model) = (t.catalogue_version, t.model)
      where t.id = c.tariff and o.id = c.held_tariff)))
  union all
  select ('charge_without_hold', c.book_id, format('entry %s, hold %s', c.seq, c.hold_id))::finding
  -- The week inside the id names the partition of its hold; one that was dropped proves nothing.
  from charges c
  where c.found is null and to_regclass('holds_' || ledger_hold_day(c.hold_id) / 7) is not null
  union all
  select ('price', c.book_id, format('entry %s is priced %s', c.seq, c.priced))::finding
  from (
    select c.*, c.input * t.input + c.output * t.coefficient + c.cache_read * t.cache_read
      + c.cache_write_5m * t.cache_write_5m + c.cache_write_1h * t.cache_write_1h as own
    from charges c left join tariffs t on t.id = c.tariff
  ) c
  where c.priced is distinct from case when c.parts is null then c.own
    else ledger_parts_priced(c.parts, c.own, array[c.input, c.output, c.cache_read,
      c.cache_write_5m, c.cache_write_1h]) end
  union all
  select ('written_off', c.book_id, format('entry %s', c.seq))::finding
  from charges c where c.priced <> c.written_off - c.amount or c.written_off < 0 or c.amount > 0
$$;

-- Settled holds of a day, after one id up to another: each has its charge, or a checkpoint counts
-- it.
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

-- Sums: what a book counted is what its entries say, with what the checkpoints remember. An entry
-- that a checkpoint includes may still be there, until its day is detached.
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

-- Not called any more: the check of acts reports triggers (src/acts/triggers.ts). It stays for the
-- version before, whose audit calls it and may run beside this one; the next release drops it.
create or replace function ledger_audit_triggers() returns setof finding language sql stable as $$
  select 'trigger_off', 0::int8, t.tgrelid::regclass || ' ' || t.tgname
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'public'::regnamespace and t.tgenabled in ('D', 'R')
  union all
  select 'trigger_gone', 0::int8, e.relation || ' ' || e.name
  from (values ('entries', 'entries_never_change'), ('entries', 'entries_are_never_emptied'),
    ('tariffs', 'tariffs_never_change'), ('tariffs', 'tariffs_are_never_emptied'),
    ('operator_acts', 'operator_acts_are_append_only'), ('orders', 'orders_keep_their_word'),
    ('orders', 'orders_of_top_ups_have_a_mandate'), ('keys', 'keys_never_come_back'),
    ('mandates', 'mandates_are_only_ended'),
    ('catalogue_versions', 'catalogue_versions_are_append_only')) as e (relation, name)
  where not exists (select from pg_trigger t
    where t.tgrelid = to_regclass('public.' || e.relation) and t.tgname = e.name)
$$;
