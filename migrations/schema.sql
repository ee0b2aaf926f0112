-- What the migrations make of the database. Made by: npm run dump-schema
-- Each table stands with its constraints, indexes and triggers, and with the text of the functions
-- that its checks and triggers call. The last lines name the file of every function.

CREATE TYPE act_outcome AS ENUM (
    'begun',
    'done',
    'asked',
    'refused',
    'failed'
);

CREATE TYPE blocked_reason AS ENUM (
    'operator_blocked',
    'owner_suspended',
    'velocity_stopped'
);

CREATE TYPE contra AS ENUM (
    'revenue',
    'clearing',
    'promo',
    'loss',
    'none'
);

CREATE TYPE dispute_state AS ENUM (
    'opened',
    'won',
    'lost'
);

CREATE TYPE ending AS ENUM (
    'complete',
    'client_left',
    'refused',
    'upstream_failed',
    'process_lost',
    'given_up',
    'overdue',
    'client_slow',
    'drained',
    'shed'
);

CREATE TYPE entry_kind AS ENUM (
    'purchase',
    'promo',
    'charge',
    'void',
    'refund',
    'refund_reversal',
    'forced_debit',
    'adjust',
    'transfer'
);

CREATE TYPE finding AS (
	rule text,
	book_id bigint,
	detail text
);

CREATE TYPE hold_state AS ENUM (
    'open',
    'settled',
    'voided'
);

CREATE TYPE key_state AS ENUM (
    'pending',
    'active',
    'revoked'
);

CREATE TYPE letter_state AS ENUM (
    'queued',
    'sent',
    'failed'
);

CREATE TYPE order_state AS ENUM (
    'created',
    'pending',
    'failed',
    'canceled',
    'expired',
    'review',
    'credited',
    'refund_pending',
    'partially_refunded',
    'refunded',
    'disputed',
    'dispute_won',
    'dispute_lost'
);

CREATE TYPE payment_method AS ENUM (
    'card',
    'sbp'
);

CREATE TYPE payment_trigger AS ENUM (
    'buy',
    'webhook',
    'return',
    'sweep',
    'poll',
    'recovery',
    'operator'
);

CREATE TYPE refund_state AS ENUM (
    'created',
    'pending',
    'succeeded',
    'canceled'
);

CREATE TYPE usage_split AS ENUM (
    'model',
    'ending',
    'session',
    'label',
    'agent'
);

