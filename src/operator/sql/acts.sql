-- The list of operators' acts only grows.

create or replace function operator_acts_refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception 'what operators did is never changed or removed'
    using errcode = 'restrict_violation';
end
$$;
