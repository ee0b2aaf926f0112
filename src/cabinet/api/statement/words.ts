// The words of a statement in both languages: column headings, kinds of entries, endings.
import type { EntryKind } from '../../../ledger/ledger.ts'
import type { Language } from '../../contract/contract.ts'
import type { PriceDimension } from '../../contract/prices.ts'
import type { Ending } from '../../contract/usage.ts'

export type StatementWords = {
  readonly columns: readonly string[]
  readonly kinds: Readonly<Record<EntryKind, string>>
  readonly endings: Readonly<Record<Ending, string>>
  readonly yes: string
  readonly answeredBy: string
  readonly above: (tokens: string) => string
  readonly dimensions: Readonly<Record<PriceDimension, string>>
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
      'Номер запроса',
      'Входные токены',
      'Выходные токены',
      'Чтение из кэша, токены',
      'Запись в кэш на 5 минут, токены',
      'Запись в кэш на 1 час, токены',
      'Стоимость',
      'Не списано',
      'Итог',
      'Выход оценён',
      'Версия цен',
      'Основание',
      'Примечание',
      'Номер ответа',
      'Применённые цены',
      'Другие части стоимости',
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
      complete: 'выполнен',
      client_left: 'клиент отключился',
      client_slow: 'клиент читал слишком медленно',
      refused: 'отклонён',
      upstream_failed: 'сбой модели',
      process_lost: 'внутренняя ошибка',
      given_up: 'клиент отключился до ответа',
      overdue: 'не завершился',
      drained: 'остановлен при обслуживании',
      shed: 'отклонён из-за нагрузки',
    },
    yes: 'да',
    answeredBy: 'ответила модель',
    above: (tokens) => `запрос больше ${tokens} токенов`,
    dimensions: {
      speed: 'скорость',
      inference_geo: 'регион',
      service_tier: 'уровень обслуживания',
    },
  },
  en: {
    columns: [
      'No.',
      'Time',
      'Type',
      'Credits',
      'Balance after',
      'Model',
      'Request ID',
      'Input tokens',
      'Output tokens',
      'Cache read tokens',
      'Cache write tokens, 5 minutes',
      'Cache write tokens, 1 hour',
      'Cost',
      'Not charged',
      'Result',
      'Output estimated',
      'Price list version',
      'Reference',
      'Details',
      'Model response ID',
      'Prices applied',
      'Other parts of the cost',
    ],
    kinds: {
      purchase: 'purchase',
      promo: 'promo code',
      charge: 'request',
      void: 'free request',
      refund: 'refund',
      refund_reversal: 'refund reversal',
      forced_debit: 'debit',
      adjust: 'adjustment',
      transfer: 'transfer',
    },
    endings: {
      complete: 'completed',
      client_left: 'client disconnected',
      client_slow: 'client read too slowly',
      refused: 'rejected',
      upstream_failed: 'model error',
      process_lost: 'internal error',
      given_up: 'client left before response',
      overdue: 'timed out',
      drained: 'stopped for maintenance',
      shed: 'rejected under load',
    },
    yes: 'yes',
    answeredBy: 'answered by',
    above: (tokens) => `prompt above ${tokens} tokens`,
    dimensions: { speed: 'speed', inference_geo: 'region', service_tier: 'service tier' },
  },
}
