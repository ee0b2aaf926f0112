// E-mails about a balance and its limits, in Russian. The reason first, then what to do.
import { roundedUp } from '../units/credits.ts'
import type { EmailTemplates } from './email-kinds.ts'

export const russian: EmailTemplates = {
  locale: 'ru-RU',
  templates: {
    'low-balance': ({ balance, daysLeft }, { brand, page, credits }) => ({
      subject: `Заканчиваются кредиты в ${brand}`,
      lines: [
        `На балансе осталось ${credits(balance)}.`,
        ...(daysLeft === null ? [] : [`Если тратить, как в последние дни, ${lasting(daysLeft)}.`]),
      ],
      button: { label: 'Пополнить баланс', link: page('packs') },
      more: [`Настроить это уведомление: ${page('limits')}`],
    }),
    'balance-empty': ({ balance }, { brand, page, credits }) => ({
      subject: `Кредиты в ${brand} закончились`,
      lines: [
        balance > 0n
          ? `Запрос отклонён: для него нужно больше, чем ${credits(balance)} на балансе.`
          : 'На балансе не осталось кредитов, поэтому запросы отклоняются.',
        'Пополните баланс: запросы сразу заработают с тем же ключом.',
      ],
      button: { label: 'Пополнить баланс', link: page('packs') },
    }),
    'day-limit-reached': (
      { dayLimit, needed, left, resetsAtMs },
      { brand, page, time, credits },
    ) => ({
      subject: `Запрос превысил дневной лимит в ${brand}`,
      lines: [
        needed === null || left === null
          ? 'Запрос отклонён: он мог стоить больше, чем осталось от дневного лимита. ' +
            `Дневной лимит: ${credits(dayLimit)}.`
          : `Запрос отклонён: он мог стоить ${credits(roundedUp(needed))}, а от дневного ` +
            `лимита оставалось ${credits(left)}. Дневной лимит: ${credits(dayLimit)}.`,
        `Лимит обновится ${moscow(time(resetsAtMs))}. Поднять его можно в любой момент.`,
      ],
      button: { label: 'Открыть лимиты', link: page('limits') },
    }),
    'velocity-stopped': ({ limit, minutes }, { brand, page, credits }) => ({
      subject: `Запросы остановлены: расход в ${brand} резко вырос`,
      lines: [
        'Превышен ваш лимит скорости расхода: ' +
          `больше чем ${credits(limit)} за ${minutes} мин. Новые запросы отклоняются.`,
        'Если это были вы, возобновите запросы на странице лимитов.',
      ],
      button: { label: 'Открыть лимиты', link: page('limits') },
      more: [`Если это были не вы, перевыпустите ключ: ${page('key')}`],
    }),
    'limits-loosened': ({ dayLimit, velocity, atMs, address }, { brand, page, time, credits }) => ({
      subject: `Лимиты расхода в ${brand} ослаблены`,
      lines: [
        `Лимиты расхода ослаблены: ${time(atMs)}${address === '' ? '' : ` (${address})`}.`,
        `Дневной лимит: ${dayLimit === null ? 'нет' : credits(dayLimit)}. ` +
          `Лимит скорости расхода: ${
            velocity === null ? 'нет.' : `${credits(velocity.limit)} за ${velocity.minutes} мин.`
          }`,
        'Если это были вы, ничего делать не нужно.',
      ],
      button: { label: 'Это не я', link: page('security') },
      more: ['Если это были не вы, сразу смените пароль и завершите остальные сеансы.'],
    }),
  },
}

function lasting(days: number): string {
  if (days === 0) return 'их хватит меньше чем на день'
  const forms: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'день', few: 'дня' }
  return `их хватит примерно на ${days} ${forms[new Intl.PluralRules('ru').select(days)] ?? 'дней'}`
}

/** Who has chosen no time zone is most likely to live by Moscow's. */
function moscow(begins: string): string {
  return begins.endsWith(' UTC') ? `${begins}, это 03:00 по Москве` : begins
}
