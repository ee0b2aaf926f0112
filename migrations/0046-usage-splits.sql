-- What books used by model, ending, session and label, with failures, times and what caching saved;
-- and the sessions of coding agents.
--
-- Why: usage_sums knows models only, and nothing of time and failures. Its key cannot be widened
-- while an older version adds to it.
--
-- Safe while an older version runs: it goes on with usage_sums, usage_spans and usage_marks, which
-- the new version writes too. The new tables have a mark of their own; the job fills them from the
-- entries that are still there, in steps of 50,000, and copies older sums, which have models only.
-- Until it is done with a book, charts of that book are made from usage_sums. One function is
-- replaced: a day leaves the ledger only when it is also in the new sums of its books, if they have
-- any. Nothing is locked but new tables.

create type usage_split as enum ('model', 'ending', 'session', 'label', 'agent');

-- Up to which entry a book is in the tables below, which change with it in one transaction.
create table usage_split_marks (
  book_id int8 primary key,
  seq int8 not null constraint usage_split_marks_are_not_negative check (seq >= 0),
  -- Of the newest entry that was read: younger ones are in no older partition.
  day date not null,
  -- The mark has reached the book's newest entry once: readers may use the sums.
  is_complete boolean not null default false
) with (fillfactor = 70);

-- The usage of a book in one step of time (see usage_sums) with one key: a model, an ending, a
-- session's id or a label; an empty key stands for requests without one. Sums that were copied from
-- usage_sums have no known requests: their errors, times and savings were not added up.
create table usage_split_sums (
  book_id int8 not null,
  at timestamptz not null,
  requests int8 not null,
  free int8 not null,
  errors int8 not null,
  known int8 not null,
  input int8 not null,
  output int8 not null,
  cache_read int8 not null,
  cache_write_5m int8 not null,
  cache_write_1h int8 not null,
  spent int8 not null,
  cache_saved int8 not null,
  minutes int2 not null
    constraint usage_split_sums_have_four_steps check (minutes in (15, 60, 180, 1440)),
  split usage_split not null,
  key text collate "C" not null,
  -- Histograms, see usage_histogram_add.
  first_byte int4[] not null,
  total int4[] not null,
  primary key (book_id, split, minutes, at, key),
  constraint usage_split_sums_parts_are_of_the_requests
    check (requests > 0 and free between 0 and requests and known between 0 and requests
      and errors between 0 and free)
) with (fillfactor = 80);
-- For the job that removes old ones.
create index usage_split_sums_by_age on usage_split_sums (at)
  where split in ('session', 'label') and key <> '';

-- Where a book's requests of one session, label or agent are, as usage_spans does for models. By
-- model and ending, so that a rare model within a common label is found as fast as either.
create table usage_split_spans (
  book_id int8 not null,
  block int8 not null,
  first_seq int8 not null,
  last_seq int8 not null,
  requests int4 not null,
  day date not null,
  ending ending not null,
  split usage_split not null,
  key text collate "C" not null,
  model text collate "C" not null,
  primary key (book_id, split, key, model, ending, block, day),
  constraint usage_split_spans_stay_in_their_block
    check (first_seq >> 10 = block and last_seq >> 10 = block),
  constraint usage_split_spans_come_from_entries
    check (requests between 1 and last_seq - first_seq + 1)
) with (fillfactor = 80);
-- For the checkpoint of a day.
create index usage_split_spans_by_day on usage_split_spans (book_id, day);

-- One session or label of a book, as a whole and by agent. The main agent has an empty name.
create table usage_sessions (
  book_id int8 not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  last_seq int8 not null,
  requests int8 not null,
  free int8 not null,
  errors int8 not null,
  input int8 not null,
  output int8 not null,
  cache_read int8 not null,
  cache_write_5m int8 not null,
  cache_write_1h int8 not null,
  spent int8 not null,
  cache_saved int8 not null,
  busy_ms int8 not null,
  split usage_split not null
    constraint usage_sessions_are_sessions_or_labels check (split in ('session', 'label')),
  is_whole boolean not null,
  id text collate "C" not null,
  agent text collate "C" not null,
  parent_agent text,
  models text[] not null,
  primary key (book_id, split, id, is_whole, agent)
) with (fillfactor = 80);
create index usage_sessions_by_last on usage_sessions (book_id, split, last_seq) where is_whole;
-- For the job that removes old ones.
create index usage_sessions_by_age on usage_sessions (last_at);

-- The step of a duration, 0 to 37: below 8 ms, then steps of a factor of the square root of 2, the
-- last one from 35 minutes on. src/ledger/usage/latency.ts knows the same bounds.
create or replace function usage_latency_step(p_ms int4) returns int4
language sql immutable parallel safe as $$
  select width_bucket(p_ms, '{8,12,16,23,32,46,64,91,128,182,256,363,512,725,1024,1449,2048,2897,
    4096,5793,8192,11586,16384,23171,32768,46341,65536,92682,131072,185364,262144,370728,524288,
    741456,1048576,1482911,2097152}'::int4[])
$$;

-- What the cached tokens of a charge would have cost as plain input, less what they cost, by the
-- price of the model that answered (src/ledger/parts.ts has the order of its members) or else of
-- the tariff. In microcredits, as counts times millionths.
create or replace function usage_cache_saved(p_parts jsonb, p_tariff tariffs, p_read int8,
  p_write_5m int8, p_write_1h int8)
