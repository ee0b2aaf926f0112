-- Void: closes a hold without a charge, one row or an array of at most 256. The rules that it keeps
-- stand at the head of hold.sql.

-- Gives a hold back, free of charge, and leaves an entry of nothing that says why: the owner sees
-- failures too. Void of an unknown id writes a closed row, so that a delayed hold cannot appear
-- after its request was given up.
create or replace function ledger_void(
  p_wait boolean, p_instance int8, p_day int4, p_id uuid, p_book int8, p_tariff int4,
  p_ending ending, p_reason text, out outcome text, out available int8
) language plpgsql as $$
declare
  b books;
  h holds;
  v_now timestamptz;
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
    ending, note)
  values (p_book, b.seq + 1, 0, b.available + b.held - b.debt, v_now, p_id,
    (v_now at time zone 'UTC')::date, h.tariff, 'void', 'none', p_ending, p_reason);
  update books set
    held = books.held - h.granted,
    debt = books.debt - least(books.debt, h.granted),
    available = books.available + h.granted - least(books.debt, h.granted),
    seq = books.seq + 1
  where books.id = p_book
  returning books.available into available;
  outcome := 'voided';
end $$;

create or replace function ledger_void_many(
  p_wait boolean, p_instance int8, p_days int4[], p_ids uuid[], p_books int8[], p_tariffs int4[],
  p_endings ending[], p_reasons text[], out outcomes text
) language plpgsql as $$
declare
  v_locked int8[] := ledger_lock(p_wait, p_books);
  v_outcomes text[] := array_fill(null::text, array[cardinality(p_ids)]);
  v_one record;
begin
  perform ledger_refuse_doubles(p_ids);
  for i in 1..cardinality(p_ids) loop
    if p_books[i] = any (v_locked) then
      v_one := ledger_void(true, p_instance, p_days[i], p_ids[i], p_books[i], p_tariffs[i],
        p_endings[i], p_reasons[i]);
      v_outcomes[i] := v_one.outcome;
    end if;
  end loop;
  outcomes := ledger_outcomes(v_outcomes, p_books);
end $$;
