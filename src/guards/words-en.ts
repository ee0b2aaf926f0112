// Letters about a balance and its limits, in English. The reason first, then what to do.
import { counted } from '../units/spoken.ts'
import type { Words } from './notice.ts'

const credits = (amount: Parameters<typeof counted>[0]) => counted(amount, 'en')

export const english: Words = {
  locale: 'en-GB',
  signature: (brand, support) => `${brand}. Questions: ${support}`,
  letters: {
    'low-balance': ({ balance, daysLeft }, { brand, page }) => ({
      subject: `Your credits in ${brand} are running low`,
      lines: [
        `Your balance is down to ${credits(balance)}.`,
        ...(daysLeft === null ? [] : [`At the pace of the last days ${lasting(daysLeft)}.`]),
      ],
      button: { label: 'Top up', link: page('packs') },
      more: [`You decide when this letter is sent: ${page('limits')}`],
    }),
    'balance-empty': ({ balance }, { brand, page }) => ({
      subject: `You are out of credits in ${brand}`,
      lines: [
        balance > 0n
          ? `A request was refused: it needs more than the ${credits(balance)} you have.`
          : 'No credits are left, and requests are refused.',
        'Top up your balance: the key stays the same, and requests work at once.',
      ],
      button: { label: 'Top up', link: page('packs') },
    }),
    'day-limit-reached': ({ dayLimit, nextDayMs }, { brand, page, time }) => ({
      subject: `Your daily limit in ${brand} is reached`,
      lines: [
        `Today has cost nearly all that you allow a day: ${credits(dayLimit)}. ` +
          'Requests that do not fit into the rest are refused.',
        `The next day begins on ${time(nextDayMs)}. You need not wait: the limit can be raised.`,
      ],
      button: { label: 'Open the limits', link: page('limits') },
    }),
    'velocity-stopped': ({ limit, minutes }, { brand, page }) => ({
      subject: `Requests are stopped: spending in ${brand} jumped`,
      lines: [
        `Your key spent more than you allow: ${credits(limit)} within ${minutes} min. ` +
          'New requests are refused.',
        'If it was you, resume requests with one button on the page of limits.',
      ],
      button: { label: 'Open the limits', link: page('limits') },
      more: [`If it was not you, reissue the key: ${page('key')}`],
    }),
    'limits-loosened': ({ dayLimit, velocity, atMs, address }, { brand, page, time }) => ({
      subject: `Your limits in ${brand} were loosened`,
      lines: [
        `Spending limits were changed: ${time(atMs)}${address === '' ? '' : ` (${address})`}.`,
        `A day: ${dayLimit === null ? 'no limit' : credits(dayLimit)}. Stop on a jump: ${
          velocity === null
            ? 'off'
            : `more than ${credits(velocity.limit)} within ${velocity.minutes} min.`
        }`,
        'If it was you, there is nothing to do.',
      ],
      button: { label: 'It was not me', link: page('security') },
      more: ['If it was not you, change your password at once and end the other sessions.'],
    }),
  },
}

function lasting(days: number): string {
  if (days === 0) return 'they last less than a day'
  return `they last about ${days} ${days === 1 ? 'day' : 'days'}`
}