CREATE SEQUENCE books_serial
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE account_addresses (
    account_id text NOT NULL,
    email text NOT NULL,
    left_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY account_addresses
    ADD CONSTRAINT account_addresses_pkey PRIMARY KEY (account_id, email);

CREATE INDEX account_addresses_by_email ON account_addresses USING btree (email);

ALTER TABLE ONLY account_addresses
    ADD CONSTRAINT account_addresses_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

CREATE TABLE account_closings (
    id bigint NOT NULL,
    account_id text NOT NULL,
    unspent text NOT NULL,
    begun_by text NOT NULL,
    was_stopped boolean NOT NULL,
    step text DEFAULT 'closing'::text NOT NULL,
    begun_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    drained_at timestamp with time zone,
    refunded_at timestamp with time zone,
    ended_at timestamp with time zone,
    next_at timestamp with time zone DEFAULT ledger_now(),
    CONSTRAINT account_closings_decide_about_the_rest CHECK ((unspent = ANY (ARRAY['refund'::text, 'forfeit'::text]))),
    CONSTRAINT account_closings_have_a_step CHECK ((step = ANY (ARRAY['closing'::text, 'drained'::text, 'refunded'::text, 'closed'::text, 'stopped'::text]))),
    CONSTRAINT account_closings_name_who_began CHECK ((begun_by = ANY (ARRAY['owner'::text, 'operator'::text]))),
    CONSTRAINT account_closings_times_follow_steps CHECK ((((drained_at IS NOT NULL) = (step = ANY (ARRAY['drained'::text, 'refunded'::text, 'closed'::text]))) AND ((refunded_at IS NOT NULL) = (step = ANY (ARRAY['refunded'::text, 'closed'::text]))) AND ((ended_at IS NOT NULL) = (step = ANY (ARRAY['closed'::text, 'stopped'::text]))) AND ((next_at IS NULL) = (ended_at IS NOT NULL))))
);

ALTER TABLE account_closings ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME account_closings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY account_closings
    ADD CONSTRAINT account_closings_pkey PRIMARY KEY (id);

CREATE INDEX account_closings_by_account ON account_closings USING btree (account_id, id);

CREATE INDEX account_closings_due ON account_closings USING btree (next_at) WHERE (ended_at IS NULL);

CREATE UNIQUE INDEX account_closings_one_at_a_time ON account_closings USING btree (account_id) WHERE (ended_at IS NULL);

CREATE TRIGGER account_closings_move BEFORE UPDATE ON account_closings FOR EACH ROW EXECUTE FUNCTION account_closings_move();

ALTER TABLE ONLY account_closings
    ADD CONSTRAINT account_closings_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

-- account_closings_move, src/accounts/sql/closing.sql:
--   begin
--     if (new.id, new.account_id, new.unspent, new.begun_by, new.was_stopped, new.begun_at)
--       is distinct from
--       (old.id, old.account_id, old.unspent, old.begun_by, old.was_stopped, old.begun_at) then
--       raise exception 'what was agreed when closing % began cannot change', old.id
--         using errcode = 'check_violation';
--     end if;
--     if new.step <> old.step and (old.step, new.step) not in (
--       ('closing', 'drained'), ('closing', 'stopped'), ('drained', 'refunded'), ('refunded', 'closed')
--     ) then
--       raise exception 'closing % cannot go from % to %', old.id, old.step, new.step
--         using errcode = 'check_violation';
--     end if;
--     return new;
--   end

CREATE TABLE account_codes (
    id text NOT NULL,
    identifier text NOT NULL,
    value text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY account_codes
    ADD CONSTRAINT account_codes_pkey PRIMARY KEY (id);

CREATE INDEX account_codes_by_expiry ON account_codes USING btree (expires_at);

CREATE INDEX account_codes_by_identifier ON account_codes USING btree (identifier);

CREATE INDEX account_codes_by_value ON account_codes USING btree (value);

CREATE TABLE account_consents (
    account_id text NOT NULL,
    document text NOT NULL,
    version text NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    address text,
    CONSTRAINT account_consents_documents_are_words CHECK ((document ~ '^[a-z][a-z0-9-]{1,39}$'::text)),
    CONSTRAINT account_consents_versions_are_short CHECK (((length(version) >= 1) AND (length(version) <= 40)))
);

ALTER TABLE ONLY account_consents
    ADD CONSTRAINT account_consents_pkey PRIMARY KEY (account_id, document, version);

ALTER TABLE ONLY account_consents
    ADD CONSTRAINT account_consents_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

CREATE TABLE account_devices (
    account_id text NOT NULL,
    device_hash bytea NOT NULL,
    first_seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT account_devices_are_digests CHECK ((length(device_hash) = 32))
);

ALTER TABLE ONLY account_devices
    ADD CONSTRAINT account_devices_pkey PRIMARY KEY (account_id, device_hash);

CREATE INDEX account_devices_by_last_seen ON account_devices USING btree (last_seen_at);

ALTER TABLE ONLY account_devices
    ADD CONSTRAINT account_devices_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

CREATE TABLE account_identity_checks (
    account_id text NOT NULL,
    step text NOT NULL,
    is_matched boolean NOT NULL,
    checked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT account_identity_checks_have_known_steps CHECK ((step = ANY (ARRAY['payment'::text, 'card'::text, 'request'::text, 'key'::text])))
);

CREATE INDEX account_identity_checks_by_account ON account_identity_checks USING btree (account_id, checked_at);

ALTER TABLE ONLY account_identity_checks
    ADD CONSTRAINT account_identity_checks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

CREATE TABLE account_recoveries (
    id text NOT NULL,
    account_id text NOT NULL,
    kind text NOT NULL,
    begun_by text NOT NULL,
    steps text[] NOT NULL,
    new_email text,
    confirm_hash bytea,
    wait_hours integer NOT NULL,
    begun_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    opened_at timestamp with time zone,
    ripe_at timestamp with time zone,
    ends_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    mailbox text,
    old_mailbox text,
    ready_at timestamp with time zone,
    ready_hash bytea,
    stopped_at timestamp with time zone,
    stopped_by text,
    done_at timestamp with time zone,
    removed_factor jsonb,
    CONSTRAINT account_recoveries_addresses_are_lower_case CHECK ((new_email = lower(new_email))),
    CONSTRAINT account_recoveries_are_begun_by_someone CHECK ((begun_by = ANY (ARRAY['owner'::text, 'operator'::text]))),
    CONSTRAINT account_recoveries_confirm_by_code CHECK (((begun_by = 'operator'::text) = (confirm_hash IS NOT NULL))),
    CONSTRAINT account_recoveries_have_known_ends CHECK ((stopped_by = ANY (ARRAY['link'::text, 'session'::text, 'sign_in'::text, 'operator'::text, 'closed'::text, 'email_changed'::text, 'factor_changed'::text, 'password_changed'::text, 'lapsed'::text]))),
    CONSTRAINT account_recoveries_have_known_kinds CHECK ((kind = ANY (ARRAY['authenticator'::text, 'mailbox'::text, 'both'::text]))),
    CONSTRAINT account_recoveries_have_two_steps CHECK (((cardinality(steps) >= 2) AND (((begun_by = 'owner'::text) AND (kind = 'authenticator'::text) AND (steps = ARRAY['password'::text, 'mailbox'::text])) OR ((begun_by = 'operator'::text) AND (steps <@ ARRAY['payment'::text, 'card'::text, 'request'::text, 'key'::text]))))),
    CONSTRAINT account_recoveries_keep_a_factor_that_went CHECK (((removed_factor IS NULL) OR (done_at IS NOT NULL))),
    CONSTRAINT account_recoveries_open_whole CHECK ((((opened_at IS NULL) = (ripe_at IS NULL)) AND ((opened_at IS NULL) = (mailbox IS NULL)))),
    CONSTRAINT account_recoveries_replace_an_address CHECK (((kind = 'authenticator'::text) = (new_email IS NULL))),
    CONSTRAINT account_recoveries_say_who_stopped CHECK (((stopped_at IS NULL) = (stopped_by IS NULL))),
    CONSTRAINT account_recoveries_wait_a_day CHECK (((wait_hours >= 24) AND (wait_hours <= 720)))
);

ALTER TABLE ONLY account_recoveries
    ADD CONSTRAINT account_recoveries_complete_once UNIQUE (ready_hash);

ALTER TABLE ONLY account_recoveries
    ADD CONSTRAINT account_recoveries_confirm_once UNIQUE (confirm_hash);

ALTER TABLE ONLY account_recoveries
    ADD CONSTRAINT account_recoveries_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX account_recoveries_are_one_per_account ON account_recoveries USING btree (account_id) WHERE ((stopped_at IS NULL) AND (done_at IS NULL));

CREATE INDEX account_recoveries_by_account ON account_recoveries USING btree (account_id, begun_at);

CREATE UNIQUE INDEX account_recoveries_reserve_an_address_once ON account_recoveries USING btree (new_email) WHERE ((new_email IS NOT NULL) AND (stopped_at IS NULL) AND (done_at IS NULL));

CREATE TRIGGER account_recoveries_keep_rules BEFORE INSERT OR UPDATE ON account_recoveries FOR EACH ROW EXECUTE FUNCTION account_recoveries_keep_rules();

ALTER TABLE ONLY account_recoveries
    ADD CONSTRAINT account_recoveries_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

-- account_recoveries_keep_rules, src/accounts/sql/recoveries.sql:
--   declare
--     v_now timestamptz := clock_timestamp();
--   begin
--     if tg_op = 'INSERT' then
--       if new.stopped_at is not null or new.done_at is not null or new.removed_factor is not null
--         or new.ready_at is not null then
--         raise exception 'a recovery begins at its beginning'
--           using errcode = 'check_violation', constraint = 'account_recoveries_begin';
--       end if;
--       -- An operator proves nothing by saying so: the comparisons are rows of their own.
--       if new.begun_by = 'operator' and (
--         select count(distinct step) from account_identity_checks c
--         where c.account_id = new.account_id and c.is_matched and c.step = any (new.steps)
--           and c.checked_at > v_now - interval '24 hours') < greatest(2, cardinality(new.steps)) then
--         raise exception 'the identity steps of this recovery did not match within the last day'
--           using errcode = 'check_violation', constraint = 'account_recoveries_identity';
--       end if;
--       new.begun_at := v_now;
--       -- The new mailbox, or the owner's own after an operator began, has to be confirmed first.
--       if new.begun_by = 'operator' then
--         new.opened_at := null;
--         new.ends_at := v_now + interval '24 hours';
--       else
--         new.opened_at := v_now;
--       end if;
--     else
--       if (new.id, new.account_id, new.kind, new.begun_by, new.steps, new.wait_hours, new.begun_at)
--         is distinct from (old.id, old.account_id, old.kind, old.begun_by, old.steps, old.wait_hours,
--           old.begun_at)
--         or new.new_email is distinct from old.new_email
--         or new.confirm_hash is distinct from old.confirm_hash
--         or (old.opened_at is not null and (new.opened_at, new.ripe_at, new.ends_at, new.mailbox)
--           is distinct from (old.opened_at, old.ripe_at, old.ends_at, old.mailbox))
--         or (old.opened_at is not null and new.old_mailbox is distinct from old.old_mailbox)
--         or (old.opened_at is null and new.opened_at is null
--           and (new.ripe_at, new.ends_at) is distinct from (old.ripe_at, old.ends_at))
--         or (old.stopped_at is not null
--           and (new.stopped_at, new.stopped_by, new.done_at) is distinct from
--             (old.stopped_at, old.stopped_by, old.done_at))
--         or (old.done_at is not null and new.done_at is distinct from old.done_at) then
--         raise exception 'what a recovery has recorded is not changed'
--           using errcode = 'check_violation', constraint = 'account_recoveries_keep_what_was';
--       end if;
--       if old.opened_at is null and new.opened_at is not null then
--         if old.ends_at <= v_now or old.stopped_at is not null then
--           raise exception 'this recovery has ended'
--             using errcode = 'check_violation', constraint = 'account_recoveries_open_in_time';
--         end if;
--         new.opened_at := v_now;
--       end if;
--       if old.stopped_at is null and new.stopped_at is not null then
--         new.stopped_at := v_now;
--       end if;
--     end if;
--     if new.opened_at is not null and (tg_op = 'INSERT' or old.opened_at is null) then
--       new.ripe_at := new.opened_at + make_interval(hours => new.wait_hours);
--       -- A week to come back after the wait; a recovery that nobody completes must not stay usable.
--       new.ends_at := new.ripe_at + interval '7 days';
--       select email into strict new.mailbox from accounts where id = new.account_id;
--       select c.old_email into new.old_mailbox from email_changes c
--         where c.account_id = new.account_id and c.undo_until > v_now;
--     end if;
--     if new.done_at is not null and (tg_op = 'INSERT' or old.done_at is null) then
--       if new.stopped_at is not null or new.opened_at is null or v_now < new.ripe_at
--         or v_now >= new.ends_at then
--         raise exception 'a recovery is completed after its wait, and only if nobody stopped it'
--           using errcode = 'check_violation', constraint = 'account_recoveries_wait';
--       end if;
--       -- Each mailbox that was known when the wait began: its letter left a day ago or was refused.
--       if exists (
--         select from (values ('mailbox', new.mailbox), ('old_mailbox', new.old_mailbox))
--           as known (channel, address)
--         where known.address is not null and not exists (
--           select from letters l
--           join account_recovery_warnings w
--             on w.recovery_id = new.id and w.channel = known.channel and w.stage = 'opened'
--           where l.kind = 'recovery-opened' and l.once = new.id || ' ' || known.channel
--             and l.recipient = known.address and l.state <> 'queued'
--             and l.ended_at <= v_now - interval '24 hours')
--       ) then
--         raise exception 'the owner was not warned in every known mailbox a day ago'
--           using errcode = 'check_violation', constraint = 'account_recoveries_warn';
--       end if;
--       new.done_at := v_now;
--     end if;
--     return new;
--   end

CREATE TABLE account_recovery_warnings (
    recovery_id text NOT NULL,
    channel text NOT NULL,
    stage text NOT NULL,
    stop_hash bytea NOT NULL,
    posted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT account_recovery_warnings_have_known_channels CHECK ((channel = ANY (ARRAY['mailbox'::text, 'old_mailbox'::text]))),
    CONSTRAINT account_recovery_warnings_have_known_stages CHECK ((stage = ANY (ARRAY['opened'::text, 'half'::text, 'day'::text, 'done'::text])))
);

ALTER TABLE ONLY account_recovery_warnings
    ADD CONSTRAINT account_recovery_warnings_pkey PRIMARY KEY (recovery_id, channel, stage);

ALTER TABLE ONLY account_recovery_warnings
    ADD CONSTRAINT account_recovery_warnings_stop_by_their_own_code UNIQUE (stop_hash);

ALTER TABLE ONLY account_recovery_warnings
    ADD CONSTRAINT account_recovery_warnings_recovery_id_fkey FOREIGN KEY (recovery_id) REFERENCES account_recoveries(id) ON DELETE CASCADE;

CREATE UNLOGGED TABLE account_throttles (
    key text NOT NULL,
    hits integer NOT NULL,
    ends_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY account_throttles
    ADD CONSTRAINT account_throttles_pkey PRIMARY KEY (key);

CREATE INDEX account_throttles_by_end ON account_throttles USING btree (ends_at);

CREATE TABLE accounts (
    id text NOT NULL,
    email text NOT NULL,
    email_confirmed boolean DEFAULT true NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    image text,
    second_factor_on boolean DEFAULT false NOT NULL,
    language text DEFAULT 'ru'::text NOT NULL,
    book_id bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    closed_at timestamp with time zone,
    unspent text,
    former_email text,
    erase_at timestamp with time zone,
    erased_at timestamp with time zone,
    zone text,
    unreviewed_reset_at timestamp with time zone,
    guessed_until timestamp with time zone,
    unlocks integer DEFAULT 0 NOT NULL,
    summary_month date,
    summary_off_at timestamp with time zone,
    summary_code text,
    CONSTRAINT accounts_ask_for_no_name CHECK ((name = ''::text)),
    CONSTRAINT accounts_closed_have_their_times CHECK ((((closed_at IS NULL) = (erase_at IS NULL)) AND ((closed_at IS NULL) = (unspent IS NULL)) AND ((closed_at IS NOT NULL) OR ((former_email IS NULL) AND (erased_at IS NULL))) AND ((erased_at IS NULL) OR (former_email IS NULL)))),
    CONSTRAINT accounts_emails_are_lower_case CHECK ((email = lower(email))),
    CONSTRAINT accounts_exist_only_confirmed CHECK (email_confirmed),
    CONSTRAINT accounts_have_a_book CHECK ((book_id IS NOT NULL)),
    CONSTRAINT accounts_have_no_image CHECK ((image IS NULL)),
    CONSTRAINT accounts_ids_are_prefixed CHECK ((id ~ '^acc_[A-Za-z0-9_-]{16}$'::text)),
    CONSTRAINT accounts_speak_a_known_language CHECK ((language = ANY (ARRAY['ru'::text, 'en'::text]))),
    CONSTRAINT accounts_summary_codes_are_long CHECK ((length(summary_code) >= 32)),
    CONSTRAINT accounts_unspent_is_decided CHECK ((unspent = ANY (ARRAY['refund'::text, 'forfeit'::text]))),
    CONSTRAINT accounts_zones_are_names CHECK (((length(zone) <= 64) AND (zone ~ '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$'::text)))
);

ALTER TABLE ONLY accounts
    ADD CONSTRAINT accounts_books_have_one_owner UNIQUE (book_id);

ALTER TABLE ONLY accounts
    ADD CONSTRAINT accounts_emails_are_taken_once UNIQUE (email);

ALTER TABLE ONLY accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

CREATE INDEX accounts_to_erase ON accounts USING btree (erase_at) WHERE ((erase_at IS NOT NULL) AND (erased_at IS NULL));

CREATE TRIGGER accounts_addresses_are_kept AFTER UPDATE OF email ON accounts FOR EACH ROW EXECUTE FUNCTION accounts_keep_address();

CREATE TRIGGER accounts_emails_are_not_reserved AFTER INSERT OR UPDATE OF email ON accounts FOR EACH ROW EXECUTE FUNCTION accounts_refuse_reserved_email();

CREATE TRIGGER accounts_end_recoveries AFTER UPDATE OF email, closed_at, second_factor_on ON accounts FOR EACH ROW EXECUTE FUNCTION accounts_end_recoveries();

CREATE TRIGGER accounts_have_their_letters AFTER INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION accounts_adopt_letters();

-- accounts_adopt_letters, src/accounts/sql/pseudonym.sql:
--   begin
--     update letters set account_id = new.id
--     where account_id is null and lower(recipient) = new.email
--       and kind in ('confirm-email', 'invitation');
--     return null;
--   end

-- accounts_end_recoveries, src/accounts/sql/recoveries.sql:
--   declare
--     v_account text;
--     v_by text;
--   begin
--     if tg_table_name = 'credentials' then
--       if new.password_hash is not distinct from old.password_hash then return null; end if;
--       v_account := new.account_id;
--       v_by := 'password_changed';
--     else
--       v_account := new.id;
--       v_by := case
--         when new.closed_at is not null and old.closed_at is null then 'closed'
--         when new.email is distinct from old.email then 'email_changed'
--         when new.second_factor_on is distinct from old.second_factor_on then 'factor_changed'
--       end;
--       if v_by is null then return null; end if;
--     end if;
--     update account_recoveries set stopped_at = clock_timestamp(), stopped_by = v_by
--     where account_id = v_account and stopped_at is null and done_at is null;
--     return null;
--   end

-- accounts_keep_address, src/accounts/sql/pseudonym.sql:
--   begin
--     if old.email <> new.email and old.email not like '%@closed.invalid' then
--       insert into account_addresses (account_id, email) values (old.id, old.email)
--       on conflict (account_id, email) do update set left_at = clock_timestamp();
--     end if;
--     return null;
--   end

-- accounts_refuse_reserved_email, src/accounts/sql/addresses.sql:
--   begin
--     if exists (
--       select from email_changes
--       where old_email = new.email and account_id <> new.id and undo_until > clock_timestamp()
--     ) or exists (
--       select from account_recoveries
--       where new_email = new.email and account_id <> new.id
--         and stopped_at is null and done_at is null and ends_at > clock_timestamp()
--     ) then
--       raise exception 'the address is reserved for another account'
--         using errcode = 'unique_violation', constraint = 'accounts_emails_are_not_reserved';
--     end if;
--     return null;
--   end

CREATE TABLE act_chain (
    is_only boolean DEFAULT true NOT NULL,
    number bigint NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT act_chain_has_one_row CHECK (is_only)
);

ALTER TABLE ONLY act_chain
    ADD CONSTRAINT act_chain_pkey PRIMARY KEY (is_only);

CREATE TABLE act_copies (
    name text NOT NULL,
    number bigint DEFAULT 0 NOT NULL,
    digest bytea DEFAULT '\x'::bytea NOT NULL,
    shipped_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY act_copies
    ADD CONSTRAINT act_copies_pkey PRIMARY KEY (name);

CREATE TABLE audit_marks (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    balance bigint NOT NULL,
    day date NOT NULL
)
WITH (fillfactor='70');

ALTER TABLE ONLY audit_marks
    ADD CONSTRAINT audit_marks_pkey PRIMARY KEY (book_id);

CREATE TABLE backups (
    finished_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    kind text NOT NULL,
    CONSTRAINT backups_are_of_a_kind CHECK ((kind = ANY (ARRAY['full'::text, 'diff'::text, 'incr'::text])))
);

ALTER TABLE ONLY backups
    ADD CONSTRAINT backups_pkey PRIMARY KEY (finished_at);

CREATE TABLE books (
    id bigint NOT NULL,
    available bigint DEFAULT 0 NOT NULL,
    held bigint DEFAULT 0 NOT NULL,
    debt bigint DEFAULT 0 NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    requests bigint DEFAULT 0 NOT NULL,
    spent_total bigint DEFAULT 0 NOT NULL,
    day_spent bigint DEFAULT 0 NOT NULL,
    day_limit bigint,
    velocity_limit bigint,
    velocity_spent bigint DEFAULT 0 NOT NULL,
    velocity_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    velocity_seconds integer DEFAULT 3600 NOT NULL,
    day date DEFAULT '-infinity'::date NOT NULL,
    blocked_reason blocked_reason,
    day_limit_met date,
    short_seq bigint,
    day_limit_needed bigint,
    day_limit_left bigint,
    CONSTRAINT books_keep_their_rules CHECK (books_keep_rules(available, held, debt, day_limit, velocity_limit, velocity_seconds))
)
WITH (fillfactor='40', autovacuum_vacuum_scale_factor='0.02');

ALTER TABLE ONLY books
    ADD CONSTRAINT books_pkey PRIMARY KEY (id);

CREATE INDEX books_stopped ON books USING btree (id) WHERE (blocked_reason = 'velocity_stopped'::blocked_reason);

-- books_keep_rules, src/ledger/sql/rules.sql:
--   declare
--     v_broken text := case
--       when available < 0 then 'books_available_is_never_negative'
--       when held < 0 then 'books_held_is_never_negative'
--       when debt < 0 then 'books_debt_is_never_negative'
--       when debt <> 0 and available <> 0 then 'books_debt_leaves_nothing_available'
--       when day_limit < 0 then 'books_day_limit_is_not_negative'
--       when velocity_limit < 0 then 'books_velocity_limit_is_not_negative'
--       when velocity_seconds <= 0 then 'books_velocity_window_is_positive'
--     end;
--   begin
--     if v_broken is not null then
--       raise check_violation using message = 'a book breaks ' || v_broken, constraint = v_broken;
--     end if;
--     return true;
--   end

CREATE TABLE busiest_accounts (
    instance bigint NOT NULL,
    uses jsonb NOT NULL,
    seen_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY busiest_accounts
    ADD CONSTRAINT busiest_accounts_pkey PRIMARY KEY (instance);

CREATE TABLE catalogue_versions (
    version integer NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    applied_by text NOT NULL,
    note text NOT NULL,
    body text NOT NULL,
    digest text NOT NULL,
    CONSTRAINT catalogue_versions_are_short CHECK (((octet_length(body) >= 1) AND (octet_length(body) <= 1000000))),
    CONSTRAINT catalogue_versions_count_from_one CHECK ((version > 0)),
    CONSTRAINT catalogue_versions_match_their_digest CHECK ((digest = encode(sha256(convert_to(body, 'UTF8'::name)), 'hex'::text))),
    CONSTRAINT catalogue_versions_name_who_applied_them CHECK ((applied_by <> ''::text))
);

ALTER TABLE ONLY catalogue_versions
    ADD CONSTRAINT catalogue_versions_are_never_repeated UNIQUE (digest);

ALTER TABLE ONLY catalogue_versions
    ADD CONSTRAINT catalogue_versions_pkey PRIMARY KEY (version);

CREATE TRIGGER catalogue_versions_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON catalogue_versions FOR EACH STATEMENT EXECUTE FUNCTION catalogue_versions_refuse_change();

CREATE TRIGGER catalogue_versions_name_nobody BEFORE INSERT ON catalogue_versions FOR EACH ROW EXECUTE FUNCTION accounts_depersonalize_columns('note', '2000');

CREATE TRIGGER catalogue_versions_tell_listeners AFTER INSERT ON catalogue_versions FOR EACH ROW EXECUTE FUNCTION catalogue_versions_notify();

-- accounts_depersonalize_columns, src/accounts/sql/pseudonym.sql:
--   declare
--     v_row jsonb := to_jsonb(new);
--     v_book int8 := coalesce((v_row ->> 'book_id')::int8, payments_book_of(v_row ->> 'order_id'));
--     v_column text;
--   begin
--     for i in 0 .. tg_nargs - 2 by 2 loop
--       v_column := tg_argv[i];
--       if v_row ->> v_column <> ''
--         and (tg_op = 'INSERT' or v_row -> v_column is distinct from to_jsonb(old) -> v_column) then
--         new := jsonb_populate_record(new, jsonb_build_object(v_column,
--           accounts_depersonalize(v_row ->> v_column, tg_argv[i + 1]::int4, v_book)));
--       end if;
--     end loop;
--     return new;
--   end

-- catalogue_versions_notify, src/pricing/sql/catalogue.sql:
--   begin
--     perform pg_notify('catalogue', new.version::text);
--     return null;
--   end

-- catalogue_versions_refuse_change, src/pricing/sql/catalogue.sql:
--   begin
--     raise exception 'catalogue versions are never changed or removed; apply a new one'
--       using errcode = 'restrict_violation';
--   end

CREATE TABLE cell (
    is_only boolean DEFAULT true NOT NULL,
    number smallint NOT NULL,
    CONSTRAINT cell_is_one_row CHECK (is_only),
    CONSTRAINT cell_number_fits_ids CHECK (((number >= 0) AND (number <= 4095)))
);

ALTER TABLE ONLY cell
    ADD CONSTRAINT cell_pkey PRIMARY KEY (is_only);

CREATE TABLE checkpoint_sums (
    book_id bigint NOT NULL,
    kind entry_kind NOT NULL,
    entries bigint NOT NULL,
    amount bigint NOT NULL,
    written_off bigint NOT NULL
);

ALTER TABLE ONLY checkpoint_sums
    ADD CONSTRAINT checkpoint_sums_pkey PRIMARY KEY (book_id, kind);

ALTER TABLE ONLY checkpoint_sums
    ADD CONSTRAINT checkpoint_sums_book_id_fkey FOREIGN KEY (book_id) REFERENCES checkpoints(book_id);

CREATE TABLE checkpoints (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    balance bigint NOT NULL,
    day date NOT NULL
);

ALTER TABLE ONLY checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (book_id);

ALTER TABLE ONLY checkpoints
    ADD CONSTRAINT checkpoints_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

CREATE TABLE credentials (
    id text NOT NULL,
    account_id text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    password_hash text,
    oauth_access text,
    oauth_refresh text,
    oauth_identity text,
    oauth_access_ends_at timestamp with time zone,
    oauth_refresh_ends_at timestamp with time zone,
    oauth_scope text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT credentials_are_passwords CHECK ((kind = 'credential'::text)),
    CONSTRAINT credentials_belong_to_their_account CHECK ((subject = account_id)),
    CONSTRAINT credentials_have_a_password CHECK ((password_hash IS NOT NULL)),
    CONSTRAINT credentials_know_no_other_service CHECK ((num_nonnulls(oauth_access, oauth_refresh, oauth_identity, oauth_access_ends_at, oauth_refresh_ends_at, oauth_scope) = 0)),
    CONSTRAINT credentials_passwords_are_argon2id CHECK ((password_hash ~~ '$argon2id$v=19$%'::text))
);

ALTER TABLE ONLY credentials
    ADD CONSTRAINT credentials_are_one_per_account UNIQUE (account_id, kind);

ALTER TABLE ONLY credentials
    ADD CONSTRAINT credentials_pkey PRIMARY KEY (id);

CREATE INDEX credentials_by_account ON credentials USING btree (account_id);

CREATE TRIGGER credentials_end_recoveries AFTER UPDATE OF password_hash ON credentials FOR EACH ROW EXECUTE FUNCTION accounts_end_recoveries();

ALTER TABLE ONLY credentials
    ADD CONSTRAINT credentials_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

-- accounts_end_recoveries, src/accounts/sql/recoveries.sql:
--   declare
--     v_account text;
--     v_by text;
--   begin
--     if tg_table_name = 'credentials' then
--       if new.password_hash is not distinct from old.password_hash then return null; end if;
--       v_account := new.account_id;
--       v_by := 'password_changed';
--     else
--       v_account := new.id;
--       v_by := case
--         when new.closed_at is not null and old.closed_at is null then 'closed'
--         when new.email is distinct from old.email then 'email_changed'
--         when new.second_factor_on is distinct from old.second_factor_on then 'factor_changed'
--       end;
--       if v_by is null then return null; end if;
--     end if;
--     update account_recoveries set stopped_at = clock_timestamp(), stopped_by = v_by
--     where account_id = v_account and stopped_at is null and done_at is null;
--     return null;
--   end

CREATE TABLE days (
    day date NOT NULL,
    state text NOT NULL,
    rows bigint,
    unverified bigint DEFAULT 0 NOT NULL,
    checkpointed_at timestamp with time zone,
    detached_at timestamp with time zone,
    exported_at timestamp with time zone,
    dropped_at timestamp with time zone,
    folder text,
    digest text,
    CONSTRAINT days_state_is_known CHECK ((state = ANY (ARRAY['checkpointed'::text, 'detached'::text, 'exported'::text, 'dropped'::text])))
);

ALTER TABLE ONLY days
    ADD CONSTRAINT days_pkey PRIMARY KEY (day);

CREATE TABLE disputes (
    id text NOT NULL,
    order_id text NOT NULL,
    state dispute_state NOT NULL,
    amount_kopecks bigint NOT NULL,
    reserved_credits bigint NOT NULL,
    taken_credits bigint DEFAULT 0 NOT NULL,
    opened_by text NOT NULL,
    closed_by text,
    note text NOT NULL,
    opened_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    closed_at timestamp with time zone,
    answer_by timestamp with time zone DEFAULT (ledger_now() + '5 days'::interval) NOT NULL,
    CONSTRAINT disputes_are_about_something CHECK ((amount_kopecks > 0)),
    CONSTRAINT disputes_are_closed_by_someone CHECK ((((state = 'opened'::dispute_state) = (closed_at IS NULL)) AND ((state = 'opened'::dispute_state) = (closed_by IS NULL)))),
    CONSTRAINT disputes_give_time_to_answer CHECK ((answer_by > opened_at)),
    CONSTRAINT disputes_ids_carry_their_cell CHECK ((id ~ '^dsp_[0-9a-f]{32}$'::text)),
    CONSTRAINT disputes_notes_are_short CHECK ((length(note) <= 1000)),
    CONSTRAINT disputes_reserve_no_less_than_nothing CHECK ((reserved_credits >= 0)),
    CONSTRAINT disputes_take_credits_only_when_lost CHECK (((taken_credits = 0) OR (state = 'lost'::dispute_state)))
);

ALTER TABLE ONLY disputes
    ADD CONSTRAINT disputes_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX disputes_are_open_once_per_order ON disputes USING btree (order_id) WHERE (state = 'opened'::dispute_state);

CREATE INDEX disputes_by_order ON disputes USING btree (order_id);

CREATE TRIGGER disputes_name_nobody BEFORE INSERT OR UPDATE OF note ON disputes FOR EACH ROW EXECUTE FUNCTION accounts_depersonalize_columns('note', '1000');

ALTER TABLE ONLY disputes
    ADD CONSTRAINT disputes_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);

-- accounts_depersonalize_columns, src/accounts/sql/pseudonym.sql:
--   declare
--     v_row jsonb := to_jsonb(new);
--     v_book int8 := coalesce((v_row ->> 'book_id')::int8, payments_book_of(v_row ->> 'order_id'));
--     v_column text;
--   begin
--     for i in 0 .. tg_nargs - 2 by 2 loop
--       v_column := tg_argv[i];
--       if v_row ->> v_column <> ''
--         and (tg_op = 'INSERT' or v_row -> v_column is distinct from to_jsonb(old) -> v_column) then
--         new := jsonb_populate_record(new, jsonb_build_object(v_column,
--           accounts_depersonalize(v_row ->> v_column, tg_argv[i + 1]::int4, v_book)));
--       end if;
--     end loop;
--     return new;
--   end

CREATE TABLE email_changes (
    account_id text NOT NULL,
    old_email text NOT NULL,
    new_email text NOT NULL,
    undo_hash bytea NOT NULL,
    second_factor_id text,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    undo_until timestamp with time zone NOT NULL,
    CONSTRAINT email_changes_change_something CHECK ((old_email <> new_email)),
    CONSTRAINT email_changes_end_later CHECK ((undo_until > changed_at))
);

ALTER TABLE ONLY email_changes
    ADD CONSTRAINT email_changes_codes_are_their_own UNIQUE (undo_hash);

ALTER TABLE ONLY email_changes
    ADD CONSTRAINT email_changes_pkey PRIMARY KEY (account_id);

ALTER TABLE ONLY email_changes
    ADD CONSTRAINT email_changes_reserve_an_address_once UNIQUE (old_email);

CREATE INDEX email_changes_by_end ON email_changes USING btree (undo_until);

ALTER TABLE ONLY email_changes
    ADD CONSTRAINT email_changes_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

CREATE TABLE entries (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    amount bigint NOT NULL,
    balance bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    hold_id uuid,
    input bigint,
    output bigint,
    cache_read bigint,
    cache_write_5m bigint,
    cache_write_1h bigint,
    priced bigint,
    written_off bigint,
    day date NOT NULL,
    tariff integer,
    kind entry_kind NOT NULL,
    contra contra NOT NULL,
    ending ending,
    estimated boolean,
    message_id text,
    ref text,
    note text,
    first_byte_ms integer,
    total_ms integer,
    waited_ms integer,
    bytes_in integer,
    bytes_out integer,
    status smallint,
    retries smallint,
    streamed boolean,
    stop_reason text,
    error_type text,
    target text,
    vendor_request_id text,
    service_tier text,
    session_id text,
    agent_id text,
    parent_agent_id text,
    label text,
    parts jsonb,
    CONSTRAINT entries_keep_their_rules CHECK (entries_keep_rules(kind, amount, priced, written_off, hold_id, ending, ref))
)
PARTITION BY RANGE (day);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (book_id, seq, day);

CREATE INDEX entries_with_unlisted ON ONLY entries USING btree (day) WHERE (parts ? 'unlisted'::text);

CREATE TRIGGER entries_are_never_emptied BEFORE TRUNCATE ON entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER entries_never_change BEFORE DELETE OR UPDATE ON entries FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

-- entries_keep_rules, src/ledger/sql/rules.sql:
--   declare
--     v_broken text := case
--       when kind = 'charge' and (priced <> written_off - amount or amount > 0 or written_off < 0)
--         then 'entries_charge_what_was_priced_less_what_was_written_off'
--       when kind in ('charge', 'void') and (hold_id is null or ending is null)
--         then 'entries_of_requests_name_their_hold'
--       when kind = 'void' and amount <> 0 then 'entries_of_voids_are_free'
--       when kind not in ('charge', 'void') and ref is null
--         then 'entries_of_rare_kinds_name_their_posting'
--     end;
--   begin
--     if v_broken is not null then
--       raise check_violation using message = 'an entry breaks ' || v_broken, constraint = v_broken;
--     end if;
--     return true;
--   end

-- ledger_refuse_change, src/ledger/sql/rules.sql:
--   declare
--     c_names constant text[] := array['session_id', 'agent_id', 'parent_agent_id', 'label'];
--   begin
--     if tg_op = 'UPDATE' and to_jsonb(new) ?& c_names
--       and to_jsonb(new) - c_names = to_jsonb(old) - c_names
--       and not jsonb_strip_nulls(to_jsonb(new)) ?| c_names then
--       return new;
--     end if;
--     raise exception '% is append-only', tg_table_name
--       using errcode = 'integrity_constraint_violation';
--   end

CREATE TABLE entries_unverified (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    amount bigint NOT NULL,
    balance bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    hold_id uuid,
    input bigint,
    output bigint,
    cache_read bigint,
    cache_write_5m bigint,
    cache_write_1h bigint,
    priced bigint,
    written_off bigint,
    day date NOT NULL,
    tariff integer,
    kind entry_kind NOT NULL,
    contra contra NOT NULL,
    ending ending,
    estimated boolean,
    message_id text,
    ref text,
    note text,
    first_byte_ms integer,
    total_ms integer,
    waited_ms integer,
    bytes_in integer,
    bytes_out integer,
    status smallint,
    retries smallint,
    streamed boolean,
    stop_reason text,
    error_type text,
    target text,
    vendor_request_id text,
    service_tier text,
    session_id text,
    agent_id text,
    parent_agent_id text,
    label text,
    parts jsonb
);

CREATE INDEX entries_unverified_by_book ON entries_unverified USING btree (book_id, seq);

CREATE TABLE guards (
    book_id bigint NOT NULL,
    low_credits bigint,
    low_days integer DEFAULT 3,
    is_low_told boolean DEFAULT false NOT NULL,
    is_empty_told boolean DEFAULT false NOT NULL,
    day_told date,
    stop_told timestamp with time zone,
    pace_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    pace_spent bigint DEFAULT 0 NOT NULL,
    mark_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    mark_spent bigint DEFAULT 0 NOT NULL,
    CONSTRAINT guards_low_credits_are_some CHECK ((low_credits > 0)),
    CONSTRAINT guards_low_days_are_few CHECK (((low_days >= 1) AND (low_days <= 90)))
)
WITH (fillfactor='80');

ALTER TABLE ONLY guards
    ADD CONSTRAINT guards_pkey PRIMARY KEY (book_id);

ALTER TABLE ONLY guards
    ADD CONSTRAINT guards_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

CREATE TABLE holds (
    id uuid NOT NULL,
    book_id bigint NOT NULL,
    instance bigint NOT NULL,
    worst bigint NOT NULL,
    floor bigint NOT NULL,
    granted bigint NOT NULL,
    fence bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    deadline_at timestamp with time zone NOT NULL,
    day integer NOT NULL,
    tariff integer NOT NULL,
    state hold_state NOT NULL,
    ending ending,
    entry_seq bigint,
    charged bigint,
    closed_at timestamp with time zone,
    CONSTRAINT holds_keep_their_rules CHECK (holds_keep_rules(worst, floor, granted, state, ending, entry_seq, charged, closed_at))
)
PARTITION BY RANGE (day);

ALTER TABLE ONLY holds ATTACH PARTITION holds_default DEFAULT;

ALTER TABLE ONLY holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (day, id);

CREATE INDEX holds_by_creation ON ONLY holds USING brin (created_at) WITH (pages_per_range='32');

-- holds_keep_rules, src/ledger/sql/rules.sql:
--   declare
--     v_broken text := case
--       when granted < 0 or granted > worst or floor < 0 or floor > worst
--         then 'holds_grant_no_more_than_the_worst_case'
--       when charged < 0 or charged > granted then 'holds_charge_no_more_than_they_hold'
--       when state = 'settled' and (charged is null or entry_seq is null)
--         then 'holds_settle_with_an_entry'
--       when (state = 'open') <> (ending is null) or (state = 'open') <> (closed_at is null)
--         then 'holds_close_with_an_ending'
--     end;
--   begin
--     if v_broken is not null then
--       raise check_violation using message = 'a hold breaks ' || v_broken, constraint = v_broken;
--     end if;
--     return true;
--   end

CREATE TABLE holds_default (
    id uuid NOT NULL,
    book_id bigint NOT NULL,
    instance bigint NOT NULL,
    worst bigint NOT NULL,
    floor bigint NOT NULL,
    granted bigint NOT NULL,
    fence bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    deadline_at timestamp with time zone NOT NULL,
    day integer NOT NULL,
    tariff integer NOT NULL,
    state hold_state NOT NULL,
    ending ending,
    entry_seq bigint,
    charged bigint,
    closed_at timestamp with time zone,
    CONSTRAINT holds_keep_their_rules CHECK (holds_keep_rules(worst, floor, granted, state, ending, entry_seq, charged, closed_at))
)
WITH (fillfactor='44');

ALTER TABLE ONLY holds_default
    ADD CONSTRAINT holds_default_pkey PRIMARY KEY (day, id);

CREATE INDEX holds_default_created_at_idx ON holds_default USING brin (created_at) WITH (pages_per_range='32');

CREATE TABLE instances (
    id bigint NOT NULL,
    role text NOT NULL,
    beat bigint DEFAULT 0 NOT NULL,
    started_at timestamp with time zone NOT NULL,
    beat_at timestamp with time zone NOT NULL,
    host text,
    spool_directory text,
    lost_at timestamp with time zone
)
WITH (fillfactor='50');

ALTER TABLE ONLY instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);

CREATE TABLE keys (
    id text NOT NULL,
    book_id bigint NOT NULL,
    state key_state NOT NULL,
    fence bigint,
    last4 text NOT NULL,
    hash text NOT NULL,
    lookup bytea,
    lookup_slot smallint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    activated_at timestamp with time zone,
    revoked_at timestamp with time zone,
    secret_id smallint,
    CONSTRAINT keys_are_kept_only_as_argon2id CHECK (((hash ~~ '$argon2id$v=19$%'::text) AND ((length(hash) >= 60) AND (length(hash) <= 255)))),
    CONSTRAINT keys_ids_are_cell_and_public_id CHECK ((id ~ '^key_[A-Za-z0-9_-]{14}$'::text)),
    CONSTRAINT keys_lookups_are_digests CHECK ((length(lookup) = 16)),
    CONSTRAINT keys_share_a_lookup_at_most_four_times CHECK (((lookup_slot >= 1) AND (lookup_slot <= 4))),
    CONSTRAINT keys_show_only_four_characters CHECK ((length(last4) = 4)),
    CONSTRAINT keys_states_have_their_times CHECK ((((state <> 'pending'::key_state) = (activated_at IS NOT NULL)) AND ((state <> 'pending'::key_state) = (fence IS NOT NULL)) AND ((state = 'revoked'::key_state) = (revoked_at IS NOT NULL)))),
    CONSTRAINT keys_with_a_lookup_have_a_slot CHECK (((lookup IS NULL) = (lookup_slot IS NULL)))
);

ALTER TABLE ONLY keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY keys
    ADD CONSTRAINT keys_slots_are_taken_once UNIQUE (lookup, lookup_slot);

CREATE UNIQUE INDEX keys_active_are_one_per_book ON keys USING btree (book_id) WHERE (state = 'active'::key_state);

CREATE UNIQUE INDEX keys_pending_are_one_per_book ON keys USING btree (book_id) WHERE (state = 'pending'::key_state);

CREATE TRIGGER keys_never_come_back BEFORE DELETE OR UPDATE ON keys FOR EACH ROW EXECUTE FUNCTION keys_refuse_change();

ALTER TABLE ONLY keys
    ADD CONSTRAINT keys_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

-- keys_refuse_change, src/keys/sql/keys.sql:
--   begin
--     if tg_op = 'DELETE' then
--       if old.state = 'pending' then
--         return old;
--       end if;
--     elsif (old.state, new.state) in (('pending', 'active'), ('active', 'revoked'))
--       and (old.id, old.book_id, old.last4, old.hash, old.created_at)
--         = (new.id, new.book_id, new.last4, new.hash, new.created_at)
--       and (old.lookup, old.lookup_slot, old.secret_id)
--         is not distinct from (new.lookup, new.lookup_slot, new.secret_id)
--       and (old.state = 'pending'
--         or (old.fence, old.activated_at) = (new.fence, new.activated_at)) then
--       return new;
--     end if;
--     raise exception 'a key goes from pending to active to revoked, and nothing else of it changes'
--       using errcode = 'integrity_constraint_violation';
--   end

CREATE TABLE letters (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind text NOT NULL,
    once text,
    recipient text NOT NULL,
    subject text NOT NULL,
    body_text text,
    body_html text,
    state letter_state DEFAULT 'queued'::letter_state NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    leased_until timestamp with time zone,
    posted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    account_id text,
    unsubscribe text,
    CONSTRAINT letters_attempts_are_not_negative CHECK ((attempts >= 0)),
    CONSTRAINT letters_errors_are_short CHECK ((length(last_error) <= 500)),
    CONSTRAINT letters_have_a_body_while_queued CHECK ((((state = 'queued'::letter_state) = (body_text IS NOT NULL)) AND ((state = 'queued'::letter_state) = (body_html IS NOT NULL)))),
    CONSTRAINT letters_have_their_times CHECK ((((state = 'queued'::letter_state) = (ended_at IS NULL)) AND ((state = 'queued'::letter_state) OR (leased_until IS NULL)))),
    CONSTRAINT letters_kinds_are_words CHECK ((kind ~ '^[a-z][a-z0-9-]{1,39}$'::text))
);

ALTER TABLE ONLY letters
    ADD CONSTRAINT letters_go_once UNIQUE (kind, once);

ALTER TABLE ONLY letters
    ADD CONSTRAINT letters_pkey PRIMARY KEY (id);

CREATE INDEX letters_by_account ON letters USING btree (account_id) WHERE (account_id IS NOT NULL);

CREATE INDEX letters_ended ON letters USING btree (ended_at) WHERE (state <> 'queued'::letter_state);

CREATE INDEX letters_of_nobody ON letters USING btree (lower(recipient)) WHERE (account_id IS NULL);

CREATE INDEX letters_queued ON letters USING btree (posted_at) WHERE (state = 'queued'::letter_state);

CREATE TRIGGER letters_name_their_account BEFORE INSERT ON letters FOR EACH ROW WHEN (((new.account_id IS NULL) AND (new.kind <> ALL (ARRAY['confirm-email'::text, 'invitation'::text])))) EXECUTE FUNCTION accounts_name_letter();

-- accounts_name_letter, src/accounts/sql/pseudonym.sql:
--   begin
--     new.account_id := accounts_pseudonym(new.recipient);
--     return new;
--   end

CREATE TABLE lots (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    kind entry_kind NOT NULL,
    ref text NOT NULL,
    credited bigint NOT NULL,
    taken_back bigint DEFAULT 0 NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT lots_credit_something CHECK ((credited > 0)),
    CONSTRAINT lots_take_back_no_more_than_credited CHECK (((taken_back >= 0) AND (taken_back <= credited)))
);

ALTER TABLE ONLY lots
    ADD CONSTRAINT lots_are_one_per_posting UNIQUE (kind, ref);

ALTER TABLE ONLY lots
    ADD CONSTRAINT lots_pkey PRIMARY KEY (book_id, seq);

ALTER TABLE ONLY lots
    ADD CONSTRAINT lots_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

ALTER TABLE ONLY lots
    ADD CONSTRAINT lots_kind_ref_fkey FOREIGN KEY (kind, ref) REFERENCES postings(kind, ref);

CREATE TABLE mandates (
    id bigint DEFAULT nextval('top_up_consents_id_seq'::regclass) NOT NULL,
    book_id bigint NOT NULL,
    method_title text NOT NULL,
    method_saved_at timestamp with time zone,
    pack_id text NOT NULL,
    price_kopecks bigint NOT NULL,
    credits bigint,
    threshold bigint NOT NULL,
    day_ceiling_kopecks bigint NOT NULL,
    month_ceiling_kopecks bigint NOT NULL,
    version text NOT NULL,
    address text NOT NULL,
    given_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    ended_at timestamp with time zone,
    ended_why text,
    CONSTRAINT mandates_addresses_are_short CHECK ((length(address) <= 100)),
    CONSTRAINT mandates_allow_one_purchase CHECK (((price_kopecks <= day_ceiling_kopecks) AND (day_ceiling_kopecks <= month_ceiling_kopecks))),
    CONSTRAINT mandates_are_about_a_price CHECK ((price_kopecks > 0)),
    CONSTRAINT mandates_are_about_credits CHECK ((credits > 0)),
    CONSTRAINT mandates_end_for_a_reason CHECK ((ended_why = ANY (ARRAY['owner'::text, 'declined'::text, 'pack_changed'::text, 'refunded'::text, 'disputed'::text, 'forgotten'::text, 'card_replaced'::text, 'closed'::text, 'replaced'::text, 'consent_incomplete'::text]))),
    CONSTRAINT mandates_have_a_threshold CHECK ((threshold > 0)),
    CONSTRAINT mandates_live_or_have_ended CHECK (((ended_at IS NULL) = (ended_why IS NULL))),
    CONSTRAINT mandates_name_their_text CHECK (((length(version) >= 1) AND (length(version) <= 40)))
);

ALTER TABLE ONLY mandates
    ADD CONSTRAINT mandates_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX mandates_live_one_per_book ON mandates USING btree (book_id) WHERE (ended_at IS NULL);

CREATE INDEX mandates_of_book ON mandates USING btree (book_id, id);

CREATE TRIGGER mandates_are_only_ended BEFORE UPDATE ON mandates FOR EACH ROW EXECUTE FUNCTION mandates_refuse_change();

CREATE TRIGGER mandates_reach_the_old_form AFTER INSERT OR UPDATE ON mandates FOR EACH ROW EXECUTE FUNCTION mandates_write_old_form();

ALTER TABLE ONLY mandates
    ADD CONSTRAINT mandates_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

-- mandates_refuse_change, src/payments/sql/mandates.sql:
--   begin
--     if old.ended_at is null and new.ended_at is not null
--       and to_jsonb(old) - array['ended_at', 'ended_why']
--         = to_jsonb(new) - array['ended_at', 'ended_why'] then
--       return new;
--     end if;
--     raise exception 'a mandate is never changed, only ended, and only once'
--       using errcode = 'integrity_constraint_violation';
--   end

-- mandates_write_old_form, src/payments/sql/mandates.sql:
--   begin
--     if tg_op = 'UPDATE' then
--       -- The version before knows neither of the three reasons.
--       update top_ups set is_on = false, stopped_at = new.ended_at,
--         stopped_why = case when new.ended_why in ('closed', 'replaced', 'card_replaced')
--           then 'owner' else new.ended_why end
--       where consent_id = new.id and is_on;
--       return null;
--     end if;
--     insert into top_up_consents (id, book_id, version, address, method_title, pack_id,
--       price_kopecks, credits, threshold, ceiling_kopecks, given_at)
--     overriding system value
--     values (new.id, new.book_id, new.version, new.address, new.method_title, new.pack_id,
--       new.price_kopecks, new.credits, new.threshold, new.month_ceiling_kopecks, new.given_at)
--     on conflict (id) do nothing;
--     insert into top_ups (book_id, consent_id, is_on) values (new.book_id, new.id, true)
--     on conflict (book_id) do update
--     set consent_id = excluded.consent_id, is_on = true, stopped_why = null, stopped_at = null,
--       ceiling_told = null
--     where top_ups.consent_id <> excluded.consent_id;
--     return null;
--   end

CREATE TABLE month_seals (
    month text NOT NULL,
    time_zone text NOT NULL,
    sealed_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    sealed_by text NOT NULL,
    figures text NOT NULL,
    digest text NOT NULL,
    CONSTRAINT month_seals_are_of_a_month CHECK ((month ~ '^20[0-9]{2}-(0[1-9]|1[0-2])$'::text)),
    CONSTRAINT month_seals_are_short CHECK (((octet_length(figures) >= 2) AND (octet_length(figures) <= 10000000))),
    CONSTRAINT month_seals_match_their_digest CHECK ((digest = encode(sha256(convert_to(figures, 'UTF8'::name)), 'hex'::text))),
    CONSTRAINT month_seals_name_their_time_zone CHECK (((length(time_zone) >= 1) AND (length(time_zone) <= 64))),
    CONSTRAINT month_seals_name_who_sealed_them CHECK (((length(sealed_by) >= 1) AND (length(sealed_by) <= 100)))
);

ALTER TABLE ONLY month_seals
    ADD CONSTRAINT month_seals_pkey PRIMARY KEY (month);

CREATE TRIGGER month_seals_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON month_seals FOR EACH STATEMENT EXECUTE FUNCTION month_seals_refuse_change();

-- month_seals_refuse_change, src/reports/sql/reports.sql:
--   begin
--     raise exception 'a sealed month is never changed or removed; corrections appear in a later month'
--       using errcode = 'restrict_violation';
--   end

CREATE TABLE operator_acts (
    id bigint NOT NULL,
    of_act bigint,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    acted_by text NOT NULL,
    os_user text NOT NULL,
    command text NOT NULL,
    outcome act_outcome NOT NULL,
    detail text NOT NULL,
    number bigint NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT operator_acts_details_are_short CHECK ((length(detail) <= 1000)),
    CONSTRAINT operator_acts_digests_are_sha256 CHECK ((length(digest) = 32)),
    CONSTRAINT operator_acts_end_only_what_began CHECK (((outcome <> 'begun'::act_outcome) OR (of_act IS NULL))),
    CONSTRAINT operator_acts_name_a_machine CHECK (((length(os_user) >= 1) AND (length(os_user) <= 200))),
    CONSTRAINT operator_acts_name_who_acted CHECK (((length(acted_by) >= 1) AND (length(acted_by) <= 100))),
    CONSTRAINT operator_acts_say_what_was_typed CHECK (((length(command) >= 1) AND (length(command) <= 2000)))
);

ALTER TABLE operator_acts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME operator_acts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY operator_acts
    ADD CONSTRAINT operator_acts_are_numbered_once UNIQUE (number);

ALTER TABLE ONLY operator_acts
    ADD CONSTRAINT operator_acts_end_once UNIQUE (of_act);

ALTER TABLE ONLY operator_acts
    ADD CONSTRAINT operator_acts_pkey PRIMARY KEY (id);

CREATE INDEX operator_acts_of_break_glass ON operator_acts USING btree (at) WHERE (acted_by ~~ 'break-glass %'::text);

CREATE TRIGGER operator_acts_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON operator_acts FOR EACH STATEMENT EXECUTE FUNCTION operator_acts_refuse_change();

CREATE TRIGGER operator_acts_join_the_chain BEFORE INSERT ON operator_acts FOR EACH ROW EXECUTE FUNCTION operator_acts_join_chain();

ALTER TABLE ONLY operator_acts
    ADD CONSTRAINT operator_acts_ends_name_their_beginning FOREIGN KEY (of_act) REFERENCES operator_acts(id);

-- operator_acts_join_chain, src/acts/sql/acts.sql:
--   declare
--     v_before bytea;
--   begin
--     new.command := acts_without_addresses(new.command, 2000);
--     new.detail := acts_without_addresses(new.detail, 1000);
--     select number + 1, digest into strict new.number, v_before from act_chain for update;
--     select coalesce(max(id), 0) + 1 into new.id from operator_acts;
--     new.at := clock_timestamp();
--     new.digest := sha256(v_before || convert_to(acts_text(new), 'UTF8'));
--     update act_chain set number = new.number, digest = new.digest;
--     return new;
--   end

-- operator_acts_refuse_change, src/acts/sql/acts.sql:
--   begin
--     raise exception 'what operators did is never changed or removed'
--       using errcode = 'restrict_violation';
--   end

CREATE TABLE operator_approvals (
    id text NOT NULL,
    kind text NOT NULL,
    permission text NOT NULL,
    command text NOT NULL,
    usage text NOT NULL,
    args text[] NOT NULL,
    options jsonb NOT NULL,
    plan text[] NOT NULL,
    plan_digest bytea NOT NULL,
    asked_by text NOT NULL,
    asked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    decided_by text,
    decided_at timestamp with time zone,
    detail text DEFAULT ''::text NOT NULL,
    CONSTRAINT operator_approvals_are_decided_by_a_person CHECK (((decided_by IS NULL) = (state = ANY (ARRAY['waiting'::text, 'expired'::text])))),
    CONSTRAINT operator_approvals_have_known_states CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'failed'::text, 'declined'::text, 'withdrawn'::text, 'expired'::text]))),
    CONSTRAINT operator_approvals_need_another_person CHECK (((decided_by <> asked_by) OR (state = 'withdrawn'::text)))
);

