-- Promo codes once ever for an address and for purchases that were not refunded, a budget of
-- refunds, and what links accounts of one payer.
--
-- Why: a person could use a code again with a new account, open a code for buyers with a purchase
-- that was refunded, and buy and refund in a circle, which costs us the provider's commission.
--
-- Safe while an older version runs: it leaves the new columns empty and does not read the new
-- tables. A redemption of its own has no digest, and it asks for no purchase. The tables are small
-- and are locked for a moment.

-- A refund locks its order, then its own row, and then changes the order: it is over before this
-- migration begins, or begins after it. Orders can be read meanwhile.
lock table orders in exclusive mode;

-- How many purchases an account needs of which nothing was refunded.
alter table promo_codes add column purchases_min int4 not null default 0
  constraint promo_codes_need_few_purchases check (purchases_min between 0 and 100);

-- A keyed digest of the owner's address at that moment. It stays when the account is erased: it
-- names nobody without the key, and without it a code could be used again after each erasure.
alter table promo_redemptions add column address_digest bytea
  constraint promo_redemptions_digests_are_sha256 check (octet_length(address_digest) = 32);
create unique index promo_redemptions_are_one_per_address
  on promo_redemptions (code, address_digest);

-- The purchases that opened a code. A purchase opens one code, and a person decides its refund.
create table promo_purchases (
  order_id text constraint promo_purchases_open_one_code primary key references orders,
  code text not null,
  book_id int8 not null,
  foreign key (code, book_id) references promo_redemptions (code, book_id)
);

-- Set for refunds that an owner requested, until the account is erased.
alter table refunds add column owner_digest bytea
  constraint refunds_digests_are_sha256 check (octet_length(owner_digest) = 32);
create index refunds_by_owner on refunds (owner_digest, created_at) where owner_digest is not null;

-- Who paid, for `op signals`: a keyed digest of the card, or the payer's bank. Deleted when the
-- account is erased, and after 180 days.
create table payment_payers (
  order_id text primary key references orders,
  book_id int8 not null,
  card_digest bytea
    constraint payment_payers_digests_are_sha256 check (octet_length(card_digest) = 32),
  bank text constraint payment_payers_banks_are_short check (length(bank) between 1 and 20),
  seen_at timestamptz not null default ledger_now(),
  constraint payment_payers_say_something check (card_digest is not null or bank is not null)
);
create index payment_payers_by_card on payment_payers (card_digest) where card_digest is not null;
create index payment_payers_by_time on payment_payers (seen_at);
create index payment_payers_by_book on payment_payers (book_id);