returns int8 language sql immutable parallel safe as $$
  select case
    when p_read is null then 0
    when p_parts ? 'served' then
      p_read * ((p_parts #>> '{served,price,0}')::int8 - (p_parts #>> '{served,price,2}')::int8)
      + p_write_5m
        * ((p_parts #>> '{served,price,0}')::int8 - (p_parts #>> '{served,price,3}')::int8)
      + p_write_1h
        * ((p_parts #>> '{served,price,0}')::int8 - (p_parts #>> '{served,price,4}')::int8)
    else p_read * (p_tariff.input - p_tariff.cache_read)
      + p_write_5m * (p_tariff.input - p_tariff.cache_write_5m)
      + p_write_1h * (p_tariff.input - p_tariff.cache_write_1h)
  end
$$;

-- Adds two histograms. An element is a count times 64 plus the step of usage_latency_step; steps
-- without requests have no element, because most sums have few requests. A count above 2^25 - 1 has
-- several elements of its step.
create or replace function usage_histogram_add(p_one int4[], p_other int4[]) returns int4[]
language sql immutable parallel safe as $$
  select case
    when cardinality(p_one) = 0 then p_other
    when cardinality(p_other) = 0 then p_one
    else (
      select array_agg((64 * least(33554431, s.requests - i * 33554431) + s.step)::int4)
      from (
        select u.element & 63 as step, sum(u.element >> 6) as requests
        from unnest(p_one || p_other) as u (element) group by 1
      ) s, generate_series(0, (s.requests - 1) / 33554431) as i
    )
  end
$$;

-- As before, and a day must be in the split sums, too.
create or replace function ledger_day_checkpoint(p_day date) returns void
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  v_table text := 'entries_' || to_char(p_day, 'YYYYMMDD');
  -- A day that came again has rows that are in the checkpoints already.
  v_new text := format(
    '(select e.* from %I e where not exists (select from checkpoints c
       where c.book_id = e.book_id and c.seq >= e.seq and c.day >= %L))', v_table, p_day);
  v_rows text := format(
    '(select n.*, false as is_old from %s n union all select u.*, true from entries_unverified u)',
    v_new);
  v_unverified int8[];
  v_is_behind boolean;
begin
  if exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'entries'::regclass and c.relname < v_table
      and not exists (select from days d where 'entries_' || to_char(d.day, 'YYYYMMDD') = c.relname)
  ) then
    raise exception 'an older day than % has no checkpoints yet', p_day;
  end if;
  execute format($sql$
    with chain as (
      select r.book_id, r.seq, r.is_old, b.id is not null
          and r.seq = lag(r.seq, 1, coalesce(c.seq, 0)) over w + 1
          and r.balance = lag(r.balance, 1, coalesce(c.balance, 0)) over w + r.amount as is_next
      from %1$s r
      left join checkpoints c on c.book_id = r.book_id
      left join books b on b.id = r.book_id
      window w as (partition by r.book_id order by r.seq)
    ), summed as (
      select k.book_id, bool_and(k.is_next) as is_whole, bool_or(k.is_old) as is_old,
        max(k.seq) > least(coalesce(max(m.seq), 0), max(n.seq)) as is_behind
      from chain k left join usage_marks m on m.book_id = k.book_id
      left join usage_split_marks n on n.book_id = k.book_id
      group by k.book_id
    )
    select coalesce(array_agg(book_id) filter (where not is_whole or (is_old and is_behind)), '{}'),
      coalesce(bool_or(is_whole and is_behind and not is_old), false)
    from summed
  $sql$, v_rows) into v_unverified, v_is_behind;
  if v_is_behind then
    raise exception 'the usage in % is not all added up; nothing was changed', v_table;
  end if;
  -- One statement: once the checkpoints are written, their rows are no longer among these.
  execute format($sql$
    with verified as materialized (
      select book_id, seq, kind, amount, balance, written_off from %1$s r
      where book_id <> all ($1)
    ), checkpointed as (
      insert into checkpoints (book_id, seq, balance, day)
      select distinct on (book_id) book_id, seq, balance, $2 from verified
      order by book_id, seq desc
      on conflict (book_id) do update
      set seq = excluded.seq, balance = excluded.balance, day = excluded.day
    )
    insert into checkpoint_sums (book_id, kind, entries, amount, written_off)
    select book_id, kind, count(*), sum(amount), coalesce(sum(written_off), 0) from verified
    group by book_id, kind
    on conflict (book_id, kind) do update
    set entries = checkpoint_sums.entries + excluded.entries,
      amount = checkpoint_sums.amount + excluded.amount,
      written_off = checkpoint_sums.written_off + excluded.written_off
  $sql$, v_rows) using v_unverified, p_day;
  delete from entries_unverified where book_id <> all (v_unverified);
  execute format('insert into entries_unverified select * from %s n where book_id = any ($1)',
    v_new) using v_unverified;
  execute format($sql$
    delete from usage_spans s using (select distinct book_id from %I) e
    where s.book_id = e.book_id and s.day = $1
  $sql$, v_table) using p_day;
  execute format($sql$
    delete from usage_split_spans s using (select distinct book_id from %I) e
    where s.book_id = e.book_id and s.day = $1
  $sql$, v_table) using p_day;
  execute format($sql$
    insert into days (day, state, rows, unverified, checkpointed_at)
    select $2, 'checkpointed', count(*), count(*) filter (where book_id = any ($1)), ledger_now()
    from %I
  $sql$, v_table) using v_unverified, p_day;
end $$;