ALTER TABLE ONLY operator_approvals
    ADD CONSTRAINT operator_approvals_pkey PRIMARY KEY (id);

CREATE INDEX operator_approvals_that_wait ON operator_approvals USING btree (asked_at) WHERE (state = 'waiting'::text);

CREATE TRIGGER operator_approvals_forget_addresses BEFORE UPDATE ON operator_approvals FOR EACH ROW EXECUTE FUNCTION operator_approvals_forget_addresses();

ALTER TABLE ONLY operator_approvals
    ADD CONSTRAINT operator_approvals_asked_by_fkey FOREIGN KEY (asked_by) REFERENCES operators(id);

ALTER TABLE ONLY operator_approvals
    ADD CONSTRAINT operator_approvals_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES operators(id);

-- operator_approvals_forget_addresses, src/staff/sql/operators.sql:
--   begin
--     if new.state not in ('waiting', 'running') then
--       new.command := acts_without_addresses(new.command, 2000);
--       new.plan := array(
--         select acts_without_addresses(line, 2000) from unnest(new.plan) with ordinality as l (line, n)
--         order by n);
--       new.detail := acts_without_addresses(new.detail, 1000);
--       new.args := '{}';
--       new.options := '{}';
--     end if;
--     return new;
--   end

CREATE TABLE operator_challenges (
    id text NOT NULL,
    challenge text NOT NULL,
    session_id text,
    ends_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY operator_challenges
    ADD CONSTRAINT operator_challenges_pkey PRIMARY KEY (id);

CREATE TABLE operator_day_sums (
    operator_id text NOT NULL,
    day date NOT NULL,
    kind text NOT NULL,
    total bigint NOT NULL,
    CONSTRAINT operator_day_sums_are_sums CHECK ((total >= 0)),
    CONSTRAINT operator_day_sums_have_known_kinds CHECK ((kind = ANY (ARRAY['credits'::text, 'kopecks'::text])))
);

ALTER TABLE ONLY operator_day_sums
    ADD CONSTRAINT operator_day_sums_pkey PRIMARY KEY (operator_id, day, kind);

ALTER TABLE ONLY operator_day_sums
    ADD CONSTRAINT operator_day_sums_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(id);

CREATE TABLE operator_factors (
    operator_id text NOT NULL,
    secret text,
    pending_secret text,
    recovery_codes text,
    last_step bigint DEFAULT 0 NOT NULL,
    confirmed_at timestamp with time zone,
    CONSTRAINT operator_factors_are_confirmed_with_a_secret CHECK (((confirmed_at IS NULL) = (secret IS NULL)))
);

ALTER TABLE ONLY operator_factors
    ADD CONSTRAINT operator_factors_pkey PRIMARY KEY (operator_id);

ALTER TABLE ONLY operator_factors
    ADD CONSTRAINT operator_factors_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(id);

CREATE TABLE operator_passkeys (
    id text NOT NULL,
    operator_id text NOT NULL,
    credential_id text NOT NULL,
    public_key bytea NOT NULL,
    counter bigint NOT NULL,
    transports text[] NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    used_at timestamp with time zone
);

ALTER TABLE ONLY operator_passkeys
    ADD CONSTRAINT operator_passkeys_are_registered_once UNIQUE (credential_id);

ALTER TABLE ONLY operator_passkeys
    ADD CONSTRAINT operator_passkeys_pkey PRIMARY KEY (id);

CREATE INDEX operator_passkeys_of_operator ON operator_passkeys USING btree (operator_id);

ALTER TABLE ONLY operator_passkeys
    ADD CONSTRAINT operator_passkeys_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(id);

CREATE TABLE operator_reads (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    read_by text NOT NULL,
    os_user text NOT NULL,
    command text NOT NULL
);

ALTER TABLE operator_reads ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME operator_reads_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY operator_reads
    ADD CONSTRAINT operator_reads_pkey PRIMARY KEY (id);

CREATE INDEX operator_reads_by_time ON operator_reads USING btree (at);

CREATE TRIGGER operator_reads_are_never_changed BEFORE DELETE OR UPDATE ON operator_reads FOR EACH ROW EXECUTE FUNCTION operator_acts_refuse_change();

CREATE TRIGGER operator_reads_are_never_truncated BEFORE TRUNCATE ON operator_reads FOR EACH STATEMENT EXECUTE FUNCTION operator_acts_refuse_change();

CREATE TRIGGER operator_reads_without_addresses BEFORE INSERT ON operator_reads FOR EACH ROW EXECUTE FUNCTION operator_reads_without_addresses();

-- operator_acts_refuse_change, src/acts/sql/acts.sql:
--   begin
--     raise exception 'what operators did is never changed or removed'
--       using errcode = 'restrict_violation';
--   end

-- operator_reads_without_addresses, src/staff/sql/operators.sql:
--   begin
--     new.at := clock_timestamp();
--     new.command := acts_without_addresses(
--       case when new.command like 'find %'
--         then 'find ' || accounts_searched(substr(new.command, 6)) else new.command end,
--       2000);
--     return new;
--   end

CREATE TABLE operator_sessions (
    id text NOT NULL,
    operator_id text NOT NULL,
    token_digest bytea NOT NULL,
    kind text NOT NULL,
    password_at timestamp with time zone,
    code_at timestamp with time zone,
    recovery_at timestamp with time zone,
    passkey_at timestamp with time zone,
    address text NOT NULL,
    agent text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    provider_at timestamp with time zone,
    provider_factor_at timestamp with time zone,
    CONSTRAINT operator_sessions_have_known_kinds CHECK ((kind = ANY (ARRAY['console'::text, 'terminal'::text])))
);

ALTER TABLE ONLY operator_sessions
    ADD CONSTRAINT operator_sessions_have_one_token_each UNIQUE (token_digest);

ALTER TABLE ONLY operator_sessions
    ADD CONSTRAINT operator_sessions_pkey PRIMARY KEY (id);

CREATE INDEX operator_sessions_of_operator ON operator_sessions USING btree (operator_id);

ALTER TABLE ONLY operator_sessions
    ADD CONSTRAINT operator_sessions_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(id);

CREATE TABLE operator_throttles (
    key text NOT NULL,
    hits integer NOT NULL,
    ends_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY operator_throttles
    ADD CONSTRAINT operator_throttles_pkey PRIMARY KEY (key);

CREATE TABLE operator_tokens (
    id text NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    token_digest bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_by text NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT operator_tokens_have_known_roles CHECK ((role = ANY (ARRAY['viewer'::text, 'support'::text, 'finance'::text, 'admin'::text])))
);

ALTER TABLE ONLY operator_tokens
    ADD CONSTRAINT operator_tokens_have_one_digest_each UNIQUE (token_digest);

ALTER TABLE ONLY operator_tokens
    ADD CONSTRAINT operator_tokens_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX operator_tokens_have_one_name_each ON operator_tokens USING btree (name) WHERE (revoked_at IS NULL);

CREATE TABLE operators (
    id text NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    state text DEFAULT 'invited'::text NOT NULL,
    password_hash text,
    invitation_digest bytea,
    invitation_ends_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_by text NOT NULL,
    CONSTRAINT operators_addresses_are_lower_case CHECK ((email = lower(email))),
    CONSTRAINT operators_have_known_roles CHECK ((role = ANY (ARRAY['viewer'::text, 'support'::text, 'finance'::text, 'admin'::text]))),
    CONSTRAINT operators_have_known_states CHECK ((state = ANY (ARRAY['invited'::text, 'active'::text, 'disabled'::text]))),
    CONSTRAINT operators_have_own_ids CHECK ((id ~ '^opr_[0-9A-Za-z_-]{16}$'::text)),
    CONSTRAINT operators_invitations_end CHECK (((invitation_digest IS NULL) = (invitation_ends_at IS NULL))),
    CONSTRAINT operators_passwords_are_argon2id CHECK ((password_hash ~~ '$argon2id$%'::text))
);

ALTER TABLE ONLY operators
    ADD CONSTRAINT operators_have_one_address_each UNIQUE (email);

ALTER TABLE ONLY operators
    ADD CONSTRAINT operators_pkey PRIMARY KEY (id);

CREATE TABLE orders (
    id text NOT NULL,
    book_id bigint NOT NULL,
    attempt text NOT NULL,
    provider text NOT NULL,
    method payment_method NOT NULL,
    state order_state NOT NULL,
    pack_id text NOT NULL,
    pack_title text NOT NULL,
    credits bigint NOT NULL,
    price_kopecks bigint NOT NULL,
    catalogue_version integer NOT NULL,
    email text NOT NULL,
    locale text NOT NULL,
    receipt jsonb,
    request_body text,
    provider_payment_id text,
    confirmation_kind text,
    confirmation text,
    payable_until timestamp with time zone,
    cancel_reason text,
    receipt_state text,
    captured_at timestamp with time zone,
    credited_at timestamp with time zone,
    credited_by payment_trigger,
    lot bigint,
    refunded_kopecks bigint DEFAULT 0 NOT NULL,
    next_at timestamp with time zone,
    looks integer DEFAULT 0 NOT NULL,
    looked_at timestamp with time zone,
    polled_from timestamp with time zone DEFAULT ledger_now() NOT NULL,
    created_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    is_top_up boolean DEFAULT false NOT NULL,
    saves_method boolean DEFAULT false NOT NULL,
    consent_id bigint,
    posted_at timestamp with time zone,
    shop text,
    paid_at timestamp with time zone,
    charge_after timestamp with time zone,
    captured_kopecks bigint,
    income_kopecks bigint,
    CONSTRAINT orders_are_confirmed_by_redirect_or_qr CHECK ((confirmation_kind = ANY (ARRAY['redirect'::text, 'qr'::text]))),
    CONSTRAINT orders_are_credited_whole CHECK ((((credited_at IS NULL) = (lot IS NULL)) AND ((credited_at IS NULL) = (credited_by IS NULL)) AND ((credited_at IS NULL) OR (provider_payment_id IS NOT NULL)))),
    CONSTRAINT orders_are_not_credited_without_an_entry CHECK (((credited_at IS NOT NULL) OR (state <> ALL (ARRAY['credited'::order_state, 'partially_refunded'::order_state, 'disputed'::order_state, 'dispute_won'::order_state, 'dispute_lost'::order_state])))),
    CONSTRAINT orders_attempts_are_short CHECK (((length(attempt) >= 1) AND (length(attempt) <= 100))),
    CONSTRAINT orders_bodies_are_short CHECK ((octet_length(request_body) <= 16384)),
    CONSTRAINT orders_buy_something CHECK ((credits > 0)),
    CONSTRAINT orders_can_be_posted_again CHECK (((state <> 'created'::order_state) OR (request_body IS NOT NULL))),
    CONSTRAINT orders_captures_are_not_negative CHECK ((captured_kopecks >= 0)),
    CONSTRAINT orders_confirmations_are_short CHECK (((length(confirmation) >= 1) AND (length(confirmation) <= 4096))),
    CONSTRAINT orders_confirmations_have_a_kind CHECK (((confirmation IS NULL) = (confirmation_kind IS NULL))),
    CONSTRAINT orders_cost_something CHECK ((price_kopecks > 0)),
    CONSTRAINT orders_emails_are_short CHECK (((length(email) >= 3) AND (length(email) <= 254))),
    CONSTRAINT orders_ids_carry_their_cell CHECK ((id ~ '^pay_[0-9a-f]{32}$'::text)),
    CONSTRAINT orders_incomes_are_not_negative CHECK ((income_kopecks >= 0)),
    CONSTRAINT orders_name_their_catalogue CHECK ((catalogue_version > 0)),
    CONSTRAINT orders_name_their_provider CHECK ((provider ~ '^[a-z][a-z0-9-]{1,31}$'::text)),
    CONSTRAINT orders_packs_are_short CHECK (((length(pack_id) >= 1) AND (length(pack_id) <= 64))),
    CONSTRAINT orders_payment_ids_are_short CHECK (((length(provider_payment_id) >= 1) AND (length(provider_payment_id) <= 100))),
    CONSTRAINT orders_reasons_are_short CHECK (((length(cancel_reason) >= 1) AND (length(cancel_reason) <= 100))),
    CONSTRAINT orders_receipts_have_three_states CHECK ((receipt_state = ANY (ARRAY['pending'::text, 'succeeded'::text, 'canceled'::text]))),
    CONSTRAINT orders_refunds_are_not_negative CHECK ((refunded_kopecks >= 0)),
    CONSTRAINT orders_speak_two_languages CHECK ((locale = ANY (ARRAY['ru'::text, 'en'::text]))),
    CONSTRAINT orders_stay_credited CHECK (((credited_at IS NULL) OR (state = ANY (ARRAY['credited'::order_state, 'refund_pending'::order_state, 'partially_refunded'::order_state, 'refunded'::order_state, 'disputed'::order_state, 'dispute_won'::order_state, 'dispute_lost'::order_state])))),
    CONSTRAINT orders_titles_are_short CHECK (((length(pack_title) >= 1) AND (length(pack_title) <= 200)))
);

ALTER TABLE ONLY orders
    ADD CONSTRAINT orders_are_bound_to_one_provider UNIQUE (id, provider);

ALTER TABLE ONLY orders
    ADD CONSTRAINT orders_are_one_per_attempt UNIQUE (book_id, attempt);

ALTER TABLE ONLY orders
    ADD CONSTRAINT orders_have_one_payment_each UNIQUE (provider, provider_payment_id);

ALTER TABLE ONLY orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

CREATE INDEX orders_by_book ON orders USING btree (book_id, id DESC);

CREATE INDEX orders_by_capture ON orders USING btree (captured_at) WHERE (captured_at IS NOT NULL);

CREATE INDEX orders_by_credit ON orders USING btree (credited_at) WHERE (credited_at IS NOT NULL);

CREATE INDEX orders_due ON orders USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX orders_paid_uncredited ON orders USING btree (paid_at) WHERE ((paid_at IS NOT NULL) AND (credited_at IS NULL));

CREATE INDEX orders_payable ON orders USING btree (payable_until) WHERE (state = 'pending'::order_state);

CREATE UNIQUE INDEX orders_top_ups_are_one_at_a_time ON orders USING btree (book_id) WHERE (is_top_up AND (state = ANY (ARRAY['created'::order_state, 'pending'::order_state, 'expired'::order_state])));

CREATE INDEX orders_with_failed_receipts ON orders USING btree (credited_at) WHERE (receipt_state = 'canceled'::text);

CREATE TRIGGER orders_have_a_receipt AFTER UPDATE OF credited_at ON orders FOR EACH ROW WHEN (((old.credited_at IS NULL) AND (new.credited_at IS NOT NULL) AND (new.receipt IS NOT NULL))) EXECUTE FUNCTION receipts_begin_with_the_credit();

CREATE TRIGGER orders_keep_their_word BEFORE DELETE OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION orders_refuse_change();

CREATE TRIGGER orders_of_top_ups_have_a_mandate BEFORE INSERT OR UPDATE OF posted_at ON orders FOR EACH ROW EXECUTE FUNCTION orders_refuse_charge_without_mandate();

ALTER TABLE ONLY orders
    ADD CONSTRAINT orders_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

-- orders_refuse_change, src/payments/sql/orders.sql:
--   begin
--     if tg_op = 'UPDATE'
--       and (old.id, old.book_id, old.attempt, old.provider, old.method, old.pack_id, old.credits,
--         old.price_kopecks, old.catalogue_version, old.created_at)
--         = (new.id, new.book_id, new.attempt, new.provider, new.method, new.pack_id, new.credits,
--         new.price_kopecks, new.catalogue_version, new.created_at)
--       and old.shop is not distinct from new.shop
--       and (old.provider_payment_id is null or old.provider_payment_id = new.provider_payment_id)
--       and (old.credited_at is null
--         or (old.credited_at, old.lot, old.credited_by)
--           is not distinct from (new.credited_at, new.lot, new.credited_by)) then
--       return new;
--     end if;
--     raise exception 'an order keeps what was sold, its payment and its entry'
--       using errcode = 'integrity_constraint_violation';
--   end

-- orders_refuse_charge_without_mandate, src/payments/sql/mandates.sql:
--   begin
--     if not new.is_top_up or new.consent_id is null
--       or (tg_op = 'UPDATE' and new.posted_at is not distinct from old.posted_at) then
--       return new;
--     end if;
--     perform from mandates m
--     where m.id = new.consent_id and m.ended_at is null and m.book_id = new.book_id
--       and (m.pack_id, m.price_kopecks, m.credits) = (new.pack_id, new.price_kopecks, new.credits)
--       and (tg_op = 'INSERT' or new.charge_after is null or new.charge_after <= ledger_now())
--     for share;
--     if not found then
--       raise exception 'a top-up needs a living mandate for its pack, price and credits'
--         using errcode = 'integrity_constraint_violation';
--     end if;
--     return new;
--   end

-- receipts_begin_with_the_credit, src/payments/sql/receipts.sql:
--   begin
--     insert into receipts (id, kind, order_id, state, amount_kopecks, credits, next_at, check_at,
--       completed_until)
--     select 'rcp_' || substr(new.id, 5), 'prepayment', new.id, 'pending', new.price_kopecks,
--       new.credits, ledger_now(), c.at, c.until
--     from (select
--         case when o.is_owed then ledger_now() end as at,
--         case when o.is_owed then new.credited_at end as until
--       from (select new.receipt ->> 'mode' = 'full_prepayment'
--         and new.receipt ->> 'completions' in ('monthly', 'at_end') as is_owed) o) c;
--     return null;
--   end

CREATE TABLE passkeys (
    id text NOT NULL,
    account_id text NOT NULL,
    name text,
    public_key text NOT NULL,
    credential_id text NOT NULL,
    counter integer NOT NULL,
    device_type text NOT NULL,
    is_backed_up boolean NOT NULL,
    transports text,
    aaguid text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT passkeys_names_are_short CHECK ((length(name) <= 60))
);

ALTER TABLE ONLY passkeys
    ADD CONSTRAINT passkeys_are_registered_once UNIQUE (credential_id);

ALTER TABLE ONLY passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);

CREATE INDEX passkeys_by_account ON passkeys USING btree (account_id);

ALTER TABLE ONLY passkeys
    ADD CONSTRAINT passkeys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

CREATE TABLE payment_checks (
    name text NOT NULL,
    mark timestamp with time zone NOT NULL,
    done_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    CONSTRAINT payment_checks_names_are_short CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);

ALTER TABLE ONLY payment_checks
    ADD CONSTRAINT payment_checks_pkey PRIMARY KEY (name);

CREATE TABLE payment_findings (
    id bigint NOT NULL,
    rule text NOT NULL,
    subject text NOT NULL,
    provider text,
    shop text,
    detail text NOT NULL,
    found_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    seen_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    cleared_at timestamp with time zone,
    CONSTRAINT payment_findings_are_short CHECK ((length(detail) <= 1000)),
    CONSTRAINT payment_findings_name_a_rule CHECK ((rule ~ '^[a-z_]{1,40}$'::text)),
    CONSTRAINT payment_findings_subjects_are_short CHECK (((length(subject) >= 1) AND (length(subject) <= 200)))
);

ALTER TABLE payment_findings ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME payment_findings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY payment_findings
    ADD CONSTRAINT payment_findings_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX payment_findings_are_open_once ON payment_findings USING btree (rule, subject) WHERE (cleared_at IS NULL);

CREATE INDEX payment_findings_by_time ON payment_findings USING btree (found_at);

CREATE TRIGGER payment_findings_name_nobody BEFORE INSERT OR UPDATE OF detail ON payment_findings FOR EACH ROW EXECUTE FUNCTION accounts_depersonalize_columns('detail', '1000');

-- accounts_depersonalize_columns, src/accounts/sql/pseudonym.sql:
--   declare
--     v_row jsonb := to_jsonb(new);
--     v_book int8 := coalesce((v_row ->> 'book_id')::int8, payments_book_of(v_row ->> 'order_id'));
--     v_column text;
--   begin
--     for i in 0 .. tg_nargs - 2 by 2 loop
--       v_column := tg_argv[i];
--       if v_row ->> v_column <> ''
--         and (tg_op = 'INSERT' or v_row -> v_column is distinct from to_jsonb(old) -> v_column) then
--         new := jsonb_populate_record(new, jsonb_build_object(v_column,
--           accounts_depersonalize(v_row ->> v_column, tg_argv[i + 1]::int4, v_book)));
--       end if;
--     end loop;
--     return new;
--   end

CREATE TABLE payment_notices (
    id bigint NOT NULL,
    provider text NOT NULL,
    dedupe text NOT NULL,
    event text NOT NULL,
    provider_payment_id text NOT NULL,
    body text NOT NULL,
    peer text NOT NULL,
    received_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    next_at timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    outcome text,
    done_at timestamp with time zone,
    order_id text,
    book_id bigint,
    digest text,
    claimed_at timestamp with time zone,
    handled integer DEFAULT 0 NOT NULL,
    CONSTRAINT payment_notices_are_one_per_event CHECK (((order_id IS NULL) OR (dedupe = ((event || ' '::text) || order_id)))),
    CONSTRAINT payment_notices_bodies_are_short CHECK ((octet_length(body) <= 65536)),
    CONSTRAINT payment_notices_end_with_an_outcome CHECK ((((done_at IS NULL) = (outcome IS NULL)) AND ((done_at IS NULL) = (next_at IS NOT NULL)))),
    CONSTRAINT payment_notices_keys_are_short CHECK ((length(dedupe) <= 300))
);

ALTER TABLE payment_notices ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME payment_notices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY payment_notices
    ADD CONSTRAINT payment_notices_are_stored_once UNIQUE (provider, dedupe);

ALTER TABLE ONLY payment_notices
    ADD CONSTRAINT payment_notices_pkey PRIMARY KEY (id);

CREATE INDEX payment_notices_by_arrival ON payment_notices USING btree (received_at);

CREATE INDEX payment_notices_due ON payment_notices USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX payment_notices_of_payment ON payment_notices USING btree (provider, provider_payment_id);

CREATE INDEX payment_notices_waiting ON payment_notices USING btree (book_id) WHERE (done_at IS NULL);

CREATE TABLE payment_payers (
    order_id text NOT NULL,
    book_id bigint NOT NULL,
    card_digest bytea,
    bank text,
    seen_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    CONSTRAINT payment_payers_banks_are_short CHECK (((length(bank) >= 1) AND (length(bank) <= 20))),
    CONSTRAINT payment_payers_digests_are_sha256 CHECK ((octet_length(card_digest) = 32)),
    CONSTRAINT payment_payers_say_something CHECK (((card_digest IS NOT NULL) OR (bank IS NOT NULL)))
);

ALTER TABLE ONLY payment_payers
    ADD CONSTRAINT payment_payers_pkey PRIMARY KEY (order_id);

CREATE INDEX payment_payers_by_book ON payment_payers USING btree (book_id);

CREATE INDEX payment_payers_by_card ON payment_payers USING btree (card_digest) WHERE (card_digest IS NOT NULL);

CREATE INDEX payment_payers_by_time ON payment_payers USING btree (seen_at);

ALTER TABLE ONLY payment_payers
    ADD CONSTRAINT payment_payers_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);

