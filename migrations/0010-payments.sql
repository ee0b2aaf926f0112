-- Payments: orders, refunds, disputes, what providers told us, and promo codes.
--
-- Why: paid is credited, exactly once. An order, the ledger's posting and what follows from it are
-- one transaction, so everything about a purchase lives in the cell of its book. The tables refuse
-- what the code must never do: a payment of two orders, a credit taken back by a status, a price
-- that changes after the sale.
--
-- Safe while an older version runs: it adds tables that nothing else names. The foreign keys take
-- a short SHARE ROW EXCLUSIVE lock on books; these tables are cold, so later they cost nothing.
--
-- Money is kopecks, credits are microcredits (int8). Times are the database's, by ledger_now(),
-- except where a column says that they are the provider's.

create type order_state as enum (
  'created', 'pending', 'failed', 'canceled', 'expired', 'review',
  'credited', 'refund_pending', 'partially_refunded', 'refunded',
  'disputed', 'dispute_won', 'dispute_lost'
);
create type payment_method as enum ('card', 'sbp');
-- Who brought the news that an order was paid.
create type payment_trigger as enum (
  'buy', 'webhook', 'return', 'sweep', 'poll', 'recovery', 'operator'
);

-- What was bought is frozen on the row: a new catalogue changes no order. The order's id is the
-- provider's idempotence key, the reference in its metadata and the ledger's posting.
create table orders (
  id text primary key
    constraint orders_ids_carry_their_cell check (id ~ '^pay_[0-9a-f]{32}$'),
  book_id int8 not null references books (id),
  -- Made by the browser once per purchase: a second click finds the first order.
  attempt text not null
    constraint orders_attempts_are_short check (length(attempt) between 1 and 100),
  provider text not null
    constraint orders_name_their_provider check (provider ~ '^[a-z][a-z0-9-]{1,31}$'),
  method payment_method not null,
  state order_state not null,
  pack_id text not null constraint orders_packs_are_short check (length(pack_id) between 1 and 64),
  pack_title text not null
    constraint orders_titles_are_short check (length(pack_title) between 1 and 200),
  credits int8 not null constraint orders_buy_something check (credits > 0),
  price_kopecks int8 not null constraint orders_cost_something check (price_kopecks > 0),
  catalogue_version int4 not null
    constraint orders_name_their_catalogue check (catalogue_version > 0),
  -- Where its letters and its receipt go.
  email text not null constraint orders_emails_are_short check (length(email) between 3 and 254),
  locale text not null constraint orders_speak_two_languages check (locale in ('ru', 'en')),
  -- The tax settings of the receipt at the time of the sale; a refund repeats them.
  receipt jsonb,
  -- The very bytes that were posted, and are posted again when the outcome is unknown: the provider
  -- promises nothing for one key with two bodies. Gone once the provider has answered.
  request_body text
    constraint orders_bodies_are_short check (octet_length(request_body) <= 16384),
  provider_payment_id text
    constraint orders_payment_ids_are_short check (length(provider_payment_id) between 1 and 100),
  confirmation_kind text
    constraint orders_are_confirmed_by_redirect_or_qr
      check (confirmation_kind in ('redirect', 'qr')),
  confirmation text
    constraint orders_confirmations_are_short check (length(confirmation) between 1 and 4096),
  -- The provider's own hour for the payer, from the provider's own creation time.
  payable_until timestamptz,
  cancel_reason text
    constraint orders_reasons_are_short check (length(cancel_reason) between 1 and 100),
  receipt_state text
    constraint orders_receipts_have_three_states
      check (receipt_state in ('pending', 'succeeded', 'canceled')),
  -- When the money moved, by the provider's clock; and when it entered the ledger, by ours.
  captured_at timestamptz,
  credited_at timestamptz,
  credited_by payment_trigger,
  -- The ledger's entry of the purchase, which is also its lot.
  lot int8,
  refunded_kopecks int8 not null default 0
    constraint orders_refunds_are_not_negative check (refunded_kopecks >= 0),
  -- When somebody should look at it again, and how often that was done; null: never.
  next_at timestamptz,
  looks int4 not null default 0,
  looked_at timestamptz,
  -- The payer came back, or the provider first answered: polling starts anew from here.
  polled_from timestamptz not null default ledger_now(),
  created_at timestamptz not null default ledger_now(),
  constraint orders_are_one_per_attempt unique (book_id, attempt),
  constraint orders_have_one_payment_each unique (provider, provider_payment_id),
  constraint orders_are_bound_to_one_provider unique (id, provider),
  constraint orders_are_credited_whole check (
    (credited_at is null) = (lot is null) and (credited_at is null) = (credited_by is null)
    and (credited_at is null or provider_payment_id is not null)
  ),
  -- A status never takes a credit back: from here only a refund or a dispute leads on.
  constraint orders_stay_credited check (
    credited_at is null or state in ('credited', 'refund_pending', 'partially_refunded', 'refunded',
      'disputed', 'dispute_won', 'dispute_lost')
  ),
  constraint orders_are_not_credited_without_an_entry check (
    credited_at is not null or state not in ('credited', 'partially_refunded', 'disputed',
      'dispute_won', 'dispute_lost')
  ),
  constraint orders_confirmations_have_a_kind
    check ((confirmation is null) = (confirmation_kind is null)),
  constraint orders_can_be_posted_again check (state <> 'created' or request_body is not null)
);
create index orders_by_book on orders (book_id, id desc);
create index orders_due on orders (next_at) where next_at is not null;
create index orders_payable on orders (payable_until) where state = 'pending';
create index orders_by_credit on orders (credited_at) where credited_at is not null;

