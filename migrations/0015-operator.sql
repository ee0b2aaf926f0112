-- What operators did: one line for each act, with who, when, what was typed and how it ended.
--
-- Why: credits can be given and taken by hand, and accounts stopped. Months later somebody asks who
-- did it and for what reason; the answer must not depend on a shell's history.
--
-- Safe while an older version runs: it adds a table that nothing else names.

create type act_outcome as enum ('begun', 'done', 'refused', 'failed');

-- Rows are only ever added. An act in one transaction of ours is one row, done. One that another
-- transaction or another service carries out is a row before it begins and a second one, which
-- names the first, when it has ended: a beginning without an end is a process that died on the way.
create table operator_acts (
  id int8 generated always as identity primary key,
  of_act int8
    constraint operator_acts_ends_name_their_beginning references operator_acts (id)
    constraint operator_acts_end_once unique,
  at timestamptz not null default clock_timestamp(),
  acted_by text not null
    constraint operator_acts_name_who_acted check (length(acted_by) between 1 and 100),
  -- The account of the operating system, whatever name was given.
  os_user text not null
    constraint operator_acts_name_a_machine check (length(os_user) between 1 and 200),
  command text not null
    constraint operator_acts_say_what_was_typed check (length(command) between 1 and 2000),
  outcome act_outcome not null,
  -- What it came to, or why it did not.
  detail text not null
    constraint operator_acts_details_are_short check (length(detail) <= 1000),
  constraint operator_acts_end_only_what_began check (outcome <> 'begun' or of_act is null)
);

create function operator_acts_refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception 'what operators did is never changed or removed'
    using errcode = 'restrict_violation';
end
$$;

create trigger operator_acts_are_append_only
before update or delete or truncate on operator_acts
for each statement execute function operator_acts_refuse_change();
