-- Price lists in `tariffs`, and what explains a charge in `entries`.
--
-- Why: a model has one price list for each combination of prompt length, speed, geography and
-- service tier, and a charge names the one that applied. What counts and list do not explain
-- (another model answered, passes that the counts do not include, uses of tools, values that the
-- catalogue does not list) stands in `parts`. The columns that usage pages need come in the same
-- step, because each change of this table locks it. Three endings are new; nothing writes them yet.
--
-- Safe while an older version runs: new columns are null or have a default, and the functions that
-- it calls keep their names, parameters and results; they call the new ones. It finds its tariffs
-- by version and model alone, which is right as long as no catalogue with several lists is applied:
-- it cannot read one. Apply such a catalogue when no process of the version before runs any more.
--
-- The migration locks `entries` and `tariffs` to add columns without values. Requests waited 0.4 s
-- for that with 62 partitions and 1.5 s with 461 (measured on two busy processors). It waits 0.1 s
-- for the locks, every tenth time 1.5 s, up to 50 times with pauses of 0.4 s, so requests wait
-- little even beside a long reader; then `migrate` fails, changes nothing, and is to be run again.

alter type ending add value 'client_slow';
alter type ending add value 'drained';
alter type ending add value 'shed';

do $$
declare
  v_columns text := 'add column first_byte_ms int4, add column total_ms int4,
    add column waited_ms int4, add column bytes_in int4, add column bytes_out int4,
    add column status int2, add column retries int2, add column streamed boolean,
    add column stop_reason text, add column error_type text, add column target text,
    add column vendor_request_id text, add column service_tier text, add column session_id text,
    add column agent_id text, add column parent_agent_id text, add column label text,
    add column parts jsonb';
  v_today date := (ledger_now() at time zone 'UTC')::date;
  v_table text;
  -- Migration 0024 in the same transaction keeps requests waiting already: a pause would not help.
  v_is_locked boolean := exists (select from pg_locks
    where pid = pg_backend_pid() and relation = 'entries'::regclass
      and mode = 'AccessExclusiveLock');
begin
  for attempt in 1..50 loop
    begin
      -- PostgreSQL cancels an autovacuum of a day for us after deadlock_timeout, 1 s by default.
      perform set_config('lock_timeout',
        case when v_is_locked or attempt % 10 = 0 then '1500ms' else '100ms' end, true);
      -- Pages lock entries before tariffs. With tariffs locked before this loop, a page and the
      -- migration would each wait for the other.
      lock table entries, tariffs in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 50 or v_is_locked then
        raise;
      end if;
      perform pg_sleep(0.4);
    end;
  end loop;
  execute 'alter table entries ' || v_columns;
  execute 'alter table entries_unverified ' || v_columns;

  -- Only the days after today get the index now: they are empty, and in the days before there is
  -- nothing to find. New days get it with their table.
  create index entries_with_unlisted on only entries (day) where parts ? 'unlisted';
  for v_table in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'entries'::regclass and not i.inhdetachpending
      and c.relname > 'entries_' || to_char(v_today, 'YYYYMMDD')
    order by c.relname
  loop
    execute format('create index %I on %I (day) where parts ? ''unlisted''',
      v_table || '_with_unlisted', v_table);
    execute format('alter index entries_with_unlisted attach partition %I',
      v_table || '_with_unlisted');
  end loop;
  -- The limit of `migrate` again, for later migrations in the same transaction.
  perform set_config('lock_timeout', '10s', true);
end $$;

alter table tariffs
  -- The price of an uncached input token: before, always one credit.
  add column input int8 not null default 1000000
    constraint tariffs_input_is_not_negative check (input >= 0),
  -- The name of the list, such as `above=100000 speed=fast`; empty for the default one.
  add column list text not null default '';
alter table tariffs
  add constraint tariffs_are_one_per_version_model_and_list unique (catalogue_version, model, list);
