-- Top-ups: packs that are bought without their owner, by a payment method that was saved for it.
--
-- Why: who relies on requests must not run dry at night. An order of a top-up is an ordinary order
-- and goes the ordinary way; only who asked for it differs. The tables refuse a second one while
-- one is open, so that a crossing of the threshold is paid once whoever notices it.
--
-- Safe while an older version runs: it adds tables that nothing else names, and columns of orders
-- with a default. The columns take an instant, the index a short SHARE lock on orders.

alter table orders
  -- Asked for by us, at the owner's standing word.
  add column is_top_up boolean not null default false,
  -- The payer agreed that the method is kept for top-ups.
  add column saves_method boolean not null default false;

create unique index orders_top_ups_are_one_at_a_time on orders (book_id)
  where is_top_up and state in ('created', 'pending', 'expired');

-- What the provider calls the saved method; the card itself is known to nobody here.
create table saved_methods (
  book_id int8 primary key references books (id),
  provider text not null
    constraint saved_methods_name_their_provider check (provider ~ '^[a-z][a-z0-9-]{1,31}$'),
  method payment_method not null,
  provider_method_id text not null
    constraint saved_methods_ids_are_short check (length(provider_method_id) between 1 and 100),
  -- Such as the last digits of a card: what its owner knows it by.
  title text not null constraint saved_methods_titles_are_short check (length(title) <= 100),
  saved_at timestamptz not null default ledger_now()
);

-- Every agreement, as it was given. Nobody changes one: a new word of the owner's is a new row.
create table top_up_consents (
  id int8 generated always as identity primary key,
  book_id int8 not null references books (id),
  version text not null
    constraint top_up_consents_name_their_text check (length(version) between 1 and 40),
  address text not null
    constraint top_up_consents_addresses_are_short check (length(address) <= 100),
  method_title text not null,
  pack_id text not null,
  price_kopecks int8 not null
    constraint top_up_consents_are_about_a_price check (price_kopecks > 0),
  threshold int8 not null
    constraint top_up_consents_have_a_threshold check (threshold > 0),
  ceiling_kopecks int8 not null,
  given_at timestamptz not null default ledger_now(),
  constraint top_up_consents_allow_one_purchase check (ceiling_kopecks >= price_kopecks)
);
create trigger top_up_consents_never_change before update on top_up_consents
  for each row execute function ledger_refuse_change();

-- The standing word in force. `crossing` numbers the orders, and the number is the order's attempt.
create table top_ups (
  book_id int8 primary key references books (id),
  consent_id int8 not null references top_up_consents (id),
  is_on boolean not null,
  crossing int4 not null default 0
    constraint top_ups_crossings_are_counted check (crossing >= 0),
  -- The month in which the owner was told that the ceiling keeps us from buying.
  ceiling_told date,
  stopped_why text
    constraint top_ups_stop_for_a_reason
      check (stopped_why in ('owner', 'declined', 'pack_changed')),
  stopped_at timestamptz,
  constraint top_ups_are_on_or_stopped check (
    is_on = (stopped_why is null) and is_on = (stopped_at is null)
  )
);
create index top_ups_on on top_ups (book_id) where is_on;
