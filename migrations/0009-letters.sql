-- The outbox: letters to people, written in the transaction that gives them their reason.
--
-- Why: a letter that is sent inside a request is lost with the request, or tells of a payment that
-- was rolled back. A row here and the job beside it exist exactly when their cause does, and the
-- operator sees what became of each letter. graphile-worker makes its own tables at the same
-- command, after ours, so nothing here names them.
--
-- Safe while an older version runs: it adds a table that nothing else names.

create type letter_state as enum ('queued', 'sent', 'failed');

-- `once` names the cause, such as a payment: two letters of one kind never share it.
-- The address is not checked here: a wrong one must fail its letter, not the payment beside it.
-- Bodies can hold links that sign somebody in, so they are gone as soon as a letter has ended.
-- `leased_until` is set while somebody is sending the letter; one in the past means that the sender
-- died, and the letter goes again.
create table letters (
  id uuid primary key default gen_random_uuid(),
  kind text not null
    constraint letters_kinds_are_words check (kind ~ '^[a-z][a-z0-9-]{1,39}$'),
  once text,
  recipient text not null,
  subject text not null,
  body_text text,
  body_html text,
  state letter_state not null default 'queued',
  attempts int4 not null default 0
    constraint letters_attempts_are_not_negative check (attempts >= 0),
  last_error text
    constraint letters_errors_are_short check (length(last_error) <= 500),
  leased_until timestamptz,
  posted_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  constraint letters_go_once unique (kind, once),
  constraint letters_have_a_body_while_queued check (
    (state = 'queued') = (body_text is not null)
    and (state = 'queued') = (body_html is not null)
  ),
  constraint letters_have_their_times check (
    (state = 'queued') = (ended_at is null)
    and (state = 'queued' or leased_until is null)
  )
);

-- The queue is short and asked for every minute; the rest is read by day.
create index letters_queued on letters (posted_at) where state = 'queued';
create index letters_ended on letters (ended_at) where state <> 'queued';