CREATE TABLE payment_reviews (
    id bigint NOT NULL,
    order_id text,
    provider text NOT NULL,
    provider_payment_id text NOT NULL,
    reason text NOT NULL,
    detail text NOT NULL,
    amount_kopecks bigint,
    has_money boolean NOT NULL,
    opened_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    closed_at timestamp with time zone,
    decision text,
    decided_by text,
    note text,
    CONSTRAINT payment_reviews_are_decided_by_someone CHECK ((((closed_at IS NULL) = (decision IS NULL)) AND ((closed_at IS NULL) = (decided_by IS NULL)))),
    CONSTRAINT payment_reviews_are_short CHECK ((length(detail) <= 1000)),
    CONSTRAINT payment_reviews_end_in_three_ways CHECK ((decision = ANY (ARRAY['credit'::text, 'refund'::text, 'dismiss'::text]))),
    CONSTRAINT payment_reviews_have_a_reason CHECK (((length(reason) >= 1) AND (length(reason) <= 100)))
);

ALTER TABLE payment_reviews ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME payment_reviews_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY payment_reviews
    ADD CONSTRAINT payment_reviews_are_opened_once UNIQUE (provider, provider_payment_id, reason);

ALTER TABLE ONLY payment_reviews
    ADD CONSTRAINT payment_reviews_pkey PRIMARY KEY (id);

