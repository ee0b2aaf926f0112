-- The account that an e-mail address belongs to, or belonged to last. Its id names a person where
-- the address must not stand: when the account is erased, nothing leads from the id to the person.

create or replace function accounts_pseudonym(p_email text) returns text
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(
    (select id from accounts where email = lower(p_email)),
    (select account_id from email_changes where old_email = lower(p_email)),
    (select id from accounts where former_email = lower(p_email) order by closed_at desc limit 1))
$$;