-- contract: an older version inserts with `on conflict do nothing`; the new constraint serves it.
alter table tariffs drop constraint tariffs_are_one_per_version_and_model;

create or replace function ledger_settle_request(
  p_wait boolean, p_day int4, p_id uuid, p_book int8, p_input int8, p_output int8,
  p_cache_read int8, p_cache_write_5m int8, p_cache_write_1h int8, p_priced int8, p_ending ending,
  p_estimated boolean, p_message_id text, p_numbers int4[], p_texts text[],
  out outcome text, out amount int8, out written_off int8, out available int8
) language plpgsql as $$
declare
  v_seq int8;
  v_available int8;
  v_balance int8;
  v_tariff int4;
  v_unheld int8;
  v_released int8;
  v_from_available int8 := 0;
  h holds;
  e entries;
  v_now timestamptz;
  v_day date;
  v_today date;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform ledger_assert_read_committed();
  end if;
  if p_wait then
    select b.seq, b.available, b.available + b.held - b.debt, b.day
    into v_seq, v_available, v_balance, v_day
    from books b where b.id = p_book for no key update;
  else
    select b.seq, b.available, b.available + b.held - b.debt, b.day
    into v_seq, v_available, v_balance, v_day
    from books b where b.id = p_book for no key update skip locked;
  end if;
  if not found then
    outcome := ledger_missing(p_book);
    return;
  end if;
  v_now := ledger_now();
  v_today := greatest((v_now at time zone 'UTC')::date, v_day);
  update holds set state = 'settled', ending = p_ending, closed_at = v_now,
    charged = least(p_priced, holds.granted), entry_seq = v_seq + 1
  where holds.day = p_day and holds.id = p_id and holds.state = 'open' and holds.book_id = p_book
  returning holds.tariff, holds.charged, holds.granted, holds.granted - holds.charged
  into v_tariff, amount, v_unheld, v_released;

  if not found then
    select * into h from holds where holds.day = p_day and holds.id = p_id;
    if h.id is null then
      outcome := 'hold_unknown';
      return;
    elsif h.book_id <> p_book then
      outcome := 'mismatch';
      return;
    elsif h.state = 'settled' then
      -- The days keep the look-up to few partitions: an entry is never on an earlier day than its
      -- time, nor on a later one than its book.
      select * into e from entries where book_id = p_book and seq = h.entry_seq
        and day >= (h.closed_at at time zone 'UTC')::date and day <= v_today and hold_id = p_id;
      outcome := case when (e.input, e.output, e.cache_read, e.cache_write_5m, e.cache_write_1h,
          e.priced, e.ending, e.estimated) = (p_input, p_output, p_cache_read, p_cache_write_5m,
          p_cache_write_1h, p_priced, p_ending, p_estimated)
        and e.message_id is not distinct from p_message_id
        and coalesce(e.tariff = p_numbers[1], true) then 'settled' else 'mismatch' end;
      amount := h.charged;
      written_off := e.written_off;
      available := v_available;
      return;
    elsif h.ending not in ('process_lost', 'overdue') then
      outcome := 'voided';
      return;
    end if;
    -- The process was taken for dead, and its credits are free again: the late charge takes what is
    -- still there and the house bears the rest.
    update holds set state = 'settled', ending = p_ending, closed_at = v_now,
      charged = least(p_priced, holds.granted, v_available), entry_seq = v_seq + 1
    where holds.day = p_day and holds.id = p_id
    returning holds.tariff, holds.charged, 0, 0, holds.charged
    into v_tariff, amount, v_unheld, v_released, v_from_available;
  end if;

  written_off := p_priced - amount;
  insert into entries (book_id, seq, amount, balance, at, hold_id, input, output, cache_read,
    cache_write_5m, cache_write_1h, priced, written_off, day, tariff, kind, contra, ending,
    estimated, message_id, first_byte_ms, total_ms, waited_ms, bytes_in, bytes_out, status,
    retries, streamed, stop_reason, error_type, target, vendor_request_id, service_tier,
    session_id, agent_id, parent_agent_id, label, parts)
  values (p_book, v_seq + 1, -amount, v_balance - amount, v_now, p_id, p_input,
    p_output, p_cache_read, p_cache_write_5m, p_cache_write_1h, p_priced, written_off,
    v_today, coalesce(p_numbers[1], v_tariff), 'charge', 'revenue', p_ending, p_estimated,
    p_message_id, p_numbers[2], p_numbers[3], p_numbers[4], p_numbers[5], p_numbers[6],
    p_numbers[7], p_numbers[8], p_numbers[9] = 1, p_texts[1], p_texts[2], p_texts[3], p_texts[4],
    p_texts[5], p_texts[6], p_texts[7], p_texts[8], p_texts[9], p_texts[10]::jsonb);
  -- Debt is paid before anything is available.
  update books b set
    held = b.held - v_unheld,
    debt = b.debt - least(b.debt, v_released),
    available = b.available + v_released - least(b.debt, v_released) - v_from_available,
    seq = b.seq + 1,
    requests = b.requests + 1,
    spent_total = b.spent_total + amount,
    day = v_today,
    day_spent = case when b.day = v_today then b.day_spent else 0 end + amount,
    velocity_spent = ledger_velocity_spent(b.velocity_limit, b.velocity_until, b.velocity_spent,
      v_now, amount),
    velocity_until = ledger_velocity_until(b.velocity_limit, b.velocity_until, b.velocity_seconds,
      v_now),
    blocked_reason = case
      when b.blocked_reason is null and b.velocity_limit < ledger_velocity_spent(b.velocity_limit,
        b.velocity_until, b.velocity_spent, v_now, amount) then 'velocity_stopped'
      else b.blocked_reason end
  where b.id = p_book
  returning b.available into available;
  outcome := 'settled';
