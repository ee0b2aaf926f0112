-- The only function that adds the credits of a promo code.

-- Adds a code's credits for a redemption, once. The amount is the code's, and the code's limits of
-- time, number and purchases are checked against the rows of the redemption, whoever wrote them.
-- Answers like ledger_credit, or 'not_redeemed'.
create or replace function promos_credit(
  p_code text, p_book int8, out outcome text, out seq int8, out available int8, out credits int8
) language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  select c.credits into credits from promo_codes c
  join promo_redemptions r on r.code = c.code and r.book_id = p_book
  where c.code = p_code and c.starts_at <= r.redeemed_at and r.redeemed_at < c.ends_at
    and c.redemptions_max >= (select count(*) from promo_redemptions a where a.code = c.code)
    and c.purchases_min <= (
      select count(*) from promo_purchases p where p.code = c.code and p.book_id = p_book);
  if not found then
    outcome := 'not_redeemed';
    return;
  end if;
  select l.outcome, l.seq, l.available into outcome, seq, available
  from ledger_credit(p_book, 'promo', p_code || ' ' || p_book, credits, 'promo', p_code) l;
end $$;