CREATE INDEX payment_reviews_open ON payment_reviews USING btree (id) WHERE (closed_at IS NULL);

CREATE TRIGGER payment_reviews_name_nobody BEFORE INSERT OR UPDATE OF note, detail ON payment_reviews FOR EACH ROW EXECUTE FUNCTION accounts_depersonalize_columns('note', '1000', 'detail', '1000');

ALTER TABLE ONLY payment_reviews
    ADD CONSTRAINT payment_reviews_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);

-- accounts_depersonalize_columns, src/accounts/sql/pseudonym.sql:
--   declare
--     v_row jsonb := to_jsonb(new);
--     v_book int8 := coalesce((v_row ->> 'book_id')::int8, payments_book_of(v_row ->> 'order_id'));
--     v_column text;
--   begin
--     for i in 0 .. tg_nargs - 2 by 2 loop
--       v_column := tg_argv[i];
--       if v_row ->> v_column <> ''
--         and (tg_op = 'INSERT' or v_row -> v_column is distinct from to_jsonb(old) -> v_column) then
--         new := jsonb_populate_record(new, jsonb_build_object(v_column,
--           accounts_depersonalize(v_row ->> v_column, tg_argv[i + 1]::int4, v_book)));
--       end if;
--     end loop;
--     return new;
--   end

CREATE TABLE payment_sweeps (
    provider text NOT NULL,
    watermark timestamp with time zone NOT NULL,
    leased_by bigint,
    leased_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    swept_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    shop text DEFAULT ''::text NOT NULL,
    began_at timestamp with time zone,
    wide_at timestamp with time zone,
    missed_at timestamp with time zone
);

ALTER TABLE ONLY payment_sweeps
    ADD CONSTRAINT payment_sweeps_pkey PRIMARY KEY (provider, shop);

CREATE TABLE postings (
    kind entry_kind NOT NULL,
    ref text NOT NULL,
    book_id bigint NOT NULL,
    amount bigint NOT NULL,
    seq bigint NOT NULL,
    lot bigint,
    at timestamp with time zone NOT NULL,
    CONSTRAINT postings_are_of_rare_kinds CHECK ((kind <> ALL (ARRAY['charge'::entry_kind, 'void'::entry_kind]))),
    CONSTRAINT postings_refs_are_short CHECK (((length(ref) >= 1) AND (length(ref) <= 200)))
);

ALTER TABLE ONLY postings
    ADD CONSTRAINT postings_pkey PRIMARY KEY (kind, ref);

CREATE INDEX postings_by_book ON postings USING btree (book_id, seq);

CREATE INDEX postings_by_time ON postings USING btree (kind, at, ref);

ALTER TABLE ONLY postings
    ADD CONSTRAINT postings_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

CREATE TABLE promo_attempts (
    book_id bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    tries integer NOT NULL
);

ALTER TABLE ONLY promo_attempts
    ADD CONSTRAINT promo_attempts_pkey PRIMARY KEY (book_id);

ALTER TABLE ONLY promo_attempts
    ADD CONSTRAINT promo_attempts_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

CREATE TABLE promo_codes (
    code text NOT NULL,
    credits bigint NOT NULL,
    redemptions_max integer NOT NULL,
    redeemed integer DEFAULT 0 NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    note text NOT NULL,
    created_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    purchases_min integer DEFAULT 0 NOT NULL,
    CONSTRAINT promo_codes_are_limited_in_number CHECK ((redemptions_max > 0)),
    CONSTRAINT promo_codes_are_limited_in_time CHECK ((ends_at > starts_at)),
    CONSTRAINT promo_codes_are_not_overdrawn CHECK (((redeemed >= 0) AND (redeemed <= redemptions_max))),
    CONSTRAINT promo_codes_are_plain CHECK ((code ~ '^[A-Z0-9][A-Z0-9-]{3,39}$'::text)),
    CONSTRAINT promo_codes_give_something CHECK ((credits > 0)),
    CONSTRAINT promo_codes_need_few_purchases CHECK (((purchases_min >= 0) AND (purchases_min <= 100)))
);

ALTER TABLE ONLY promo_codes
    ADD CONSTRAINT promo_codes_pkey PRIMARY KEY (code);

CREATE TRIGGER promo_codes_name_nobody BEFORE INSERT OR UPDATE OF note ON promo_codes FOR EACH ROW EXECUTE FUNCTION accounts_depersonalize_columns('note', '2000');

-- accounts_depersonalize_columns, src/accounts/sql/pseudonym.sql:
--   declare
--     v_row jsonb := to_jsonb(new);
--     v_book int8 := coalesce((v_row ->> 'book_id')::int8, payments_book_of(v_row ->> 'order_id'));
--     v_column text;
--   begin
--     for i in 0 .. tg_nargs - 2 by 2 loop
--       v_column := tg_argv[i];
--       if v_row ->> v_column <> ''
--         and (tg_op = 'INSERT' or v_row -> v_column is distinct from to_jsonb(old) -> v_column) then
--         new := jsonb_populate_record(new, jsonb_build_object(v_column,
--           accounts_depersonalize(v_row ->> v_column, tg_argv[i + 1]::int4, v_book)));
--       end if;
--     end loop;
--     return new;
--   end

CREATE TABLE promo_purchases (
    order_id text NOT NULL,
    code text NOT NULL,
    book_id bigint NOT NULL
);

ALTER TABLE ONLY promo_purchases
    ADD CONSTRAINT promo_purchases_open_one_code PRIMARY KEY (order_id);

ALTER TABLE ONLY promo_purchases
    ADD CONSTRAINT promo_purchases_code_book_id_fkey FOREIGN KEY (code, book_id) REFERENCES promo_redemptions(code, book_id);

ALTER TABLE ONLY promo_purchases
    ADD CONSTRAINT promo_purchases_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);