end $$;

create or replace function ledger_settle_requests(
  p_wait boolean,
  p_days int4[], p_ids uuid[], p_books int8[], p_inputs int8[], p_outputs int8[],
  p_cache_reads int8[], p_cache_writes_5m int8[], p_cache_writes_1h int8[], p_priced int8[],
  p_endings ending[], p_estimated boolean[], p_message_ids text[], p_numbers int4[],
  p_texts text[],
  out outcomes text, out amounts text, out books text, out available text
) language plpgsql as $$
declare
  v_count int4 := cardinality(p_ids);
  v_locked int8[] := ledger_lock(p_wait, p_books);
  v_now timestamptz := ledger_now();
  v_today date := (v_now at time zone 'UTC')::date;
  v_expected int4;
  v_closed int4;
  v_outcomes text[] := array_fill(null::text, array[v_count]);
  v_one record;
begin
  begin
    with ops as materialized (
      select o.n, o.book, row_number() over (partition by o.book order by o.n) as nth
      from ledger_places(p_books, v_locked) as o
    ), closed as (
      update holds h set state = 'settled', ending = p_endings[o.n], closed_at = v_now,
        charged = least(p_priced[o.n], h.granted), entry_seq = b.seq + o.nth
      from ops o join books b on b.id = o.book
      where h.day = p_days[o.n] and h.id = p_ids[o.n] and h.state = 'open' and h.book_id = o.book
      returning o.n, o.book, h.entry_seq as seq, h.tariff, h.granted, h.charged,
        b.available + b.held - b.debt as balance, greatest(v_today, b.day) as day
    ), written as (
      insert into entries (book_id, seq, amount, balance, at, hold_id, input, output, cache_read,
        cache_write_5m, cache_write_1h, priced, written_off, day, tariff, kind, contra, ending,
        estimated, message_id, first_byte_ms, total_ms, waited_ms, bytes_in, bytes_out, status,
        retries, streamed, stop_reason, error_type, target, vendor_request_id, service_tier,
        session_id, agent_id, parent_agent_id, label, parts)
      select c.book, c.seq, -c.charged,
        c.balance - sum(c.charged) over (partition by c.book order by c.seq), v_now, p_ids[c.n],
        p_inputs[c.n], p_outputs[c.n], p_cache_reads[c.n], p_cache_writes_5m[c.n],
        p_cache_writes_1h[c.n], p_priced[c.n], p_priced[c.n] - c.charged, c.day,
        coalesce(p_numbers[9 * c.n - 8], c.tariff), 'charge', 'revenue', p_endings[c.n],
        p_estimated[c.n], p_message_ids[c.n], p_numbers[9 * c.n - 7], p_numbers[9 * c.n - 6],
        p_numbers[9 * c.n - 5], p_numbers[9 * c.n - 4], p_numbers[9 * c.n - 3],
        p_numbers[9 * c.n - 2], p_numbers[9 * c.n - 1], p_numbers[9 * c.n] = 1,
        p_texts[10 * c.n - 9], p_texts[10 * c.n - 8], p_texts[10 * c.n - 7],
        p_texts[10 * c.n - 6], p_texts[10 * c.n - 5], p_texts[10 * c.n - 4],
        p_texts[10 * c.n - 3], p_texts[10 * c.n - 2], p_texts[10 * c.n - 1],
        p_texts[10 * c.n]::jsonb
      from closed c
    ), sums as (
      select c.book, count(*) as requests, sum(c.charged)::int8 as charged,
        sum(c.granted)::int8 as granted,
        string_agg(c.n || ':' || c.charged, ',') filter (where c.charged < p_priced[c.n]) as capped
      from closed c group by c.book
    ), updated as (
      update books b set
        held = b.held - s.granted,
        debt = b.debt - least(b.debt, s.granted - s.charged),
        available = b.available + s.granted - s.charged - least(b.debt, s.granted - s.charged),
        seq = b.seq + s.requests,
        requests = b.requests + s.requests,
        spent_total = b.spent_total + s.charged,
        day = greatest(v_today, b.day),
        day_spent = case when b.day >= v_today then b.day_spent else 0 end + s.charged,
        velocity_spent = ledger_velocity_spent(b.velocity_limit, b.velocity_until,
          b.velocity_spent, v_now, s.charged),
        velocity_until = ledger_velocity_until(b.velocity_limit, b.velocity_until,
          b.velocity_seconds, v_now),
        blocked_reason = case
          when b.blocked_reason is null and b.velocity_limit < ledger_velocity_spent(
            b.velocity_limit, b.velocity_until, b.velocity_spent, v_now, s.charged)
            then 'velocity_stopped'
          else b.blocked_reason end
      from sums s where b.id = s.book
      returning b.id, b.available, s.requests, s.capped
    )
    select (select count(*) from ops), coalesce(sum(u.requests), 0), string_agg(u.capped, ','),
      string_agg(u.id::text, ','), string_agg(u.available::text, ',')
    into v_expected, v_closed, amounts, books, available
    from updated u;
    if v_closed <> v_expected then
      raise exception 'not ordinary' using errcode = 'TG001';
    end if;
    if v_expected = v_count then
      outcomes := 'settled';
      return;
    end if;
    for i in 1..v_count loop
      if p_books[i] = any (v_locked) then
        v_outcomes[i] := 'settled';
      end if;
    end loop;
    outcomes := ledger_outcomes(v_outcomes, p_books);
    return;
  exception when sqlstate 'TG001' then
    perform ledger_refuse_doubles(p_ids);
  end;
  amounts := null;
  for i in 1..v_count loop
    if p_books[i] = any (v_locked) then
      v_one := ledger_settle_request(true, p_days[i], p_ids[i], p_books[i], p_inputs[i],
        p_outputs[i], p_cache_reads[i], p_cache_writes_5m[i], p_cache_writes_1h[i], p_priced[i],
        p_endings[i], p_estimated[i], p_message_ids[i], p_numbers[9 * i - 8:9 * i],
        p_texts[10 * i - 9:10 * i]);
      v_outcomes[i] := v_one.outcome;
      if v_one.amount < p_priced[i] then
        amounts := concat_ws(',', amounts, i || ':' || v_one.amount);
      end if;
    end if;
  end loop;
  outcomes := ledger_outcomes(v_outcomes, p_books);
  select string_agg(b.id::text, ','), string_agg(b.available::text, ',') into books, available
  from books b where b.id = any (v_locked);