-- What was sold, to whom, for how much and by which provider never changes, and neither does the
-- payment or the entry once there is one. Not even a bug can credit another order's money.
create function orders_refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE'
    and (old.id, old.book_id, old.attempt, old.provider, old.method, old.pack_id, old.credits,
      old.price_kopecks, old.catalogue_version, old.created_at)
      = (new.id, new.book_id, new.attempt, new.provider, new.method, new.pack_id, new.credits,
      new.price_kopecks, new.catalogue_version, new.created_at)
    and (old.provider_payment_id is null or old.provider_payment_id = new.provider_payment_id)
    and (old.credited_at is null
      or (old.credited_at, old.lot, old.credited_by)
        is not distinct from (new.credited_at, new.lot, new.credited_by)) then
    return new;
  end if;
  raise exception 'an order keeps what was sold, its payment and its entry'
    using errcode = 'integrity_constraint_violation';
end $$;
create trigger orders_keep_their_word before update or delete on orders
  for each row execute function orders_refuse_change();

-- Money that came, or is about to come, with facts that differ from the order's. Nothing of it is
-- credited until a person decides. Without an order when the reference is one of ours that this
-- database has never seen.
create table payment_reviews (
  id int8 generated always as identity primary key,
  order_id text references orders (id),
  provider text not null,
  provider_payment_id text not null,
  reason text not null
    constraint payment_reviews_have_a_reason check (length(reason) between 1 and 100),
  -- What was expected and what was found, in words.
  detail text not null constraint payment_reviews_are_short check (length(detail) <= 1000),
  -- Null when the amount could not be read strictly.
  amount_kopecks int8,
  has_money boolean not null,
  opened_at timestamptz not null default ledger_now(),
  closed_at timestamptz,
  decision text
    constraint payment_reviews_end_in_three_ways
      check (decision in ('credit', 'refund', 'dismiss')),
  decided_by text,
  note text,
  constraint payment_reviews_are_opened_once unique (provider, provider_payment_id, reason),
  constraint payment_reviews_are_decided_by_someone check (
    (closed_at is null) = (decision is null) and (closed_at is null) = (decided_by is null)
  )
);
create index payment_reviews_open on payment_reviews (id) where closed_at is null;

create type refund_state as enum ('created', 'pending', 'succeeded', 'canceled');

-- Money on its way back. The credits are set aside in the transaction that inserts the row, under
-- the refund's id, so they cannot be spent meanwhile; a refund made at the provider's own desk
-- arrives here as succeeded, and its credits were taken by force.
create table refunds (
  id text primary key
    constraint refunds_ids_carry_their_cell check (id ~ '^rfd_[0-9a-f]{32}$'),
  order_id text not null,
  provider text not null,
  provider_payment_id text not null,
  provider_refund_id text
    constraint refunds_ids_there_are_short check (length(provider_refund_id) between 1 and 100),
  -- Once per click, as with orders; a refund made at the provider has its id there.
  attempt text not null
    constraint refunds_attempts_are_short check (length(attempt) between 1 and 100),
  state refund_state not null,
  amount_kopecks int8 not null constraint refunds_give_something check (amount_kopecks > 0),
  credits int8 not null constraint refunds_take_no_less_than_nothing check (credits >= 0),
  -- True when the credits were taken by force: there is nothing to release.
  is_forced boolean not null default false,
  -- The review that ordered it; its money was never credited.
  review_id int8 references payment_reviews (id),
  asked_by text not null
    constraint refunds_name_who_asked check (length(asked_by) between 1 and 100),
  reason text not null constraint refunds_reasons_are_short check (length(reason) <= 250),
  request_body text
    constraint refunds_bodies_are_short check (octet_length(request_body) <= 16384),
  cancel_reason text,
  next_at timestamptz,
  looks int4 not null default 0,
  created_at timestamptz not null default ledger_now(),
  ended_at timestamptz,
  foreign key (order_id, provider) references orders (id, provider),
  constraint refunds_are_one_per_attempt unique (order_id, attempt),
  constraint refunds_are_known_once unique (provider, provider_refund_id),
  constraint refunds_end_at_a_time
    check ((state in ('succeeded', 'canceled')) = (ended_at is not null)),
  constraint refunds_of_reviews_take_no_credits check (review_id is null or credits = 0),
  constraint refunds_can_be_posted_again check (state <> 'created' or request_body is not null)
);
create index refunds_by_order on refunds (order_id);
create index refunds_due on refunds (next_at) where next_at is not null;