CREATE TABLE promo_redemptions (
    code text NOT NULL,
    book_id bigint NOT NULL,
    redeemed_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    address_digest bytea,
    CONSTRAINT promo_redemptions_digests_are_sha256 CHECK ((octet_length(address_digest) = 32))
);

ALTER TABLE ONLY promo_redemptions
    ADD CONSTRAINT promo_redemptions_are_one_per_account PRIMARY KEY (code, book_id);

CREATE UNIQUE INDEX promo_redemptions_are_one_per_address ON promo_redemptions USING btree (code, address_digest);

ALTER TABLE ONLY promo_redemptions
    ADD CONSTRAINT promo_redemptions_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

ALTER TABLE ONLY promo_redemptions
    ADD CONSTRAINT promo_redemptions_code_fkey FOREIGN KEY (code) REFERENCES promo_codes(code);

CREATE TABLE quarantine (
    hold_id uuid NOT NULL,
    settle text NOT NULL,
    book_id bigint NOT NULL,
    priced bigint NOT NULL,
    reason text NOT NULL,
    refused_at timestamp with time zone NOT NULL,
    tried_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    tried_after text,
    closed_at timestamp with time zone,
    outcome text,
    CONSTRAINT quarantine_closes_with_an_outcome CHECK (((closed_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT quarantine_outcomes_are_known CHECK ((outcome = ANY (ARRAY['charged'::text, 'written_off'::text])))
);

CREATE UNIQUE INDEX quarantine_has_a_settle_once ON quarantine USING btree (hold_id, md5(settle));

CREATE INDEX quarantine_waiting ON quarantine USING btree (refused_at) WHERE (closed_at IS NULL);

CREATE TABLE receipt_decisions (
    order_id text NOT NULL,
    decided_by text NOT NULL,
    note text NOT NULL,
    decided_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    CONSTRAINT receipt_decisions_have_a_reason CHECK (((length(note) >= 1) AND (length(note) <= 1000))),
    CONSTRAINT receipt_decisions_name_who_decided CHECK (((length(decided_by) >= 1) AND (length(decided_by) <= 100)))
);

ALTER TABLE ONLY receipt_decisions
    ADD CONSTRAINT receipt_decisions_pkey PRIMARY KEY (order_id);

CREATE TRIGGER receipt_decisions_name_nobody BEFORE INSERT OR UPDATE OF note ON receipt_decisions FOR EACH ROW EXECUTE FUNCTION accounts_depersonalize_columns('note', '1000');

ALTER TABLE ONLY receipt_decisions
    ADD CONSTRAINT receipt_decisions_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);

-- accounts_depersonalize_columns, src/accounts/sql/pseudonym.sql:
--   declare
--     v_row jsonb := to_jsonb(new);
--     v_book int8 := coalesce((v_row ->> 'book_id')::int8, payments_book_of(v_row ->> 'order_id'));
--     v_column text;
--   begin
--     for i in 0 .. tg_nargs - 2 by 2 loop
--       v_column := tg_argv[i];
--       if v_row ->> v_column <> ''
--         and (tg_op = 'INSERT' or v_row -> v_column is distinct from to_jsonb(old) -> v_column) then
--         new := jsonb_populate_record(new, jsonb_build_object(v_column,
--           accounts_depersonalize(v_row ->> v_column, tg_argv[i + 1]::int4, v_book)));
--       end if;
--     end loop;
--     return new;
--   end

CREATE TABLE receipts (
    id text NOT NULL,
    kind text NOT NULL,
    order_id text NOT NULL,
    refund_id text,
    state text NOT NULL,
    amount_kopecks bigint NOT NULL,
    completed_kopecks bigint DEFAULT 0 NOT NULL,
    credits bigint NOT NULL,
    period_from timestamp with time zone,
    period_until timestamp with time zone,
    attempt integer DEFAULT 1 NOT NULL,
    attempted_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    request_body text,
    provider_receipt_id text,
    fiscal_document text,
    fiscal_storage text,
    fiscal_sign text,
    registered_at timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    next_at timestamp with time zone,
    error text,
    check_at timestamp with time zone,
    completed_until timestamp with time zone,
    decided_by text,
    note text,
    created_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    CONSTRAINT receipts_are_checked_with_the_prepayment CHECK (((kind = 'prepayment'::text) OR ((check_at IS NULL) AND (completed_until IS NULL)))),
    CONSTRAINT receipts_are_dismissed_by_somebody CHECK (((state = 'dismissed'::text) = ((decided_by IS NOT NULL) AND (note IS NOT NULL)))),
    CONSTRAINT receipts_are_in_a_state CHECK ((state = ANY (ARRAY['created'::text, 'pending'::text, 'registered'::text, 'failed'::text, 'dismissed'::text]))),
    CONSTRAINT receipts_are_of_a_kind CHECK ((kind = ANY (ARRAY['prepayment'::text, 'completion'::text, 'return'::text]))),
    CONSTRAINT receipts_are_of_an_amount CHECK ((amount_kopecks > 0)),
    CONSTRAINT receipts_are_of_credits CHECK ((credits >= 0)),
    CONSTRAINT receipts_are_registered_with_all_numbers CHECK (((state <> 'registered'::text) OR ((fiscal_document IS NOT NULL) AND (fiscal_storage IS NOT NULL) AND (fiscal_sign IS NOT NULL) AND (registered_at IS NOT NULL) AND (provider_receipt_id IS NOT NULL)))),
    CONSTRAINT receipts_attempts_begin_at_one CHECK ((attempt >= 1)),
    CONSTRAINT receipts_bodies_are_short CHECK ((octet_length(request_body) <= 16384)),
    CONSTRAINT receipts_can_be_posted CHECK (((state <> 'created'::text) OR (request_body IS NOT NULL))),
    CONSTRAINT receipts_documents_are_short CHECK (((length(fiscal_document) >= 1) AND (length(fiscal_document) <= 50))),
    CONSTRAINT receipts_errors_are_short CHECK (((length(error) >= 1) AND (length(error) <= 300))),
    CONSTRAINT receipts_ids_carry_their_cell CHECK ((id ~ '^rcp_[0-9a-f]{32}$'::text)),
    CONSTRAINT receipts_keep_no_address_without_need CHECK (((state = 'created'::text) OR (request_body IS NULL))),
    CONSTRAINT receipts_name_who_decided CHECK (((length(decided_by) >= 1) AND (length(decided_by) <= 100))),
    CONSTRAINT receipts_notes_are_short CHECK (((length(note) >= 1) AND (length(note) <= 1000))),
    CONSTRAINT receipts_of_completions_have_a_period CHECK (((kind = 'completion'::text) = ((period_from IS NOT NULL) AND (period_until IS NOT NULL)))),
    CONSTRAINT receipts_of_returns_have_a_refund CHECK (((kind = 'return'::text) = (refund_id IS NOT NULL))),
    CONSTRAINT receipts_provider_ids_are_short CHECK (((length(provider_receipt_id) >= 1) AND (length(provider_receipt_id) <= 100))),
    CONSTRAINT receipts_return_what_was_completed CHECK ((((completed_kopecks >= 0) AND (completed_kopecks <= amount_kopecks)) AND ((kind = 'return'::text) OR (completed_kopecks = 0)))),
    CONSTRAINT receipts_signs_are_short CHECK (((length(fiscal_sign) >= 1) AND (length(fiscal_sign) <= 50))),
    CONSTRAINT receipts_storages_are_short CHECK (((length(fiscal_storage) >= 1) AND (length(fiscal_storage) <= 50)))
);

ALTER TABLE ONLY receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY receipts
    ADD CONSTRAINT receipts_provider_receipt_id_key UNIQUE (provider_receipt_id);

ALTER TABLE ONLY receipts
    ADD CONSTRAINT receipts_refund_id_key UNIQUE (refund_id);

CREATE UNIQUE INDEX receipts_are_one_per_prepayment ON receipts USING btree (order_id) WHERE (kind = 'prepayment'::text);

CREATE INDEX receipts_by_time ON receipts USING btree (registered_at) WHERE (registered_at IS NOT NULL);

CREATE UNIQUE INDEX receipts_complete_a_period_once ON receipts USING btree (order_id, period_from) WHERE (kind = 'completion'::text);

CREATE INDEX receipts_of_an_order ON receipts USING btree (order_id);

CREATE INDEX receipts_that_are_due ON receipts USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX receipts_that_failed ON receipts USING btree (created_at) WHERE (state = 'failed'::text);

CREATE INDEX receipts_to_check ON receipts USING btree (check_at) WHERE (check_at IS NOT NULL);

CREATE TRIGGER receipts_keep_their_word BEFORE INSERT OR DELETE OR UPDATE ON receipts FOR EACH ROW EXECUTE FUNCTION receipts_tie_with_their_order();

CREATE TRIGGER receipts_name_nobody BEFORE INSERT OR UPDATE OF note, error ON receipts FOR EACH ROW EXECUTE FUNCTION accounts_depersonalize_columns('note', '1000', 'error', '300');

ALTER TABLE ONLY receipts
    ADD CONSTRAINT receipts_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id);

ALTER TABLE ONLY receipts
    ADD CONSTRAINT receipts_refund_id_fkey FOREIGN KEY (refund_id) REFERENCES refunds(id);

-- accounts_depersonalize_columns, src/accounts/sql/pseudonym.sql:
--   declare
--     v_row jsonb := to_jsonb(new);
--     v_book int8 := coalesce((v_row ->> 'book_id')::int8, payments_book_of(v_row ->> 'order_id'));
--     v_column text;
--   begin
--     for i in 0 .. tg_nargs - 2 by 2 loop
--       v_column := tg_argv[i];
--       if v_row ->> v_column <> ''
--         and (tg_op = 'INSERT' or v_row -> v_column is distinct from to_jsonb(old) -> v_column) then
--         new := jsonb_populate_record(new, jsonb_build_object(v_column,
--           accounts_depersonalize(v_row ->> v_column, tg_argv[i + 1]::int4, v_book)));
--       end if;
--     end loop;
--     return new;
--   end

-- receipts_tie_with_their_order, src/payments/sql/receipts.sql:
--   begin
--     if tg_op = 'UPDATE' then
--       if (old.id, old.kind, old.order_id, old.amount_kopecks, old.completed_kopecks, old.credits,
--           old.created_at)
--         = (new.id, new.kind, new.order_id, new.amount_kopecks, new.completed_kopecks, new.credits,
--           new.created_at)
--         and old.refund_id is not distinct from new.refund_id
--         and (old.state <> 'registered'
--           or (old.state, old.fiscal_document, old.fiscal_storage, old.fiscal_sign, old.registered_at)
--             = (new.state, new.fiscal_document, new.fiscal_storage, new.fiscal_sign,
--               new.registered_at)) then
--         return new;
--       end if;
--     elsif tg_op = 'INSERT' and new.kind <> 'completion' then
--       return new;
--     elsif tg_op = 'INSERT' then
--       perform from orders where orders.id = new.order_id for no key update;
--       if new.amount_kopecks <= receipts_uncompleted(new.order_id, '') then
--         return new;
--       end if;
--       raise exception 'completions of an order and its refunds exceed its price'
--         using errcode = 'check_violation';
--     end if;
--     raise exception 'a receipt keeps what it says' using errcode = 'integrity_constraint_violation';
--   end

CREATE TABLE refunds (
    id text NOT NULL,
    order_id text NOT NULL,
    provider text NOT NULL,
    provider_payment_id text NOT NULL,
    provider_refund_id text,
    attempt text NOT NULL,
    state refund_state NOT NULL,
    amount_kopecks bigint NOT NULL,
    credits bigint NOT NULL,
    is_forced boolean DEFAULT false NOT NULL,
    review_id bigint,
    asked_by text NOT NULL,
    reason text NOT NULL,
    request_body text,
    cancel_reason text,
    next_at timestamp with time zone,
    looks integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    ended_at timestamp with time zone,
    owner_digest bytea,
    completed_kopecks bigint DEFAULT 0 NOT NULL,
    CONSTRAINT refunds_attempts_are_short CHECK (((length(attempt) >= 1) AND (length(attempt) <= 100))),
    CONSTRAINT refunds_bodies_are_short CHECK ((octet_length(request_body) <= 16384)),
    CONSTRAINT refunds_can_be_posted_again CHECK (((state <> 'created'::refund_state) OR (request_body IS NOT NULL))),
    CONSTRAINT refunds_complete_no_more_than_they_return CHECK (((completed_kopecks >= 0) AND (completed_kopecks <= amount_kopecks))),
    CONSTRAINT refunds_digests_are_sha256 CHECK ((octet_length(owner_digest) = 32)),
    CONSTRAINT refunds_end_at_a_time CHECK (((state = ANY (ARRAY['succeeded'::refund_state, 'canceled'::refund_state])) = (ended_at IS NOT NULL))),
    CONSTRAINT refunds_give_something CHECK ((amount_kopecks > 0)),
    CONSTRAINT refunds_ids_carry_their_cell CHECK ((id ~ '^rfd_[0-9a-f]{32}$'::text)),
    CONSTRAINT refunds_ids_there_are_short CHECK (((length(provider_refund_id) >= 1) AND (length(provider_refund_id) <= 100))),
    CONSTRAINT refunds_name_who_asked CHECK (((length(asked_by) >= 1) AND (length(asked_by) <= 100))),
    CONSTRAINT refunds_of_reviews_take_no_credits CHECK (((review_id IS NULL) OR (credits = 0))),
    CONSTRAINT refunds_reasons_are_short CHECK ((length(reason) <= 250)),
    CONSTRAINT refunds_take_no_less_than_nothing CHECK ((credits >= 0))
);

ALTER TABLE ONLY refunds
    ADD CONSTRAINT refunds_are_known_once UNIQUE (provider, provider_refund_id);

ALTER TABLE ONLY refunds
    ADD CONSTRAINT refunds_are_one_per_attempt UNIQUE (order_id, attempt);

ALTER TABLE ONLY refunds
    ADD CONSTRAINT refunds_pkey PRIMARY KEY (id);

CREATE INDEX refunds_by_end ON refunds USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX refunds_by_order ON refunds USING btree (order_id);

CREATE INDEX refunds_by_owner ON refunds USING btree (owner_digest, created_at) WHERE (owner_digest IS NOT NULL);

CREATE INDEX refunds_due ON refunds USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE TRIGGER refunds_have_a_receipt AFTER INSERT OR UPDATE OF state ON refunds FOR EACH ROW WHEN (((new.state = 'succeeded'::refund_state) AND (new.review_id IS NULL))) EXECUTE FUNCTION receipts_follow_refunds();

CREATE TRIGGER refunds_know_their_completed_part BEFORE INSERT OR UPDATE OF state ON refunds FOR EACH ROW EXECUTE FUNCTION refunds_know_what_was_completed();

CREATE TRIGGER refunds_name_nobody BEFORE INSERT OR UPDATE OF reason ON refunds FOR EACH ROW EXECUTE FUNCTION accounts_depersonalize_columns('reason', '250');

ALTER TABLE ONLY refunds
    ADD CONSTRAINT refunds_order_id_provider_fkey FOREIGN KEY (order_id, provider) REFERENCES orders(id, provider);

ALTER TABLE ONLY refunds
    ADD CONSTRAINT refunds_review_id_fkey FOREIGN KEY (review_id) REFERENCES payment_reviews(id);

-- accounts_depersonalize_columns, src/accounts/sql/pseudonym.sql:
--   declare
--     v_row jsonb := to_jsonb(new);
--     v_book int8 := coalesce((v_row ->> 'book_id')::int8, payments_book_of(v_row ->> 'order_id'));
--     v_column text;
--   begin
--     for i in 0 .. tg_nargs - 2 by 2 loop
--       v_column := tg_argv[i];
--       if v_row ->> v_column <> ''
--         and (tg_op = 'INSERT' or v_row -> v_column is distinct from to_jsonb(old) -> v_column) then
--         new := jsonb_populate_record(new, jsonb_build_object(v_column,
--           accounts_depersonalize(v_row ->> v_column, tg_argv[i + 1]::int4, v_book)));
--       end if;
--     end loop;
--     return new;
--   end

-- receipts_follow_refunds, src/payments/sql/receipts.sql:
--   begin
--     insert into receipts (id, kind, order_id, refund_id, state, amount_kopecks, completed_kopecks,
--       credits, next_at)
--     select 'rcp_' || substr(new.id, 5), 'return', new.order_id, new.id, 'pending',
--       new.amount_kopecks, new.completed_kopecks, new.credits, ledger_now()
--     from orders o
--     where o.id = new.order_id and o.receipt is not null and o.credited_at is not null
--     on conflict do nothing;
--     return null;
--   end

-- refunds_know_what_was_completed, src/payments/sql/receipts.sql:
--   begin
--     perform from orders where orders.id = new.order_id for no key update;
--     -- A canceled refund that succeeds after all may return what was completed meanwhile.
--     if tg_op = 'INSERT' or (old.state = 'canceled' and new.state <> 'canceled') then
--       new.completed_kopecks := case when new.review_id is null
--         then receipts_completed_part(new.order_id, new.id, new.amount_kopecks) else 0 end;
--     end if;
--     return new;
--   end

CREATE TABLE refused_requests (
    book_id bigint NOT NULL,
    day date NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT refused_requests_are_counted CHECK ((requests > 0)),
    CONSTRAINT refused_requests_have_a_code CHECK ((reason ~ '^[a-z][a-z0-9_]{0,39}$'::text))
)
WITH (fillfactor='80');

ALTER TABLE ONLY refused_requests
    ADD CONSTRAINT refused_requests_pkey PRIMARY KEY (book_id, day, reason);

CREATE INDEX refused_requests_by_day ON refused_requests USING btree (day);

CREATE TABLE registrations (
    id text NOT NULL,
    email text NOT NULL,
    password_hash text NOT NULL,
    language text NOT NULL,
    consents jsonb NOT NULL,
    address text NOT NULL,
    code_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    invited_by text,
    CONSTRAINT registrations_codes_are_digests CHECK ((length(code_hash) = 32)),
    CONSTRAINT registrations_emails_are_lower_case CHECK ((email = lower(email))),
    CONSTRAINT registrations_ids_are_prefixed CHECK ((id ~ '^reg_[A-Za-z0-9_-]{16}$'::text)),
    CONSTRAINT registrations_passwords_are_argon2id CHECK ((password_hash ~~ '$argon2id$v=19$%'::text)),
    CONSTRAINT registrations_speak_a_known_language CHECK ((language = ANY (ARRAY['ru'::text, 'en'::text])))
);

ALTER TABLE ONLY registrations
    ADD CONSTRAINT registrations_codes_are_their_own UNIQUE (code_hash);

ALTER TABLE ONLY registrations
    ADD CONSTRAINT registrations_pkey PRIMARY KEY (id);

CREATE INDEX registrations_by_email ON registrations USING btree (email, created_at);

CREATE INDEX registrations_by_expiry ON registrations USING btree (expires_at);

CREATE TABLE saved_methods (
    book_id bigint NOT NULL,
    provider text NOT NULL,
    method payment_method NOT NULL,
    provider_method_id text NOT NULL,
    title text NOT NULL,
    saved_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    CONSTRAINT saved_methods_ids_are_short CHECK (((length(provider_method_id) >= 1) AND (length(provider_method_id) <= 100))),
    CONSTRAINT saved_methods_name_their_provider CHECK ((provider ~ '^[a-z][a-z0-9-]{1,31}$'::text)),
    CONSTRAINT saved_methods_titles_are_short CHECK ((length(title) <= 100))
);

ALTER TABLE ONLY saved_methods
    ADD CONSTRAINT saved_methods_pkey PRIMARY KEY (book_id);

ALTER TABLE ONLY saved_methods
    ADD CONSTRAINT saved_methods_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

CREATE TABLE second_factors (
    id text NOT NULL,
    account_id text NOT NULL,
    secret text NOT NULL,
    recovery_codes text NOT NULL,
    is_verified boolean DEFAULT false NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    locked_until timestamp with time zone
);

ALTER TABLE ONLY second_factors
    ADD CONSTRAINT second_factors_are_one_per_account UNIQUE (account_id);

ALTER TABLE ONLY second_factors
    ADD CONSTRAINT second_factors_pkey PRIMARY KEY (id);

ALTER TABLE ONLY second_factors
    ADD CONSTRAINT second_factors_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

CREATE TABLE sessions (
    id text NOT NULL,
    account_id text NOT NULL,
    secret text NOT NULL,
    address text,
    agent text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    password_at timestamp with time zone,
    code_at timestamp with time zone,
    recovery_at timestamp with time zone,
    passkey_at timestamp with time zone,
    is_private boolean DEFAULT false NOT NULL,
    secret_id smallint
);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_secrets_are_their_own UNIQUE (secret);

CREATE INDEX sessions_by_account ON sessions USING btree (account_id);

CREATE INDEX sessions_by_expiry ON sessions USING btree (expires_at);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

CREATE TABLE status_components (
    component text NOT NULL,
    state text DEFAULT 'unmeasured'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    since timestamp with time zone DEFAULT ledger_now() NOT NULL,
    first_at timestamp with time zone,
    probed_at timestamp with time zone,
    recorded_to timestamp with time zone,
    next_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    turn bigint DEFAULT 0 NOT NULL,
    run_kind text,
    run_length integer DEFAULT 0 NOT NULL,
    run_began timestamp with time zone,
    CONSTRAINT status_components_are_known CHECK ((component = ANY (ARRAY['gateway'::text, 'models'::text, 'payments'::text, 'letters'::text]))),
    CONSTRAINT status_components_have_known_states CHECK ((state = ANY (ARRAY['working'::text, 'slow'::text, 'failed'::text, 'paused'::text, 'unknown'::text, 'unmeasured'::text]))),
    CONSTRAINT status_components_reasons_are_short CHECK ((length(reason) <= 200)),
    CONSTRAINT status_components_runs_are_known CHECK ((run_kind = ANY (ARRAY['failed'::text, 'good'::text])))
);

ALTER TABLE ONLY status_components
    ADD CONSTRAINT status_components_pkey PRIMARY KEY (component);

CREATE TABLE status_days (
    component text NOT NULL,
    day date NOT NULL,
    working_ms bigint NOT NULL,
    failed_ms bigint NOT NULL,
    planned_ms bigint NOT NULL,
    CONSTRAINT status_days_are_no_longer_than_a_day CHECK ((((working_ms + failed_ms) + planned_ms) <= 86400000)),
    CONSTRAINT status_days_are_not_negative CHECK (((working_ms >= 0) AND (failed_ms >= 0) AND (planned_ms >= 0)))
);

ALTER TABLE ONLY status_days
    ADD CONSTRAINT status_days_pkey PRIMARY KEY (component, day);

ALTER TABLE ONLY status_days
    ADD CONSTRAINT status_days_component_fkey FOREIGN KEY (component) REFERENCES status_components(component);

CREATE TABLE status_incident_updates (
    id bigint NOT NULL,
    incident_id bigint NOT NULL,
    at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    state text NOT NULL,
    text_ru text NOT NULL,
    text_en text NOT NULL,
    written_by text NOT NULL,
    CONSTRAINT status_incident_updates_have_known_states CHECK ((state = ANY (ARRAY['investigating'::text, 'identified'::text, 'watching'::text, 'planned'::text, 'closed'::text]))),
    CONSTRAINT status_incident_updates_have_texts CHECK ((((length(text_ru) >= 1) AND (length(text_ru) <= 2000)) AND ((length(text_en) >= 1) AND (length(text_en) <= 2000)) AND ((text_ru || text_en) !~ '[\u0001-\u0009\u000b-\u001f\u007f]|[^[:space:]][@＠][^[:space:]]'::text))),
    CONSTRAINT status_incident_updates_name_their_author CHECK (((length(written_by) >= 1) AND (length(written_by) <= 200)))
);

ALTER TABLE status_incident_updates ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME status_incident_updates_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY status_incident_updates
    ADD CONSTRAINT status_incident_updates_pkey PRIMARY KEY (id);

CREATE INDEX status_incident_updates_by_incident ON status_incident_updates USING btree (incident_id, id);

ALTER TABLE ONLY status_incident_updates
    ADD CONSTRAINT status_incident_updates_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES status_incidents(id);

CREATE TABLE status_incidents (
    id bigint NOT NULL,
    kind text NOT NULL,
    components text[] NOT NULL,
    title_ru text NOT NULL,
    title_en text NOT NULL,
    begins_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone,
    closed_at timestamp with time zone,
    opened_by text NOT NULL,
    CONSTRAINT status_incidents_end_after_they_begin CHECK ((ends_at > begins_at)),
    CONSTRAINT status_incidents_have_known_kinds CHECK ((kind = ANY (ARRAY['incident'::text, 'maintenance'::text]))),
    CONSTRAINT status_incidents_have_titles CHECK ((((length(title_ru) >= 1) AND (length(title_ru) <= 150)) AND ((length(title_en) >= 1) AND (length(title_en) <= 150)) AND ((title_ru || title_en) !~ '[\u0001-\u001f\u007f]|[^[:space:]][@＠][^[:space:]]'::text))),
    CONSTRAINT status_incidents_last_at_most_a_week CHECK ((ends_at <= (begins_at + '7 days'::interval))),
    CONSTRAINT status_incidents_name_components CHECK ((((cardinality(components) >= 1) AND (cardinality(components) <= 4)) AND (components <@ ARRAY['gateway'::text, 'models'::text, 'payments'::text, 'letters'::text]))),
    CONSTRAINT status_incidents_name_who_opened_them CHECK (((length(opened_by) >= 1) AND (length(opened_by) <= 200))),
    CONSTRAINT status_incidents_of_maintenance_end CHECK (((kind = 'maintenance'::text) = (ends_at IS NOT NULL)))
);

ALTER TABLE status_incidents ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME status_incidents_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY status_incidents
    ADD CONSTRAINT status_incidents_pkey PRIMARY KEY (id);

CREATE INDEX status_incidents_by_begin ON status_incidents USING btree (begins_at);

CREATE TABLE status_outages (
    id bigint NOT NULL,
    component text NOT NULL,
    began_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    reason text NOT NULL,
    CONSTRAINT status_outages_end_after_they_begin CHECK ((ended_at >= began_at)),
    CONSTRAINT status_outages_reasons_are_short CHECK ((length(reason) <= 200))
);

ALTER TABLE status_outages ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME status_outages_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY status_outages
    ADD CONSTRAINT status_outages_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX status_outages_are_open_once ON status_outages USING btree (component) WHERE (ended_at IS NULL);

CREATE INDEX status_outages_by_component ON status_outages USING btree (component, ended_at);

ALTER TABLE ONLY status_outages
    ADD CONSTRAINT status_outages_component_fkey FOREIGN KEY (component) REFERENCES status_components(component);

CREATE TABLE status_samples (
    component text NOT NULL,
    at timestamp with time zone NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT status_samples_have_known_states CHECK ((state = ANY (ARRAY['working'::text, 'slow'::text, 'failed'::text, 'paused'::text, 'unknown'::text, 'unmeasured'::text]))),
    CONSTRAINT status_samples_reasons_are_short CHECK ((length(reason) <= 200))
);

ALTER TABLE ONLY status_samples
    ADD CONSTRAINT status_samples_pkey PRIMARY KEY (component, at);

ALTER TABLE ONLY status_samples
    ADD CONSTRAINT status_samples_component_fkey FOREIGN KEY (component) REFERENCES status_components(component);

CREATE TABLE stops_beneath (
    book_id bigint NOT NULL,
    reason blocked_reason NOT NULL,
    CONSTRAINT stops_beneath_are_the_owners CHECK ((reason <> 'operator_blocked'::blocked_reason))
);

ALTER TABLE ONLY stops_beneath
    ADD CONSTRAINT stops_beneath_pkey PRIMARY KEY (book_id);

CREATE TABLE sweep_marks (
    is_only boolean DEFAULT true NOT NULL,
    closed_before timestamp with time zone NOT NULL,
    CONSTRAINT sweep_marks_are_one_row CHECK (is_only)
);

ALTER TABLE ONLY sweep_marks
    ADD CONSTRAINT sweep_marks_pkey PRIMARY KEY (is_only);

CREATE TABLE tariffs (
    id integer NOT NULL,
    catalogue_version integer NOT NULL,
    model text NOT NULL,
    coefficient bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_write_5m bigint NOT NULL,
    cache_write_1h bigint NOT NULL,
    input bigint DEFAULT 1000000 NOT NULL,
    list text DEFAULT ''::text NOT NULL,
    CONSTRAINT tariffs_cache_read_is_not_negative CHECK ((cache_read >= 0)),
    CONSTRAINT tariffs_cache_write_1h_is_not_negative CHECK ((cache_write_1h >= 0)),
    CONSTRAINT tariffs_cache_write_5m_is_not_negative CHECK ((cache_write_5m >= 0)),
    CONSTRAINT tariffs_coefficient_is_not_negative CHECK ((coefficient >= 0)),
    CONSTRAINT tariffs_input_is_not_negative CHECK ((input >= 0))
);

ALTER TABLE tariffs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tariffs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tariffs
    ADD CONSTRAINT tariffs_are_one_per_version_model_and_list UNIQUE (catalogue_version, model, list);

ALTER TABLE ONLY tariffs
    ADD CONSTRAINT tariffs_pkey PRIMARY KEY (id);

CREATE TRIGGER tariffs_are_never_emptied BEFORE TRUNCATE ON tariffs FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER tariffs_never_change BEFORE DELETE OR UPDATE ON tariffs FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

-- ledger_refuse_change, src/ledger/sql/rules.sql:
--   declare
--     c_names constant text[] := array['session_id', 'agent_id', 'parent_agent_id', 'label'];
--   begin
--     if tg_op = 'UPDATE' and to_jsonb(new) ?& c_names
--       and to_jsonb(new) - c_names = to_jsonb(old) - c_names
--       and not jsonb_strip_nulls(to_jsonb(new)) ?| c_names then
--       return new;
--     end if;
--     raise exception '% is append-only', tg_table_name
--       using errcode = 'integrity_constraint_violation';
--   end

CREATE TABLE top_up_consents (
    id bigint NOT NULL,
    book_id bigint NOT NULL,
    version text NOT NULL,
    address text NOT NULL,
    method_title text NOT NULL,
    pack_id text NOT NULL,
    price_kopecks bigint NOT NULL,
    threshold bigint NOT NULL,
    ceiling_kopecks bigint NOT NULL,
    given_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    credits bigint,
    CONSTRAINT top_up_consents_addresses_are_short CHECK ((length(address) <= 100)),
    CONSTRAINT top_up_consents_allow_one_purchase CHECK ((ceiling_kopecks >= price_kopecks)),
    CONSTRAINT top_up_consents_are_about_a_price CHECK ((price_kopecks > 0)),
    CONSTRAINT top_up_consents_are_about_credits CHECK ((credits > 0)),
    CONSTRAINT top_up_consents_have_a_threshold CHECK ((threshold > 0)),
    CONSTRAINT top_up_consents_name_their_text CHECK (((length(version) >= 1) AND (length(version) <= 40)))
);

ALTER TABLE top_up_consents ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME top_up_consents_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY top_up_consents
    ADD CONSTRAINT top_up_consents_pkey PRIMARY KEY (id);

CREATE TRIGGER consents_take_mandates_along AFTER DELETE ON top_up_consents FOR EACH ROW EXECUTE FUNCTION consents_erase_mandate();

CREATE TRIGGER top_up_consents_never_change BEFORE UPDATE ON top_up_consents FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

ALTER TABLE ONLY top_up_consents
    ADD CONSTRAINT top_up_consents_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

-- consents_erase_mandate, src/payments/sql/mandates.sql:
--   begin
--     delete from mandates where id = old.id;
--     return null;
--   end

-- ledger_refuse_change, src/ledger/sql/rules.sql:
--   declare
--     c_names constant text[] := array['session_id', 'agent_id', 'parent_agent_id', 'label'];
--   begin
--     if tg_op = 'UPDATE' and to_jsonb(new) ?& c_names
--       and to_jsonb(new) - c_names = to_jsonb(old) - c_names
--       and not jsonb_strip_nulls(to_jsonb(new)) ?| c_names then
--       return new;
--     end if;
--     raise exception '% is append-only', tg_table_name
--       using errcode = 'integrity_constraint_violation';
--   end

CREATE TABLE top_up_settings (
    book_id bigint NOT NULL,
    has_advance_notice boolean NOT NULL
);

ALTER TABLE ONLY top_up_settings
    ADD CONSTRAINT top_up_settings_pkey PRIMARY KEY (book_id);

ALTER TABLE ONLY top_up_settings
    ADD CONSTRAINT top_up_settings_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

CREATE TABLE top_ups (
    book_id bigint NOT NULL,
    consent_id bigint NOT NULL,
    is_on boolean NOT NULL,
    crossing integer DEFAULT 0 NOT NULL,
    ceiling_told date,
    stopped_why text,
    stopped_at timestamp with time zone,
    CONSTRAINT top_ups_are_on_or_stopped CHECK (((is_on = (stopped_why IS NULL)) AND (is_on = (stopped_at IS NULL)))),
    CONSTRAINT top_ups_crossings_are_counted CHECK ((crossing >= 0)),
    CONSTRAINT top_ups_stop_for_a_reason CHECK ((stopped_why = ANY (ARRAY['owner'::text, 'declined'::text, 'pack_changed'::text, 'refunded'::text, 'disputed'::text, 'forgotten'::text, 'consent_incomplete'::text])))
);

ALTER TABLE ONLY top_ups
    ADD CONSTRAINT top_ups_pkey PRIMARY KEY (book_id);

CREATE INDEX top_ups_on ON top_ups USING btree (book_id) WHERE is_on;

CREATE TRIGGER top_ups_reach_mandates AFTER INSERT OR UPDATE ON top_ups FOR EACH ROW EXECUTE FUNCTION top_ups_write_mandate();

ALTER TABLE ONLY top_ups
    ADD CONSTRAINT top_ups_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

ALTER TABLE ONLY top_ups
    ADD CONSTRAINT top_ups_consent_id_fkey FOREIGN KEY (consent_id) REFERENCES top_up_consents(id);

-- top_ups_write_mandate, src/payments/sql/mandates.sql:
--   begin
--     if not new.is_on then
--       update mandates set ended_at = new.stopped_at, ended_why = new.stopped_why
--       where id = new.consent_id and ended_at is null;
--     elsif not exists (select from mandates where id = new.consent_id) then
--       update mandates set ended_at = ledger_now(), ended_why = 'replaced'
--       where book_id = new.book_id and ended_at is null;
--       insert into mandates (id, book_id, method_title, method_saved_at, pack_id, price_kopecks,
--         credits, threshold, day_ceiling_kopecks, month_ceiling_kopecks, version, address, given_at)
--       select c.id, c.book_id, c.method_title, m.saved_at, c.pack_id, c.price_kopecks, c.credits,
--         c.threshold, c.ceiling_kopecks, c.ceiling_kopecks, c.version, c.address, c.given_at
--       from top_up_consents c
--       left join saved_methods m on m.book_id = c.book_id and m.saved_at <= c.given_at
--       where c.id = new.consent_id;
--     end if;
--     return null;
--   end

CREATE TABLE trial_days (
    day date NOT NULL,
    credits bigint NOT NULL,
    CONSTRAINT trial_days_are_bounded CHECK (((credits >= 0) AND (credits <= '100000000000000'::bigint)))
);

ALTER TABLE ONLY trial_days
    ADD CONSTRAINT trial_days_pkey PRIMARY KEY (day);

CREATE TABLE trial_networks (
    network_digest bytea NOT NULL,
    day date NOT NULL,
    trials integer NOT NULL,
    CONSTRAINT trial_networks_count_trials CHECK ((trials > 0)),
    CONSTRAINT trial_networks_digests_are_sha256 CHECK ((octet_length(network_digest) = 32))
);

ALTER TABLE ONLY trial_networks
    ADD CONSTRAINT trial_networks_pkey PRIMARY KEY (network_digest, day);

CREATE INDEX trial_networks_by_day ON trial_networks USING btree (day);

CREATE TABLE trials (
    book_id bigint NOT NULL,
    address_digest bytea NOT NULL,
    credits bigint NOT NULL,
    granted_at timestamp with time zone DEFAULT ledger_now() NOT NULL,
    CONSTRAINT trials_are_small CHECK (((credits > 0) AND (credits <= '1000000000000'::bigint))),
    CONSTRAINT trials_digests_are_sha256 CHECK ((octet_length(address_digest) = 32))
);

ALTER TABLE ONLY trials
    ADD CONSTRAINT trials_pkey PRIMARY KEY (book_id);

CREATE UNIQUE INDEX trials_are_one_per_address ON trials USING btree (address_digest);

ALTER TABLE ONLY trials
    ADD CONSTRAINT trials_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

CREATE TABLE upstream_credential_problems (
    instance bigint NOT NULL,
    target text NOT NULL,
    problem text NOT NULL,
    seen_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY upstream_credential_problems
    ADD CONSTRAINT upstream_credential_problems_pkey PRIMARY KEY (instance, target);

CREATE TABLE upstream_credentials (
    target text NOT NULL,
    reference text,
    is_drained boolean DEFAULT false NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT upstream_credentials_reference_is_a_variable_or_file CHECK ((reference ~ '^(bearer:)?(env|file):.+$'::text)),
    CONSTRAINT upstream_credentials_target_is_a_label CHECK ((target ~ '^[a-z0-9-]{1,40}#[a-z0-9-]{1,40}$'::text))
);

ALTER TABLE ONLY upstream_credentials
    ADD CONSTRAINT upstream_credentials_pkey PRIMARY KEY (target);

CREATE TABLE upstream_settings (
    name text NOT NULL,
    weight integer,
    is_drained boolean DEFAULT false NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT upstream_settings_weight_is_not_negative CHECK ((weight >= 0))
);

ALTER TABLE ONLY upstream_settings
    ADD CONSTRAINT upstream_settings_pkey PRIMARY KEY (name);

CREATE TABLE upstream_views (
    instance bigint NOT NULL,
    target text NOT NULL,
    state text NOT NULL,
    under_way integer NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    details jsonb,
    CONSTRAINT upstream_views_state_is_known CHECK ((state = ANY (ARRAY['closed'::text, 'open'::text, 'probing'::text])))
);

ALTER TABLE ONLY upstream_views
    ADD CONSTRAINT upstream_views_pkey PRIMARY KEY (instance, target);

CREATE TABLE usage_marks (
    book_id bigint NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    day date DEFAULT '-infinity'::date NOT NULL,
    CONSTRAINT usage_marks_are_not_negative CHECK ((seq >= 0))
)
WITH (fillfactor='70');

ALTER TABLE ONLY usage_marks
    ADD CONSTRAINT usage_marks_pkey PRIMARY KEY (book_id);

CREATE TABLE usage_rounds (
    is_only boolean DEFAULT true NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT usage_rounds_is_one_row CHECK (is_only)
);

ALTER TABLE ONLY usage_rounds
    ADD CONSTRAINT usage_rounds_pkey PRIMARY KEY (is_only);

CREATE TABLE usage_sessions (
    book_id bigint NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    last_seq bigint NOT NULL,
    requests bigint NOT NULL,
    free bigint NOT NULL,
    errors bigint NOT NULL,
    input bigint NOT NULL,
    output bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_write_5m bigint NOT NULL,
    cache_write_1h bigint NOT NULL,
    spent bigint NOT NULL,
    cache_saved bigint NOT NULL,
    busy_ms bigint NOT NULL,
    split usage_split NOT NULL,
    is_whole boolean NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    parent_agent text,
    models text[] NOT NULL,
    CONSTRAINT usage_sessions_are_sessions_or_labels CHECK ((split = ANY (ARRAY['session'::usage_split, 'label'::usage_split])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY usage_sessions
    ADD CONSTRAINT usage_sessions_pkey PRIMARY KEY (book_id, split, id, is_whole, agent);

CREATE INDEX usage_sessions_by_age ON usage_sessions USING btree (last_at);

CREATE INDEX usage_sessions_by_last ON usage_sessions USING btree (book_id, split, last_seq) WHERE is_whole;

CREATE TABLE usage_spans (
    book_id bigint NOT NULL,
    block bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    requests integer NOT NULL,
    day date NOT NULL,
    ending ending NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT usage_spans_come_from_entries CHECK (((requests >= 1) AND (requests <= ((last_seq - first_seq) + 1)))),
    CONSTRAINT usage_spans_stay_in_their_block CHECK ((((first_seq >> 10) = block) AND ((last_seq >> 10) = block)))
)
WITH (fillfactor='80');

ALTER TABLE ONLY usage_spans
    ADD CONSTRAINT usage_spans_pkey PRIMARY KEY (book_id, model, ending, block, day);

CREATE TABLE usage_split_marks (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    day date NOT NULL,
    is_complete boolean DEFAULT false NOT NULL,
    CONSTRAINT usage_split_marks_are_not_negative CHECK ((seq >= 0))
)
WITH (fillfactor='70');

ALTER TABLE ONLY usage_split_marks
    ADD CONSTRAINT usage_split_marks_pkey PRIMARY KEY (book_id);

CREATE TABLE usage_split_spans (
    book_id bigint NOT NULL,
    block bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    requests integer NOT NULL,
    day date NOT NULL,
    ending ending NOT NULL,
    split usage_split NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT usage_split_spans_come_from_entries CHECK (((requests >= 1) AND (requests <= ((last_seq - first_seq) + 1)))),
    CONSTRAINT usage_split_spans_stay_in_their_block CHECK ((((first_seq >> 10) = block) AND ((last_seq >> 10) = block)))
)
WITH (fillfactor='80');

ALTER TABLE ONLY usage_split_spans
    ADD CONSTRAINT usage_split_spans_pkey PRIMARY KEY (book_id, split, key, model, ending, block, day);

CREATE INDEX usage_split_spans_by_day ON usage_split_spans USING btree (book_id, day);

CREATE TABLE usage_split_sums (
    book_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    requests bigint NOT NULL,
    free bigint NOT NULL,
    errors bigint NOT NULL,
    known bigint NOT NULL,
    input bigint NOT NULL,
    output bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_write_5m bigint NOT NULL,
    cache_write_1h bigint NOT NULL,
    spent bigint NOT NULL,
    cache_saved bigint NOT NULL,
    minutes smallint NOT NULL,
    split usage_split NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    first_byte integer[] NOT NULL,
    total integer[] NOT NULL,
    figures text GENERATED ALWAYS AS (usage_figures_text(ARRAY[requests, free, errors, known, input, output, cache_read, cache_write_5m, cache_write_1h, spent, cache_saved], first_byte, total)) STORED COLLATE pg_catalog."C",
    CONSTRAINT usage_split_sums_have_four_steps CHECK ((minutes = ANY (ARRAY[15, 60, 180, 1440]))),
    CONSTRAINT usage_split_sums_parts_are_of_the_requests CHECK (((requests > 0) AND ((free >= 0) AND (free <= requests)) AND ((known >= 0) AND (known <= requests)) AND ((errors >= 0) AND (errors <= free))))
)
WITH (fillfactor='80');

ALTER TABLE ONLY usage_split_sums
    ADD CONSTRAINT usage_split_sums_pkey PRIMARY KEY (book_id, split, minutes, at, key);

CREATE INDEX usage_split_sums_by_age ON usage_split_sums USING btree (at) WHERE ((split = ANY (ARRAY['session'::usage_split, 'label'::usage_split])) AND (key <> ''::text));

CREATE INDEX usage_split_sums_by_key ON usage_split_sums USING btree (book_id, split, key, minutes, at);

CREATE TABLE usage_sums (
    book_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    requests bigint NOT NULL,
    free bigint NOT NULL,
    input bigint NOT NULL,
    output bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_write_5m bigint NOT NULL,
    cache_write_1h bigint NOT NULL,
    spent bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    minutes smallint NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT usage_sums_come_from_entries CHECK (((requests >= 1) AND (requests <= ((last_seq - first_seq) + 1)))),
    CONSTRAINT usage_sums_free_are_of_the_requests CHECK (((free >= 0) AND (free <= requests))),
    CONSTRAINT usage_sums_have_four_steps CHECK ((minutes = ANY (ARRAY[15, 60, 180, 1440])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY usage_sums
    ADD CONSTRAINT usage_sums_pkey PRIMARY KEY (book_id, minutes, at, model);

CREATE TABLE vendor_bills (
    day date NOT NULL,
    compared_at timestamp with time zone NOT NULL,
    source text NOT NULL,
    tie jsonb NOT NULL,
    difference_millionths bigint NOT NULL,
    CONSTRAINT vendor_bills_difference_millionths_check CHECK ((difference_millionths >= 0))
);

ALTER TABLE ONLY vendor_bills
    ADD CONSTRAINT vendor_bills_pkey PRIMARY KEY (day);

CREATE UNLOGGED TABLE wrong_keys (
    slot integer NOT NULL,
    sender bytea NOT NULL,
    wrong integer NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT wrong_keys_slot_check CHECK (((slot >= 0) AND (slot <= 65535)))
)
WITH (fillfactor='50');

ALTER TABLE ONLY wrong_keys
    ADD CONSTRAINT wrong_keys_pkey PRIMARY KEY (slot);

-- Every function, and the file with its text:
--   account_closings_move → src/accounts/sql/closing.sql
--   account_recoveries_keep_rules → src/accounts/sql/recoveries.sql
--   accounts_addresses → src/accounts/sql/pseudonym.sql
--   accounts_adopt_letters → src/accounts/sql/pseudonym.sql
--   accounts_depersonalize → src/accounts/sql/pseudonym.sql
--   accounts_depersonalize_columns → src/accounts/sql/pseudonym.sql
--   accounts_end_recoveries → src/accounts/sql/recoveries.sql
--   accounts_erasable → src/accounts/sql/erasure.sql
--   accounts_erase → src/accounts/sql/erasure.sql
--   accounts_export → src/accounts/sql/erasure.sql
--   accounts_in_text → src/accounts/sql/pseudonym.sql
--   accounts_keep_address → src/accounts/sql/pseudonym.sql
--   accounts_name_letter → src/accounts/sql/pseudonym.sql
--   accounts_name_patterns → src/accounts/sql/pseudonym.sql
--   accounts_percent_decoded → src/accounts/sql/pseudonym.sql
--   accounts_pseudonym → src/accounts/sql/pseudonym.sql
--   accounts_refuse_reserved_email → src/accounts/sql/addresses.sql
--   accounts_searched → src/accounts/sql/pseudonym.sql
--   accounts_secret_id → src/accounts/sql/secrets.sql
--   accounts_secret_uses → src/accounts/sql/secrets.sql
--   accounts_without_addresses → src/accounts/sql/pseudonym.sql
--   acts_text → src/acts/sql/acts.sql
--   acts_without_addresses → src/acts/sql/acts.sql
--   books_keep_rules → src/ledger/sql/rules.sql
--   catalogue_apply_first → src/pricing/sql/catalogue.sql
--   catalogue_versions_notify → src/pricing/sql/catalogue.sql
--   catalogue_versions_refuse_change → src/pricing/sql/catalogue.sql
--   consents_erase_mandate → src/payments/sql/mandates.sql
--   entries_keep_rules → src/ledger/sql/rules.sql
--   holds_keep_rules → src/ledger/sql/rules.sql
--   keys_candidates → src/keys/sql/keys.sql
--   keys_refuse_change → src/keys/sql/keys.sql
--   ledger_adjust_down → src/ledger/sql/post.sql
--   ledger_adjust_up → src/ledger/sql/post.sql
--   ledger_assert_read_committed → src/ledger/sql/rules.sql
--   ledger_audit_chain → src/ledger/sql/audit.sql
--   ledger_audit_chain_of → src/ledger/sql/audit.sql
--   ledger_audit_charges → src/ledger/sql/audit.sql
--   ledger_audit_charges_of → src/ledger/sql/audit.sql
--   ledger_audit_entries → src/ledger/sql/audit.sql
--   ledger_audit_entries_of → src/ledger/sql/audit.sql
--   ledger_audit_holds → src/ledger/sql/audit.sql
--   ledger_audit_mark → src/ledger/sql/audit.sql
--   ledger_audit_postings → src/ledger/sql/audit.sql
--   ledger_audit_postings_of → src/ledger/sql/audit.sql
--   ledger_audit_settled_of → src/ledger/sql/audit.sql
--   ledger_audit_sums → src/ledger/sql/audit.sql
--   ledger_audit_sums_of → src/ledger/sql/audit.sql
--   ledger_audit_triggers → src/ledger/sql/audit.sql
--   ledger_audited_entries → src/ledger/sql/audit.sql
--   ledger_block → src/ledger/sql/book.sql
--   ledger_books_skip → src/ledger/sql/restore.sql
--   ledger_cost → src/ledger/sql/audit.sql
--   ledger_credit → src/ledger/sql/post.sql
--   ledger_day_checkpoint → src/ledger/sql/partitions.sql
--   ledger_entries_day_make → src/ledger/sql/partitions.sql
--   ledger_entries_detach → src/ledger/sql/partitions.sql
--   ledger_erase_names → src/ledger/sql/usage.sql
--   ledger_fence_raise → src/ledger/sql/book.sql
--   ledger_fence_restore → src/ledger/sql/restore.sql
--   ledger_forced_debit → src/ledger/sql/post.sql
--   ledger_gift → src/ledger/sql/post.sql
--   ledger_grant → src/ledger/sql/hold.sql
--   ledger_headroom → src/ledger/sql/hold.sql
--   ledger_hold → src/ledger/sql/hold.sql
--   ledger_hold_day → src/ledger/sql/audit.sql
--   ledger_hold_lock → src/ledger/sql/void.sql
--   ledger_hold_many → src/ledger/sql/hold.sql
--   ledger_hold_refuse → src/ledger/sql/void.sql
--   ledger_hold_stored → src/ledger/sql/hold.sql
--   ledger_holds_restore → src/ledger/sql/restore.sql
--   ledger_holds_week_make → src/ledger/sql/partitions.sql
--   ledger_limits_set → src/ledger/sql/book.sql
--   ledger_lock → src/ledger/sql/arrays.sql
--   ledger_lots → src/ledger/sql/post.sql
--   ledger_missing → src/ledger/sql/arrays.sql
--   ledger_now → src/ledger/sql/clock.sql
--   ledger_open → src/ledger/sql/book.sql
--   ledger_outcomes → src/ledger/sql/arrays.sql
--   ledger_partitions_make → src/ledger/sql/partitions.sql
--   ledger_parts_priced → src/ledger/sql/audit.sql
--   ledger_places → src/ledger/sql/arrays.sql
--   ledger_post → src/ledger/sql/post.sql
--   ledger_refund → src/ledger/sql/post.sql
--   ledger_refund_reverse → src/ledger/sql/post.sql
--   ledger_refuse_change → src/ledger/sql/rules.sql
--   ledger_refuse_doubles → src/ledger/sql/arrays.sql
--   ledger_resume → src/ledger/sql/book.sql
--   ledger_settle → src/ledger/sql/settle.sql
--   ledger_settle_many → src/ledger/sql/settle.sql
--   ledger_settle_request → src/ledger/sql/settle.sql
--   ledger_settle_requests → src/ledger/sql/settle.sql
--   ledger_table_exists → src/ledger/sql/partitions.sql
--   ledger_velocity_spent → src/ledger/sql/settle.sql
--   ledger_velocity_until → src/ledger/sql/settle.sql
--   ledger_void → src/ledger/sql/void.sql
--   ledger_void_many → src/ledger/sql/void.sql
--   ledger_void_request → src/ledger/sql/void.sql
--   ledger_void_requests → src/ledger/sql/void.sql
--   letters_erase → src/platform/sql/letters.sql
--   letters_queue → src/platform/sql/letters.sql
--   mandates_refuse_change → src/payments/sql/mandates.sql
--   mandates_write_old_form → src/payments/sql/mandates.sql
--   month_seals_refuse_change → src/reports/sql/reports.sql
--   operator_acts_join_chain → src/acts/sql/acts.sql
--   operator_acts_refuse_change → src/acts/sql/acts.sql
--   operator_approvals_erase → src/staff/sql/operators.sql
--   operator_approvals_forget_addresses → src/staff/sql/operators.sql
--   operator_reads_without_addresses → src/staff/sql/operators.sql
--   orders_credit → src/payments/sql/orders.sql
--   orders_refuse_change → src/payments/sql/orders.sql
--   orders_refuse_charge_without_mandate → src/payments/sql/mandates.sql
--   payments_book_of → src/payments/sql/erasure.sql
--   payments_books_in → src/payments/sql/erasure.sql
--   payments_erase → src/payments/sql/erasure.sql
--   payments_forget_redeemers → src/payments/sql/erasure.sql
--   promos_credit → src/payments/sql/promos.sql
--   receipts_begin_with_the_credit → src/payments/sql/receipts.sql
--   receipts_completed_part → src/payments/sql/receipts.sql
--   receipts_follow_refunds → src/payments/sql/receipts.sql
--   receipts_tie_with_their_order → src/payments/sql/receipts.sql
--   receipts_uncompleted → src/payments/sql/receipts.sql
--   refunds_know_what_was_completed → src/payments/sql/receipts.sql
--   status_count → src/status/sql/status.sql
--   status_forget → src/status/sql/status.sql
--   status_record → src/status/sql/status.sql
--   top_ups_write_mandate → src/payments/sql/mandates.sql
--   trials_grant → src/payments/sql/trials.sql
--   usage_cache_saved → src/ledger/sql/usage.sql
--   usage_erase_names → src/ledger/sql/usage.sql
--   usage_figures_text → src/ledger/sql/usage.sql
--   usage_histogram_add → src/ledger/sql/usage.sql
--   usage_latency_step → src/ledger/sql/usage.sql
