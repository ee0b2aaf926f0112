-- Void: closes a hold without a charge, one row or an array of at most 256. It follows the rules
-- at the top of hold.sql.

-- Releases a hold's credits and writes an entry with amount 0 and the reason: the owner sees failed
-- requests too. For an unknown id it inserts a closed hold, so that a delayed hold cannot succeed
-- after its request was given up. p_numbers and p_texts are those of ledger_settle_request; the
-- parts have what the upstream had reported by then, which the vendor may bill.
create or replace function ledger_void_request(
  p_wait boolean, p_instance int8, p_day int4, p_id uuid, p_book int8, p_tariff int4,
  p_ending ending, p_reason text, p_numbers int4[], p_texts text[],
  out outcome text, out available int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
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
    agent_id, parent_agent_id, label, parts)
  values (p_book, b.seq + 1, 0, b.available + b.held - b.debt, v_now, p_id, v_today,
    h.tariff, 'void', 'none', p_ending, p_reason, p_numbers[2], p_numbers[3], p_numbers[4],
    p_numbers[5], p_numbers[6], p_numbers[7], p_numbers[8], p_numbers[9] = 1, p_texts[1],
    p_texts[2], p_texts[3], p_texts[4], p_texts[5], p_texts[6], p_texts[7], p_texts[8],
    p_texts[9], p_texts[10]::jsonb);
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
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
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

-- For the version before 0026, which does not say what a request was like.
create or replace function ledger_void(
  p_wait boolean, p_instance int8, p_day int4, p_id uuid, p_book int8, p_tariff int4,
  p_ending ending, p_reason text, out outcome text, out available int8
) language plpgsql as $$
begin
  select v.outcome, v.available into outcome, available
  from ledger_void_request(p_wait, p_instance, p_day, p_id, p_book, p_tariff, p_ending, p_reason,
    null, null) v;
end $$;

-- For the version before 0026.
create or replace function ledger_void_many(
  p_wait boolean, p_instance int8, p_days int4[], p_ids uuid[], p_books int8[], p_tariffs int4[],
  p_endings ending[], p_reasons text[], out outcomes text
) language plpgsql as $$
begin
  outcomes := ledger_void_requests(p_wait, p_instance, p_days, p_ids, p_books, p_tariffs,
    p_endings, p_reasons, null, null);
end $$;

-- Locks the book of a settle in quarantine and tells about its hold; no row when the book has not
-- got it.
create or replace function ledger_hold_lock(p_day int4, p_id uuid, p_book int8)
returns table (state hold_state, tariff int4) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from books b where b.id = p_book for no key update;
  return query
    select h.state, h.tariff from holds h
    where h.day = p_day and h.id = p_id and h.book_id = p_book;
end $$;

-- The settle of a swept hold was written off: gives the hold the ending `refused`, so that no copy
-- of the settle is charged later.
create or replace function ledger_hold_refuse(p_day int4, p_id uuid, p_book int8) returns void
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  update holds set ending = 'refused'
  where day = p_day and id = p_id and book_id = p_book and state = 'voided'
    and ending in ('process_lost', 'overdue')
$$;
