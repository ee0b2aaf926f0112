-- The trigger function that refuses to change a sealed month.

create or replace function month_seals_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'a sealed month is never changed or removed; corrections appear in a later month'
    using errcode = 'restrict_violation';
end $$;
