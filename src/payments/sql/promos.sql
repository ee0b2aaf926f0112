-- The only function that adds the credits of a promo code.

-- Adds a code's credits for a redemption, once. The amount is the code's, and the code's limits of
-- time, number and purchases are checked against the rows of the redemption, whoever wrote them.
-- The code's lock is taken before its redemptions are counted, so that they are credited in turn.
-- A purchase that opens it is the book's own, paid, and neither refunded nor disputed. Answers like
-- ledger_credit, or 'not_redeemed'.
create or replace function promos_credit(
  p_code text, p_book int8, out outcome text, out seq int8, out available int8, out credits int8
) language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from promo_codes c where c.code = p_code for no key update;
  select c.credits into credits from promo_codes c
  join promo_redemptions r on r.code = c.code and r.book_id = p_book
  where c.code = p_code and c.starts_at <= r.redeemed_at and r.redeemed_at < c.ends_at
    and c.redemptions_max >= (select count(*) from promo_redemptions a where a.code = c.code)
    and c.purchases_min <= (
      select count(*) from promo_purchases p join orders o on o.id = p.order_id
      where p.code = c.code and p.book_id = p_book and o.book_id = p_book
        and o.credited_at is not null and o.state in ('credited', 'dispute_won')
        and o.refunded_kopecks = 0);
  if not found then
    outcome := 'not_redeemed';
    return;
  end if;
  select l.outcome, l.seq, l.available into outcome, seq, available
  from ledger_credit(p_book, 'promo', p_code || ' ' || p_book, credits, 'promo', p_code) l;
end $$;