create type dispute_state as enum ('opened', 'won', 'lost');

-- A payer who went to the bank. Providers tell it by letter, so an operator enters it. What of the
-- pack is unspent is set aside under the dispute's id while it lasts.
create table disputes (
  id text primary key
    constraint disputes_ids_carry_their_cell check (id ~ '^dsp_[0-9a-f]{32}$'),
  order_id text not null references orders (id),
  state dispute_state not null,
  amount_kopecks int8 not null
    constraint disputes_are_about_something check (amount_kopecks > 0),
  reserved_credits int8 not null
    constraint disputes_reserve_no_less_than_nothing check (reserved_credits >= 0),
  -- Taken when it was lost, the reserved ones among them.
  taken_credits int8 not null default 0
    constraint disputes_take_credits_only_when_lost check (taken_credits = 0 or state = 'lost'),
  opened_by text not null,
  closed_by text,
  note text not null constraint disputes_notes_are_short check (length(note) <= 1000),
  opened_at timestamptz not null default ledger_now(),
  closed_at timestamptz,
  constraint disputes_are_closed_by_someone check (
    (state = 'opened') = (closed_at is null) and (state = 'opened') = (closed_by is null)
  )
);
create index disputes_by_order on disputes (order_id);
create unique index disputes_are_open_once_per_order on disputes (order_id) where state = 'opened';

-- What a provider's notification said, as it came. It proves nothing: the row is the job of asking
-- the provider, and done when that was answered.
create table payment_notices (
  id int8 generated always as identity primary key,
  provider text not null,
  -- The event, the object and a digest of the body: repeats are stored once.
  dedupe text not null constraint payment_notices_keys_are_short check (length(dedupe) <= 300),
  event text not null,
  provider_payment_id text not null,
  body text not null
    constraint payment_notices_bodies_are_short check (octet_length(body) <= 65536),
  peer text not null,
  received_at timestamptz not null default ledger_now(),
  next_at timestamptz,
  tries int4 not null default 0,
  outcome text,
  done_at timestamptz,
  constraint payment_notices_are_stored_once unique (provider, dedupe),
  constraint payment_notices_end_with_an_outcome check (
    (done_at is null) = (outcome is null) and (done_at is null) = (next_at is not null)
  )
);
create index payment_notices_due on payment_notices (next_at) where next_at is not null;
create index payment_notices_of_payment on payment_notices (provider, provider_payment_id);
create index payment_notices_by_arrival on payment_notices (received_at);

-- How far the list of settled payments was read. `watermark` is the provider's time. The lease lets
-- one process sweep at a time without holding a transaction open during its calls; should two
-- overlap after all, both apply the same snapshots and nothing happens twice.
create table payment_sweeps (
  provider text primary key,
  watermark timestamptz not null,
  leased_by int8,
  leased_until timestamptz not null default '-infinity',
  swept_at timestamptz,
  failures int4 not null default 0
);

create table promo_codes (
  code text primary key
    constraint promo_codes_are_plain check (code ~ '^[A-Z0-9][A-Z0-9-]{3,39}$'),
  credits int8 not null constraint promo_codes_give_something check (credits > 0),
  redemptions_max int4 not null
    constraint promo_codes_are_limited_in_number check (redemptions_max > 0),
  redeemed int4 not null default 0,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  created_by text not null,
  note text not null,
  created_at timestamptz not null default ledger_now(),
  constraint promo_codes_are_limited_in_time check (ends_at > starts_at),
  constraint promo_codes_are_not_overdrawn check (redeemed between 0 and redemptions_max)
);

create table promo_redemptions (
  code text not null references promo_codes (code),
  book_id int8 not null references books (id),
  redeemed_at timestamptz not null default ledger_now(),
  constraint promo_redemptions_are_one_per_account primary key (code, book_id)
);

-- How often an account tried a code lately, right or wrong: guessing must not pay.
create table promo_attempts (
  book_id int8 primary key references books (id),
  since timestamptz not null,
  tries int4 not null
);
