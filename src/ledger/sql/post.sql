-- Postings: credits, refunds, adjustments and forced debits, each once per kind and reference: the
-- posting is inserted first, and a repeat answers what it stored. They run inside the caller's
-- transaction (a payment's, a promo code's), which has locked its own rows already: the ledger
-- comes last.

-- Posts one rare entry to a book the caller has locked, and moves the book to the entry's day; the
-- caller changes its amounts. The note names nobody: entries never change, so an erasure could not
-- take a name out later. Answers 'posted', 'repeated' or 'mismatch'.
create or replace function ledger_post(
  b books, p_kind entry_kind, p_ref text, p_amount int8, p_lot int8, p_contra contra,
  p_note text, out outcome text, out seq int8
) language plpgsql as $$
declare
  v_now timestamptz := ledger_now();
  v_today date := greatest((v_now at time zone 'UTC')::date, b.day);
  v_stored postings;
begin
  insert into postings (kind, ref, book_id, amount, seq, lot, at)
  values (p_kind, p_ref, b.id, p_amount, b.seq + 1, p_lot, v_now)
  on conflict do nothing;
  if not found then
    select * into v_stored from postings where postings.kind = p_kind and postings.ref = p_ref;
    seq := v_stored.seq;
    outcome := case when (v_stored.book_id, v_stored.amount) = (b.id, p_amount)
      and v_stored.lot is not distinct from p_lot then 'repeated' else 'mismatch' end;
    return;
  end if;
  seq := b.seq + 1;
  insert into entries (book_id, seq, amount, balance, at, day, kind, contra, ref, note)
  values (b.id, seq, p_amount, b.available + b.held - b.debt + p_amount, v_now,
    v_today, p_kind, p_contra, p_ref,
    case when p_note <> '' then accounts_depersonalize(p_note, 2000, b.id) else p_note end);
  update books set day = v_today, day_spent = 0 where books.id = b.id and books.day < v_today;
  outcome := 'posted';
end $$;

-- Adds credits. Debt is paid first; what is left becomes available. Every credit is a lot. No role
-- may call it: those that credit a book call a function that names the reason, an order
-- (orders_credit), a redemption (promos_credit) or an operator (ledger_gift, ledger_adjust_up).
create or replace function ledger_credit(
  p_book int8, p_kind entry_kind, p_ref text, p_amount int8, p_contra contra, p_note text,
  out outcome text, out seq int8, out available int8
) language plpgsql as $$
declare
  b books;
  v_post record;
begin
  perform ledger_assert_read_committed();
  if p_amount <= 0 or p_kind not in ('purchase', 'promo', 'adjust', 'transfer') then
    raise exception 'a credit adds something' using errcode = 'check_violation';
  end if;
  select * into b from books where books.id = p_book for no key update;
  if not found then
    outcome := 'book_unknown';
    return;
  end if;
  v_post := ledger_post(b, p_kind, p_ref, p_amount, null, p_contra, p_note);
  outcome := v_post.outcome;
  seq := v_post.seq;
  available := b.available;
  if outcome <> 'posted' then
    return;
  end if;
  insert into lots (book_id, seq, kind, ref, credited, at)
  values (p_book, seq, p_kind, p_ref, p_amount, ledger_now());
  update books set
    debt = books.debt - least(books.debt, p_amount),
    available = books.available + p_amount - least(books.debt, p_amount),
    seq = ledger_credit.seq
  where books.id = p_book
  returning books.available into available;
end $$;