end $$;

create or replace function ledger_settle(
  p_wait boolean, p_day int4, p_id uuid, p_book int8, p_input int8, p_output int8,
  p_cache_read int8, p_cache_write_5m int8, p_cache_write_1h int8, p_priced int8, p_ending ending,
  p_estimated boolean, p_message_id text,
  out outcome text, out amount int8, out written_off int8, out available int8
) language plpgsql as $$
begin
  select s.outcome, s.amount, s.written_off, s.available
  into outcome, amount, written_off, available
  from ledger_settle_request(p_wait, p_day, p_id, p_book, p_input, p_output, p_cache_read,
    p_cache_write_5m, p_cache_write_1h, p_priced, p_ending, p_estimated, p_message_id, null,
    null) s;
end $$;

create or replace function ledger_settle_many(
  p_wait boolean,
  p_days int4[], p_ids uuid[], p_books int8[], p_inputs int8[], p_outputs int8[],
  p_cache_reads int8[], p_cache_writes_5m int8[], p_cache_writes_1h int8[], p_priced int8[],
  p_endings ending[], p_estimated boolean[], p_message_ids text[],
  out outcomes text, out amounts text, out books text, out available text
) language plpgsql as $$
begin
  select s.outcomes, s.amounts, s.books, s.available into outcomes, amounts, books, available
  from ledger_settle_requests(p_wait, p_days, p_ids, p_books, p_inputs, p_outputs, p_cache_reads,
    p_cache_writes_5m, p_cache_writes_1h, p_priced, p_endings, p_estimated, p_message_ids, null,
    null) s;
