-- Rows of operator_acts are only inserted, never changed or deleted.

create or replace function operator_acts_refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception 'what operators did is never changed or removed'
    using errcode = 'restrict_violation';
end
$$;