-- An operator's correction upwards.
create or replace function ledger_adjust_up(
  p_book int8, p_ref text, p_amount int8, p_contra contra, p_note text,
  out outcome text, out seq int8, out available int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  select c.outcome, c.seq, c.available into outcome, seq, available
  from ledger_credit(p_book, 'adjust', p_ref, p_amount, p_contra, p_note) c;
end $$;

-- Credits that an operator gives; they are never refunded. Its reference begins with `op `, or it
-- could take the place of the credits of a promo code.
create or replace function ledger_gift(
  p_book int8, p_ref text, p_amount int8, p_note text,
  out outcome text, out seq int8, out available int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  if left(p_ref, 3) <> 'op ' then
    raise exception 'the reference of a gift begins with op' using errcode = 'check_violation';
  end if;
  select c.outcome, c.seq, c.available into outcome, seq, available
  from ledger_credit(p_book, 'promo', p_ref, p_amount, 'promo', p_note) c;
end $$;

-- What of each lot is unspent: everything ever spent, laid over the lots oldest first.
create or replace function ledger_lots(p_book int8)
returns table (seq int8, kind entry_kind, ref text, credited int8, taken_back int8, unspent int8,
  at timestamptz)
language sql stable as $$
  select l.seq, l.kind, l.ref, l.credited, l.taken_back,
    greatest(0, least(l.credited - l.taken_back,
      (sum(l.credited - l.taken_back) over (order by l.seq) - b.spent_total)::int8)),
    l.at
  from lots l join books b on b.id = l.book_id
  where l.book_id = p_book
  order by l.seq
$$;

-- Sets credits of a lot aside for a refund: at most its unspent part and what is available.
create or replace function ledger_refund(
  p_book int8, p_lot int8, p_ref text, p_amount int8, p_note text,
  out outcome text, out seq int8, out available int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  b books;
  v_unspent int8;
  v_post record;
begin
  perform ledger_assert_read_committed();
  select * into b from books where books.id = p_book for no key update;
  if not found then
    outcome := 'book_unknown';
    return;
  end if;
  available := b.available;
  if not exists (select from postings where kind = 'refund' and ref = p_ref) then
    select l.unspent into v_unspent from ledger_lots(p_book) l where l.seq = p_lot;
    if v_unspent is null or p_amount <= 0 or p_amount > least(v_unspent, b.available) then
      outcome := 'exceeds_unspent';
      return;
    end if;
  end if;
  v_post := ledger_post(b, 'refund', p_ref, -p_amount, p_lot, 'clearing', p_note);
  outcome := v_post.outcome;
  seq := v_post.seq;
  if outcome <> 'posted' then
    return;
  end if;
  update lots set taken_back = lots.taken_back + p_amount
  where lots.book_id = p_book and lots.seq = p_lot;
  update books set available = books.available - p_amount, seq = ledger_refund.seq
  where books.id = p_book
  returning books.available into available;
end $$;

-- Gives back what a canceled refund had set aside. Debt is paid first, as by any credit.
create or replace function ledger_refund_reverse(
  p_book int8, p_lot int8, p_ref text, p_note text,
  out outcome text, out seq int8, out available int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  b books;
  v_amount int8;
  v_post record;
begin
  perform ledger_assert_read_committed();
  select * into b from books where books.id = p_book for no key update;
  if not found then
    outcome := 'book_unknown';
    return;
  end if;
  available := b.available;
  select -p.amount into v_amount from postings p
  where p.kind = 'refund' and p.ref = p_ref and p.book_id = p_book;
  if v_amount is null then
    outcome := 'refund_unknown';
    return;
  end if;
  v_post := ledger_post(b, 'refund_reversal', p_ref, v_amount, p_lot, 'clearing', p_note);
  outcome := v_post.outcome;
  seq := v_post.seq;
  if outcome <> 'posted' then
    return;
  end if;
  update lots set taken_back = lots.taken_back - v_amount
  where lots.book_id = p_book and lots.seq = p_lot;
  if not found then
    raise exception 'book % has no lot %', p_book, p_lot using errcode = 'foreign_key_violation';
  end if;
  update books set
    debt = books.debt - least(books.debt, v_amount),
    available = books.available + v_amount - least(books.debt, v_amount),
    seq = ledger_refund_reverse.seq
  where books.id = p_book
  returning books.available into available;
end $$;

-- Takes credits away without a purchase behind it. Beyond what is available it is refused: only a
-- forced debit makes debt.
create or replace function ledger_adjust_down(
  p_book int8, p_ref text, p_amount int8, p_contra contra, p_note text,
  out outcome text, out seq int8, out available int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  b books;
  v_post record;
begin
  perform ledger_assert_read_committed();
  if p_amount <= 0 then
    raise exception 'an adjustment down takes something' using errcode = 'check_violation';
  end if;
  select * into b from books where books.id = p_book for no key update;
  if not found then
    outcome := 'book_unknown';
    return;
  end if;
  available := b.available;
  if p_amount > b.available
    and not exists (select from postings where kind = 'adjust' and ref = p_ref) then
    outcome := 'exceeds_available';
    return;
  end if;
  v_post := ledger_post(b, 'adjust', p_ref, -p_amount, null, p_contra, p_note);
  outcome := v_post.outcome;
  seq := v_post.seq;
  if outcome = 'posted' then
    update books set available = books.available - p_amount, seq = ledger_adjust_down.seq
    where books.id = p_book
    returning books.available into available;
  end if;
end $$;

-- Money that has already gone back (a refund made at the provider, a lost dispute): takes what is
-- available and the rest becomes debt. p_lot may be null.
create or replace function ledger_forced_debit(
  p_book int8, p_lot int8, p_ref text, p_amount int8, p_contra contra, p_note text,
  out outcome text, out seq int8, out available int8, out debt int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  b books;
  v_post record;
begin
  perform ledger_assert_read_committed();
  if p_amount <= 0 then
    raise exception 'a forced debit takes something' using errcode = 'check_violation';
  end if;
  select * into b from books where books.id = p_book for no key update;
  if not found then
    outcome := 'book_unknown';
    return;
  end if;
  v_post := ledger_post(b, 'forced_debit', p_ref, -p_amount, p_lot, p_contra, p_note);
  outcome := v_post.outcome;
  seq := v_post.seq;
  available := b.available;
  debt := b.debt;
  if outcome <> 'posted' then
    return;
  end if;
  update lots set taken_back = least(lots.credited, lots.taken_back + p_amount)
  where lots.book_id = p_book and lots.seq = p_lot;
  if p_lot is not null and not found then
    raise exception 'book % has no lot %', p_book, p_lot using errcode = 'foreign_key_violation';
  end if;
  update books set
    available = books.available - least(books.available, p_amount),
    debt = books.debt + p_amount - least(books.available, p_amount),
    seq = ledger_forced_debit.seq
  where books.id = p_book
  returning books.available, books.debt into available, debt;
end $$;