end $$;

create or replace function ledger_void_request(
  p_wait boolean, p_instance int8, p_day int4, p_id uuid, p_book int8, p_tariff int4,
  p_ending ending, p_reason text, p_numbers int4[], p_texts text[],
  out outcome text, out available int8
) language plpgsql as $$
declare
  b books;
  h holds;
  v_now timestamptz;
  v_today date;
begin
  perform ledger_assert_read_committed();
  if p_wait then
    select * into b from books where books.id = p_book for no key update;
  else
    select * into b from books where books.id = p_book for no key update skip locked;
  end if;
  if not found then
    outcome := ledger_missing(p_book);
    return;
  end if;
  v_now := ledger_now();
  v_today := greatest((v_now at time zone 'UTC')::date, b.day);
  available := b.available;
  update holds set state = 'voided', ending = p_ending, closed_at = v_now, entry_seq = b.seq + 1
  where holds.day = p_day and holds.id = p_id and holds.state = 'open' and holds.book_id = p_book
  returning * into h;

  if not found then
    insert into holds (id, book_id, instance, worst, floor, granted, fence, created_at,
      deadline_at, day, tariff, state, ending, closed_at)
    values (p_id, p_book, p_instance, 0, 0, 0, b.fence, v_now, v_now, p_day, p_tariff, 'voided',
      p_ending, v_now)
    on conflict do nothing;
    if found then
      outcome := 'voided';
    else
      select case when holds.book_id <> p_book then 'mismatch' else holds.state::text end
      into outcome from holds where holds.day = p_day and holds.id = p_id;
    end if;
    return;
  end if;

  insert into entries (book_id, seq, amount, balance, at, hold_id, day, tariff, kind, contra,
    ending, note, first_byte_ms, total_ms, waited_ms, bytes_in, bytes_out, status, retries,
    streamed, stop_reason, error_type, target, vendor_request_id, service_tier, session_id,
    agent_id, parent_agent_id, label)
  values (p_book, b.seq + 1, 0, b.available + b.held - b.debt, v_now, p_id, v_today,
    h.tariff, 'void', 'none', p_ending, p_reason, p_numbers[2], p_numbers[3], p_numbers[4],
    p_numbers[5], p_numbers[6], p_numbers[7], p_numbers[8], p_numbers[9] = 1, p_texts[1],
    p_texts[2], p_texts[3], p_texts[4], p_texts[5], p_texts[6], p_texts[7], p_texts[8],
    p_texts[9]);
  update books set
    held = books.held - h.granted,
    debt = books.debt - least(books.debt, h.granted),
    available = books.available + h.granted - least(books.debt, h.granted),
    seq = books.seq + 1,
    day = v_today,
    day_spent = case when books.day = v_today then books.day_spent else 0 end
  where books.id = p_book
  returning books.available into available;
  outcome := 'voided';
