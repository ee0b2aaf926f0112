// Letters about a balance and its limits, in Russian. The reason first, then what to do.
import { counted } from '../units/spoken.ts'
import type { Words } from './notice.ts'

const credits = (amount: Parameters<typeof counted>[0]) => counted(amount, 'ru')

export const russian: Words = {
  locale: 'ru-RU',
  signature: (brand, support) => `${brand}. Вопросы: ${support}`,
  letters: {
    'low-balance': ({ balance, daysLeft }, { brand, page }) => ({
      subject: `Заканчиваются кредиты в ${brand}`,
      lines: [
        `На балансе осталось ${credits(balance)}.`,
        ...(daysLeft === null ? [] : [`При расходе последних дней ${lasting(daysLeft)}.`]),
      ],
      button: { label: 'Пополнить баланс', link: page('packs') },
      more: [`Когда присылать это письмо, решаете вы: ${page('limits')}`],
    }),
    'balance-empty': ({ balance }, { brand, page }) => ({
      subject: `Кредиты в ${brand} закончились`,
      lines: [
        balance > 0n
          ? `Запрос отклонён: на балансе ${credits(balance)}, а для него нужно больше.`
          : 'На балансе не осталось кредитов, запросы отклоняются.',
        'Пополните баланс: ключ останется тем же, запросы пойдут сразу.',
      ],
      button: { label: 'Пополнить баланс', link: page('packs') },
    }),
    'day-limit-reached': ({ dayLimit, nextDayMs }, { brand, page, time }) => ({
      subject: `Дневной лимит в ${brand} исчерпан`,
      lines: [
        `Сегодня потрачено почти всё, что разрешено на день: ${credits(dayLimit)}. ` +
          'Запросы, которые не укладываются в остаток, отклоняются.',
        `Новый день начнётся ${moscow(time(nextDayMs))}. Ждать не обязательно: лимит можно ` +
          'поднять.',
      ],
      button: { label: 'Открыть лимиты', link: page('limits') },
    }),
    'velocity-stopped': ({ limit, minutes }, { brand, page }) => ({
      subject: `Запросы остановлены: расход в ${brand} резко вырос`,
      lines: [
        `Ключ потратил больше, чем вы разрешили: ${credits(limit)} за ${minutes} мин. ` +
          'Новые запросы отклоняются.',
        'Если это были вы, возобновите запросы одной кнопкой на странице лимитов.',
      ],
      button: { label: 'Открыть лимиты', link: page('limits') },
      more: [`Если это были не вы, перевыпустите ключ: ${page('key')}`],
    }),
    'limits-loosened': ({ dayLimit, velocity, atMs, address }, { brand, page, time }) => ({
      subject: `Лимиты в ${brand} ослаблены`,
      lines: [
        `Лимиты расхода изменены: ${time(atMs)}${address === '' ? '' : ` (${address})`}.`,
        `На день: ${dayLimit === null ? 'без лимита' : credits(dayLimit)}. ` +
          `Остановка при резком росте: ${
            velocity === null
              ? 'выключена'
              : `больше ${credits(velocity.limit)} за ${velocity.minutes} мин.`
          }`,
        'Если это были вы, делать ничего не надо.',
      ],
      button: { label: 'Это был не я', link: page('security') },
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
