// Bugs planted into the functions and triggers of the database, each with a short sequence that
// must find it. A model that does not notice them proves nothing.
import { MANDATE_SURVIVES } from './mandates.ts'
import type { Drawn } from './sequences.ts'

/** `undo` takes the bug out again. */
export type Planted = { readonly plant: string; readonly undo: string; readonly drawn: Drawn }

/** Replaces a part of a function's text, and fails if the function does not have that part. */
const replace = (name: string, from: string, to: string) => `
  do $do$ declare v_text text := pg_get_functiondef('${name}'::regproc); begin
    if position($a$${from}$a$ in v_text) = 0 then raise exception '${name} has changed'; end if;
    execute replace(v_text, $a$${from}$a$, $b$${to}$b$);
  end $do$`
const change = (name: string, from: string, to: string) => ({
  plant: replace(name, from, to),
  undo: replace(name, to, from),
})

const onTable = (table: string, name: string, when: string, body: string) => ({
  plant: `create function ${name}() returns trigger language plpgsql security definer as
      $$ begin ${body}; return new; end $$;
    create trigger ${name} ${when} on ${table} for each row execute function ${name}()`,
  undo: `drop function ${name} cascade`,
})
const onOrders = (name: string, when: string, body: string) => onTable('orders', name, when, body)

const TOPPED_UP: Drawn = [
  ['buy and pay', 0, 0],
  ['top-ups on', 0, 0],
  ['spend', 0, 2],
]

export const planted: Readonly<Record<string, Planted>> = {
  'a payment is credited twice': {
    ...onOrders(
      'planted_twice',
      'after update of credited_at',
      `perform ledger_credit(new.book_id, 'purchase', new.id || ' 2', new.credits, 'clearing', '')`,
    ),
    drawn: [['buy and pay', 0, 0]],
  },
  'an order sells more than the owner saw': {
    ...onOrders('planted_more', 'before insert', 'new.credits := new.credits + 1'),
    drawn: [['buy', 0, 0]],
  },
  'a promo code is credited twice': {
    ...onTable(
      'promo_redemptions',
      'planted_promo',
      'after insert',
      `perform ledger_credit(new.book_id, 'promo', 'twice ' || new.code || new.book_id, 1000000,
        'promo', '')`,
    ),
    drawn: [['promo', 0, 0]],
  },
  'a canceled refund releases nothing': {
    ...change('ledger_refund_reverse', 'available = books.available +', 'available = 0 *'),
    drawn: [
      ['buy and pay', 0, 0],
      ['refunds wait', 0, 0],
      ['refund', 0, 1],
      ['end refund', 0, 1],
      ['jump', 0, 0],
      ['work', 4, 0],
    ],
  },
  'a refund in the merchant portal leaves no debt': {
    ...change('ledger_forced_debit', 'debt = books.debt + p_amount -', 'debt = 0 *'),
    drawn: [
      ['buy and pay', 0, 0],
      ['spend', 0, 2],
      ['portal refund', 0, 3],
      ['work', 5, 0],
    ],
  },
  'a spent pack is refunded from the next one': {
    ...change('ledger_lots', '- b.spent_total', '- 0 * b.spent_total'),
    drawn: [
      ['buy and pay', 0, 0],
      ['spend', 0, 2],
      ['buy and pay', 0, 0],
      ['refund', 1, 1],
    ],
  },
  'closing leaves a microcredit': {
    ...change('ledger_adjust_down', 'if outcome = ', 'p_amount := p_amount - 1; if outcome = '),
    drawn: [
      ['buy and pay', 0, 0],
      ['close', 0, 0],
    ],
  },
  'an ended mandate is still charged': {
    ...MANDATE_SURVIVES,
    drawn: [...TOPPED_UP, ['top-ups off', 0, 0], ['top-up run', 0, 0]],
  },
}

/** Bugs of closing, found when the accounts of a sequence are closed. */
export const closingBugs: Readonly<Record<string, Planted>> = {
  'what was paid is forfeited': {
    ...onTable(
      'account_closings',
      'planted_forfeit',
      'after update of step',
      `if new.step = 'drained' then perform ledger_adjust_down(a.book_id, 'planted ' || a.id,
         5000000000000, 'revenue', '') from accounts a where a.id = new.account_id; end if`,
    ),
    drawn: [['buy and pay', 0, 0]],
  },
  'credits come into a closed book': {
    plant: `create function planted_credit() returns trigger language plpgsql security definer as $$
        begin
          if new.step = 'closed' then perform ledger_adjust_up(a.book_id, 'planted ' || a.id,
            1000000, 'loss', '') from accounts a where a.id = new.account_id; end if;
          return new;
        end $$;
      create constraint trigger planted_credit after update on account_closings
        deferrable initially deferred for each row execute function planted_credit()`,
    undo: 'drop function planted_credit cascade',
    drawn: [['buy and pay', 0, 0]],
  },
  'a closing comes to a stop': {
    ...onTable(
      'account_closings',
      'planted_stop',
      'before update of next_at',
      `if new.step = 'drained' and old.step = 'drained' then new.next_at := 'infinity'; end if`,
    ),
    drawn: [
      ['buy and pay', 0, 0],
      ['refunds wait', 0, 0],
      ['close', 0, 1],
    ],
  },
  'a canceled refund releases nothing': {
    ...change('ledger_refund_reverse', 'available = books.available +', 'available = 0 *'),
    drawn: [
      ['buy and pay', 0, 0],
      ['refunds wait', 0, 0],
      ['close', 0, 1],
      ['end refund', 0, 1],
      ['jump', 0, 0],
      ['work', 4, 0],
    ],
  },
  'closing leaves a microcredit': {
    ...change('ledger_adjust_down', 'if outcome = ', 'p_amount := p_amount - 1; if outcome = '),
    drawn: [
      ['buy and pay', 0, 0],
      ['close', 0, 0],
    ],
  },
}
