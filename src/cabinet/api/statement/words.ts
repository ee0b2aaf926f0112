// What a statement says, in both languages: the heads of its columns, kinds of entries, endings.
import type { EntryKind } from '../../../ledger/ledger.ts'
import type { Language } from '../../contract/contract.ts'
import type { Ending } from '../../contract/usage.ts'

export type StatementWords = {
  readonly columns: readonly string[]
  readonly kinds: Readonly<Record<EntryKind, string>>
  readonly endings: Readonly<Record<Ending, string>>
  readonly yes: string
}

export const statementWords: Readonly<Record<Language, StatementWords>> = {
  ru: {
    columns: [
      'Номер',
      'Время',
      'Операция',
      'Кредиты',
      'Баланс после',
      'Модель',
      'Запрос',
      'Входные токены',
      'Выходные токены',
      'Чтение кеша, токены',
      'Запись кеша на 5 минут, токены',
      'Запись кеша на 1 час, токены',
      'Стоимость',
      'Не взято',
      'Как завершился',
      'Выход оценён',
      'Версия цен',
      'Основание',
      'Пояснение',
      'Номер ответа',
    ],
    kinds: {
      purchase: 'покупка',
      promo: 'промокод',
      charge: 'запрос',
      void: 'бесплатный запрос',
      refund: 'возврат денег',
      refund_reversal: 'отмена возврата',
      forced_debit: 'списание',
      adjust: 'корректировка',
      transfer: 'перенос',
    },
    endings: {
      complete: 'полностью',
      client_left: 'клиент отключился',
      refused: 'отклонён',
      upstream_failed: 'сбой модели',
      process_lost: 'сбой у нас',
      given_up: 'не дождался очереди',
      overdue: 'вышло время',
    },
    yes: 'да',
  },
  en: {
    columns: [
      'Number',
      'Time',
      'Entry',
      'Credits',
      'Balance after',
      'Model',
      'Request',
      'Input tokens',
      'Output tokens',
      'Cache read tokens',
      'Cache write tokens, 5 minutes',
      'Cache write tokens, 1 hour',
      'Price',
      'Not taken',
      'Ending',
      'Output estimated',
      'Price version',
      'Reference',
      'Detail',
      'Reply number',
    ],
    kinds: {
      purchase: 'purchase',
      promo: 'promo code',
      charge: 'request',
      void: 'free request',
      refund: 'refund',
      refund_reversal: 'refund reversed',
      forced_debit: 'debit',
      adjust: 'correction',
      transfer: 'transfer',
    },
    endings: {
      complete: 'complete',
      client_left: 'client left',
      refused: 'refused',
      upstream_failed: 'model failed',
      process_lost: 'failed on our side',
      given_up: 'waited too long',
      overdue: 'out of time',
    },
    yes: 'yes',
  },
}