end $$;

create or replace function ledger_void_requests(
  p_wait boolean, p_instance int8, p_days int4[], p_ids uuid[], p_books int8[], p_tariffs int4[],
  p_endings ending[], p_reasons text[], p_numbers int4[], p_texts text[], out outcomes text
) language plpgsql as $$
declare
  v_locked int8[] := ledger_lock(p_wait, p_books);
  v_outcomes text[] := array_fill(null::text, array[cardinality(p_ids)]);
  v_one record;
begin
  perform ledger_refuse_doubles(p_ids);
  for i in 1..cardinality(p_ids) loop
    if p_books[i] = any (v_locked) then
      v_one := ledger_void_request(true, p_instance, p_days[i], p_ids[i], p_books[i],
        p_tariffs[i], p_endings[i], p_reasons[i], p_numbers[9 * i - 8:9 * i],
        p_texts[10 * i - 9:10 * i]);
      v_outcomes[i] := v_one.outcome;
    end if;
  end loop;
  outcomes := ledger_outcomes(v_outcomes, p_books);
end $$;

create or replace function ledger_void(
  p_wait boolean, p_instance int8, p_day int4, p_id uuid, p_book int8, p_tariff int4,
  p_ending ending, p_reason text, out outcome text, out available int8
) language plpgsql as $$
begin
  select v.outcome, v.available into outcome, available
  from ledger_void_request(p_wait, p_instance, p_day, p_id, p_book, p_tariff, p_ending, p_reason,
    null, null) v;
end $$;

create or replace function ledger_void_many(
  p_wait boolean, p_instance int8, p_days int4[], p_ids uuid[], p_books int8[], p_tariffs int4[],
  p_endings ending[], p_reasons text[], out outcomes text
) language plpgsql as $$
begin
  outcomes := ledger_void_requests(p_wait, p_instance, p_days, p_ids, p_books, p_tariffs,
    p_endings, p_reasons, null, null);
end $$;

create or replace function ledger_cost(p_counts jsonb, p_price jsonb) returns numeric
language sql immutable as $$
  select sum(o.tokens::numeric * o.each::numeric)
  from rows from (jsonb_array_elements_text(p_counts), jsonb_array_elements_text(p_price))
    as o (tokens, each)
$$;

create or replace function ledger_parts_priced(p_parts jsonb, p_own int8, p_counts int8[])
returns numeric language sql immutable as $$
  select coalesce(ledger_cost(to_jsonb(p_counts), p_parts #> '{served,price}'), p_own)
    + coalesce((select sum(ledger_cost(p -> 'counts', p -> 'price'))
        from jsonb_array_elements(p_parts -> 'passes') as p), 0)
    + coalesce((select sum((u ->> 'count')::numeric * (u ->> 'each')::numeric)
        from jsonb_array_elements(p_parts -> 'uses') as u), 0)
$$;

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
