-- The vendor's bill by days, and what a request without a charge had used.
--
-- Why: the vendor also bills requests that we do not charge, such as a reply that broke off. Their
-- voids now keep the counts that were reported until then, so that the comparison with the vendor's
-- bill can name them. `vendor_bills` has the last comparison of each day.
--
-- Safe while an older version runs: it sends no parts with a void, and does not read the new table.

create table vendor_bills (
  -- The vendor's day, which is a day in UTC.
  day date primary key,
  compared_at timestamptz not null,
  -- Where the bill came from: a file, or the vendor's report.
  source text not null,
  -- What was billed and counted, line by line, and the sums of the day.
  tie jsonb not null,
  -- The difference in millionths of what the day costs; the alarm compares it.
  difference_millionths int8 not null check (difference_millionths >= 0)
);

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
